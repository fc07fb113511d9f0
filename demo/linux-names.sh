#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names: programs that know what they do run on Debian's Linux - threads,
# fork, exec, dlopen, two programs with one library, processes that end and
# others in their place - and the report of the trace has to say the same of
# each function of each thread. The guest is asked nothing: objects are found by
# their bytes, tasks where the kernel's BTF says. Speaks TAP.
set -euo pipefail
. "$(dirname "$0")/../scripts/lib.sh"
. "$(dirname "$0")/lib.sh"

number=0 failed=0
result() { # STATUS TEXT
    number=$((number + 1))
    [ "$1" = ok ] || failed=1
    echo "$1 $number - $2"
}
passes() { # TEXT COMMAND...
    local text=$1
    shift
    if "$@"; then result ok "$text"; else result 'not ok' "$text"; fi
}

out=$built/check/names
rm -rf "$out"
mkdir -p "$out"/root/{bin,lib}
demo/make-guest || { echo "Bail out! the guest cannot be made"; exit 1; }

cc=riscv64-linux-gnu-gcc
libs=$(dirname "$($cc -print-file-name=libc.so.6)")
build_programs() {
    local flags=(-O1 -g -fno-ipa-icf -fno-ipa-cp -fno-optimize-sibling-calls)
    $cc "${flags[@]}" -shared -fPIC -Wl,-soname,libself.so \
        -o "$out/root/lib/libself.so" \
        demo/names/libself.c
    $cc "${flags[@]}" -shared -fPIC -o "$out/root/lib/plugin.so" \
        demo/names/plugin.c
    $cc "${flags[@]}" -pie -fPIE -o "$out/root/bin/self-one" \
        demo/names/self.c "$out/root/lib/libself.so" -lpthread -ldl
    $cc "${flags[@]}" -pie -fPIE -DPROGRAM='"self-two"' \
        -o "$out/root/bin/self-two" \
        demo/names/self.c "$out/root/lib/libself.so" -lpthread -ldl
    cp "$libs"/libc.so.6 "$libs"/ld-linux-riscv64-lp64d.so.1 "$out/root/lib/"
    cat > "$out/root/workload" <<'SH'
#!/bin/sh
i=0
until [ -b /dev/vda ]; do i=$((i + 1)); [ $i -lt 100 ]; sleep 0.1; done
dd if=/dev/vda of=/dev/null bs=64k count=16 2>/dev/null
export LD_LIBRARY_PATH=/lib
self-one &
self-two /bin/self-one
wait
SH
    chmod 755 "$out/root/workload"
    (cd "$out/root" && find . | sort |
        cpio --quiet --reproducible -o -H newc -R 0:0) > "$out/more"
    cat "$built/guest/initrd" "$out/more" > "$out/initrd"
}
passes "programs are built" build_programs

tasks=$("$etrace" guest-info "$built/guest/Image")
qemu_args "$out" 2 1 traced
command=("${command[@]//trace-sideband=sb/trace-sideband=sb,trace-guest-info=$tasks}")
command=("${command[@]//$built\/guest\/initrd/$out/initrd}")
listen_args "$out" "$out/trace.bin" "$out/sideband.bin"
passes "Linux runs them" boot "$out" 600

report() { # OPTIONS
    timeout --foreground 600 "$etrace" report --strict \
        --trace="$out/trace.bin" --sideband="$out/sideband.bin" \
        --sysroot="$built/guest/sysroot" --sysroot="$out/root" \
        --percent-limit=0 "$@"
}
passes "by thread, object and function" \
    report --sort=tid,dso,sym --output="$out/functions"
passes "by object" report --sort=dso --output="$out/objects"
head -12 "$out/objects" | sed 's/^/# /'

# What each of them said of itself, and the report of it
tr -d '\r' < "$out/console.log" | sed -n 's/^self: \([0-9]\)/\1/p' |
    sort > "$out/self"
awk '$1 ~ /%$/ && $4 ~ /^[0-9]+:self-/ {
    n = split($4, who, ":")
    print who[1], who[2], $5, $6, $3
}' "$out/functions" | sort > "$out/said"
passes "there are processes and threads to compare" \
    [ "$(wc -l < "$out/self")" -ge 60 ]
missing=$(comm -23 "$out/self" "$out/said")
if [ -n "$missing" ]; then
    echo "# not in the report: $(head -5 <<< "$missing")"
fi
passes "each function was called as often as its thread says" \
    [ -z "$missing" ]
# ... and by no other thread
others=$(awk '$4 ~ /^(work_|library_work|plugin_work)/' "$out/said" |
         sort | comm -13 "$out/self" -)
if [ -n "$others" ]; then
    echo "# only in the report: $(head -5 <<< "$others")"
fi
passes "... and no thread called any other of them" [ -z "$others" ]

share() { # OBJECT
    awk -v name="$1" '$3 == name { sub("%", "", $1); print $1; found = 1 }
                      END { if (!found) print 0 }' "$out/objects"
}
passes "the module that reads the disk has a name" \
    [ "$(share virtio_blk.ko)" != 0 ]
unknown=$(share '[unknown]')
echo "# unknown: $unknown %"
passes "less than 1 % is unknown" \
    awk -v x="$unknown" 'BEGIN { exit !(x < 1) }'

echo "1..$number"
[ $failed != 0 ] || rm -rf "$out"
exit $failed
