# SPDX-License-Identifier: GPL-2.0-or-later
#
# What tests share whose guest is Debian's Linux, made of the same parts as that
# of `make demo`. To be sourced by bash scripts, with the name of $OUT below
# build/check, and $here, where the guest's init is:
#
#     . "$here/../linux.sh" rvtrace-linux-example
#
# Files of the test's own go below $OUT/root; then linux_initrd.

top=$(cd "$here/../../../.." && pwd -P)
# shellcheck source=../../../tests-tcg-riscv64/guests/guest.sh
. "$top/tests-tcg-riscv64/guests/guest.sh" "$1"

have_qemu
"$top/demo/make-guest" >&2 || bail "the guest cannot be made"
guest=$build/guest
rm -rf "$OUT/root"
mkdir -p "$OUT/root/bin"
install -m 755 "$here/init" "$OUT/root/init"
install -m 755 "$top/guest-linux/rvtrace-guest" "$OUT/root/bin/"

# kernel_modules FOLDER: unpack the modules of the kernel that is booted, there.
kernel_modules() {
    local kernel
    kernel=$("$top/scripts/fetch" binary trixie \
             "$(cat "$guest/kernel-package")") ||
        bail "no package of the kernel: if Debian has a newer one by now," \
            "make distclean and make demo get that one"
    dpkg-deb --fsys-tarfile "$kernel" |
        tar -x -C "$1" --wildcards '*.ko.xz' ||
        bail "the kernel's modules cannot be unpacked"
}

# linux_initrd [FIRST]: $OUT/initrd; a second archive replaces files of the
# first one.
linux_initrd() {
    (
        cat "${1:-$guest/initrd}"
        cd "$OUT/root" && find . | cpio --quiet -o -H newc -R 0:0
    ) > "$OUT/initrd"
}
