# SPDX-License-Identifier: GPL-2.0-or-later
#
# What tests share whose guest is Debian's Linux, made of the same parts as that
# of `make demo`. To be sourced by bash scripts in place of guest.sh, with the
# name of $OUT below build/check, and $here, where the guest's init is:
#
#     . "$here/../guests/linux.sh" tcg-example-linux
#
# Files of the test's own go below $OUT/root; then linux_initrd. A QEMU tree
# does not have what fetches the parts: skipped there.

top=$(cd "$here/../.." && pwd -P)
if [ ! -x "$top/demo/make-guest" ]; then
    echo "1..0 # SKIP the guest is made by demo/make-guest"
    exit 0
fi
# shellcheck source=guest.sh
. "$here/../guests/guest.sh" "$1"

need "$QEMU" "$RVTRACE"
"$top/demo/make-guest" || bail "the guest cannot be made"
guest=${RVTRACE_BUILD:-$top/build}/guest
rm -rf "$OUT/root"
mkdir -p "$OUT/root/bin"
install -m 755 "$here/init" "$OUT/root/init"
install -m 755 "$top/guest-linux/rvtrace-guest" "$OUT/root/bin/"

# linux_initrd [FIRST]: $OUT/initrd; a second archive replaces files of the
# first one.
linux_initrd() {
    (
        cat "${1:-$guest/initrd}"
        cd "$OUT/root" && find . | cpio --quiet -o -H newc -R 0:0
    ) > "$OUT/initrd"
}
