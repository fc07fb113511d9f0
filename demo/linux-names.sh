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
. "$(dirname "$0")/../tests-tcg-riscv64/harness/tap.sh"


out=$built/check/names
rm -rf "$out"
mkdir -p "$out"/root/{bin,lib}
demo/make-guest || bail "the guest cannot be made"

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
# no warning of the kernel's in the middle of what they say
echo 4 > /proc/sys/kernel/printk
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
    [ "$(share virtio_blk)" != 0 ]
unknown=$(share '[unknown]')
echo "# unknown: $unknown %"
passes "less than 1 % is unknown" \
    awk -v x="$unknown" 'BEGIN { exit !(x < 1) }'

# perf of this machine: the kernel is found by its build-id and never taken for
# this machine's own; threads are those of their processes, and end.
perf_here() {
    (cd "$out/perf" && HOME=$PWD PERF_CONFIG=/dev/null perf "$@")
}
files=(--trace="$out/trace.bin" --sideband="$out/sideband.bin"
       --sysroot="$built/guest/sysroot" --sysroot="$out/root" --period=20011)
perf_files() {
    mkdir -p "$out/perf"
    "$etrace" perf-data "${files[@]}" --output="$out/perf/perf.data"
    "$etrace" script "${files[@]}" --output="$out/perf/ours"
}
passes "samples for perf" perf_files
kernel_symbols() { # of perf's kernel, addresses left out
    perf_here report -i perf.data --stdio --no-children -g none \
        --no-branch-stack --sort=dso,sym > "$out/perf/report" || return 1
    sed -n 's/.*\[kernel.kallsyms\] *\[k\] //p' "$out/perf/report" |
        grep -v ^0x || true
}
takes_no_other_kernel() { [ -z "$(kernel_symbols)" ]; }
finds_kernel() {
    "$etrace" kernel-elf "$built/guest/Image" --output="$out/perf/guest.elf"
    perf_here buildid-cache --add=guest.elf
    [ "$(kernel_symbols | wc -l)" -gt 100 ]
}
# Each frame in virtual memory that we know to be a function of the kernel has perf's name.
same_kernel_functions() {
    perf_here script -i perf.data > "$out/perf/theirs"
    paste <(grep -P '^\t' "$out/perf/ours") \
          <(grep -P '^\t' "$out/perf/theirs") |
        awk '$1 ~ /^ffffffff/ && $3 == "([kernel.kallsyms])" && $2 ~ /\+0x/ {
                 frames++
                 if ($2 != $5) { other++; print "#", $0 }
             }
             END { print "# " frames " frames"; exit !frames || other }'
}
perf_tasks() {
    "$etrace" perf-data "${files[@]}" --period=503 --branches=0 \
        --no-call-chains --process=self-one \
        --output="$out/perf/threads.data" || return 1
    perf_here script -i threads.data --show-task-events |
        grep -o 'PERF_RECORD_\(FORK\|EXIT\)[^ ]*' > "$out/perf/tasks"
    # FORK(PID:TID):(PID:PID), and all that the report has are there
    sed -n 's/.*FORK(\([0-9]*\):\([0-9]*\)):(\1:\1)/\2/p' "$out/perf/tasks" |
        sort > "$out/perf/forks"
    awk '$4 ~ /^[0-9]+:self-one/ { print $4 + 0 }' "$out/functions" |
        sort -u > "$out/perf/threads"
    echo "# $(wc -l < "$out/perf/forks") threads began"
    [ -s "$out/perf/forks" ] || return 1
    [ -z "$(comm -23 "$out/perf/forks" "$out/perf/threads")" ] &&
        grep -q EXIT "$out/perf/tasks"
}
if command -v perf > /dev/null; then
    passes "perf takes no other kernel's names" takes_no_other_kernel
    passes "it finds the guest's kernel by its build-id" finds_kernel
    passes "... whose functions are those that we name" same_kernel_functions
    passes "it knows of threads, and that tasks end" perf_tasks
else
    skip "perf reads them" "perf is not installed"
fi

[ $failed != 0 ] || rm -rf "$out"
plan
