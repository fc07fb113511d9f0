#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rvtrace run: QEMU, traced, and what it ran, by one command. Speaks TAP.
#
# run.sh [PATTERN]        only tests whose name matches the glob pattern
#
# QEMU, RVTRACE, OUT: as for tests-tcg-riscv64/run.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../../../../tests-tcg-riscv64" && pwd)
# shellcheck source=../../../../tests-tcg-riscv64/guests/guest.sh
. "$tests/guests/guest.sh" rvtrace-run-command
pattern=${1:-*}

have_qemu
make_guest guest "$guest_dir/dhry.c" rv64gc
make_guest lines "$guest_dir/dhry.c" rv64gc -g -DROUNDS=20
make_guest endless "$here/endless.S" rv64gc
guest="-m 128M -display none -monitor none -bios none -kernel $OUT/guest.elf"
endless=${guest/guest.elf/endless.elf}
export TMPDIR=$OUT/tmp
rm -rf "$TMPDIR"
mkdir -p "$TMPDIR"

# rv OPTION... -- QEMU-OPTION...: its exit status, in $dir; what it wrote is in
# $dir/stdout and $dir/log
rv() {
    (cd "$dir" && exec timeout 600 "$RVTRACE" run "$@") </dev/null \
        >"$dir/stdout" 2>"$dir/log"
}

# expect STATUS COMMAND...: why not, if not
expect() {
    local want=$1 got
    shift
    "$@"
    got=$?
    [ $got = "$want" ] || echo "exit status $got, not $want"
}

# says PATTERN: in $dir/log
says() {
    grep -q -e "$1" "$dir/log" || echo "no message '$1'"
}

clean() {
    [ -z "$(ls -A "$TMPDIR")" ] || echo "temporary files are left"
}

if begin "report and stat are of the same instructions"; then
    # shellcheck disable=SC2086  # words
    reason=$(expect 0 rv --keep "$dir/kept" --view report \
        --view "stat=$dir/stat" --format tsv -- "$QEMU" -M virt \
        -serial "file:$dir/uart" $guest)
    own=$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
                      { n += $col["own"] } END { print n }' "$dir/stdout")
    retired=$("$RVTRACE" decode --trace "$dir/kept/trace" \
        --sideband "$dir/kept/sideband" --hart 0 --emit pc | wc -l)
    [ "$retired" -gt 10000 ] || reason+="; $retired instructions decoded"
    [ "$own" = "$retired" ] || reason+="; report $own, decode $retired"
    grep -qw "$retired" "$dir/stat" || reason+="; stat has not $retired"
    grep -qw main "$dir/stdout" || reason+="; no names of -kernel"
    finish "$reason$(clean)"
fi

if begin "no options: a folder, which others take"; then
    rm -rf "$dir"/rvtrace.out*
    # shellcheck disable=SC2086
    reason=$(expect 0 rv -- "$QEMU" -M virt -serial null $guest)
    grep -qw main "$dir/stdout" || reason+="; no functions"
    retired=$(cd "$dir" && "$RVTRACE" decode --hart 0 --emit pc | wc -l)
    [ "$(head -n 1 "$dir/stdout" | cut -d ' ' -f 1 | tr -d ,)" = "$retired" ] ||
        reason+="; not $retired instructions"
    grep -q 'instructions of 1 hart, [0-9.e-]* s of virtual time' \
        "$dir/stdout" || reason+="; no time"
    grep -q main "$dir/rvtrace.out/report.html" || reason+="; no report.html"
    (cd "$dir" && "$RVTRACE" report >"$dir/report" 2>>"$dir/log") ||
        reason+="; report: status $?"
    grep -qw main "$dir/report" || reason+="; no names without an option"
    reason+=$(expect 2 rv -- "$QEMU" -M virt -no-such-option)
    reason+=$(says 'QEMU ended with exit status 1 and traced nothing')
    [ "$(cd "$dir" && echo rvtrace.out*)" = rvtrace.out ] ||
        reason+="; a folder is left"
    finish "$reason$(clean)"
fi

# page: the page of a folder is what the view writes of it, as are the ten lines
page() {
    (cd "$dir" && "$RVTRACE" html -o again.html && "$RVTRACE" summary >again) \
        >>"$dir/log" 2>&1 || echo "; html or summary of the folder: status $?"
    cmp -s "$dir/again.html" "$dir/rvtrace.out/report.html" ||
        echo "; another page"
    cmp -s -n "$(stat -c %s "$dir/again")" "$dir/again" "$dir/stdout" ||
        echo "; other lines"
}

if begin "no options: in one process and in two"; then
    reason=
    for jobs in 1 2 4; do
        rm -rf "$dir"/rvtrace.out*
        # shellcheck disable=SC2086
        reason+=$(expect 0 rv -j $jobs -- "$QEMU" -M virt -serial null $guest)
        reason+=$(page)
    done
    # A page that cannot be written is said so once.
    rm -rf "$dir"/rvtrace.out*
    mkdir -p "$dir/rvtrace.out/report.html"
    for jobs in 1 2; do
        rm -f "$dir"/rvtrace.out/*[!l]
        # shellcheck disable=SC2086
        reason+=$(expect 2 rv --out rvtrace.out -j $jobs -- "$QEMU" -M virt \
            -serial null $guest)
        [ "$(grep -c 'report.html: Is a directory' "$dir/log")" = 1 ] ||
            reason+="; -j $jobs: no error, or two"
    done
    rmdir "$dir/rvtrace.out/report.html"
    finish "$reason$(clean)"
fi

if begin "a firmware whose trap handler takes exceptions"; then
    rm -rf "$dir"/rvtrace.out*
    "${CROSS:-riscv64-linux-gnu-}gcc" -nostdlib -static -Wl,--build-id=none \
        -Ttext=0x80000000 -o "$dir/fw" "$here/trap-loop.S" >>"$dir/log" 2>&1
    (cd "$dir" && "$RVTRACE" run -- "$QEMU" -M virt -display none -monitor \
        none -serial null -bios none -kernel fw </dev/null >stdout 2>log) &
    pid=$!
    for ((i = 0; i < 1200; i++)); do
        [ -s "$dir/rvtrace.out/trace" ] && break
        sleep 0.1
    done
    pkill -TERM -P $pid
    wait $pid || reason="status $?"
    epc=$("${CROSS:-riscv64-linux-gnu-}nm" "$dir/fw" |
        awk '$3 == "faults" { sub(/^0*/, "", $1); print $1 }')
    reason+=$(says "hart 0 is in an exception loop .*cause 7 .* at 0x$epc, ")
    finish "$reason$(clean)"
fi

if begin "QEMU fails behind its trace"; then
    # shellcheck disable=SC2086
    reason=$(expect 3 rv --view report -- "$here/status-7" "$QEMU" -M virt \
        -serial null $guest)
    reason+=$(says 'QEMU ended with exit status 7')
    grep -qw main "$dir/stdout" || reason+="; no report"
    finish "$reason$(clean)"
fi

# named FILE: the firmware's functions have names, and nothing is said of files
named() {
    grep -qw main "$dir/stdout" || echo "no names of $1"
    ! grep -q 'no known file' "$dir/log" || echo "$1 is not found"
}

# firmware FOLDER NAME: the guest as a flat file FOLDER/NAME.bin
firmware() {
    mkdir -p "$1"
    "${CROSS:-riscv64-linux-gnu-}objcopy" -O binary "$OUT/guest.elf" \
        "$1/$2.bin"
}

bare=${guest/-bios none -kernel $OUT\/guest.elf/-serial null}

if begin "the firmware's ELF file, beside it and where the demo has it"; then
    firmware "$dir/beside" fw
    # shellcheck disable=SC2086
    reason=$(expect 0 rv --view report -- "$QEMU" -M virt $bare \
        -bios "$dir/beside/fw.bin")
    reason+=$(says '% of the instructions ran in M-mode .*no known file')
    grep -qF '[firmware]' "$dir/stdout" || reason+="; M-mode has another name"
    cp "$OUT/guest.elf" "$dir/beside/fw.elf"
    firmware "$dir/demo" fw
    mkdir -p "$dir/demo/sysroot/boot" "$dir/mine"
    cp "$OUT/guest.elf" "$dir/demo/sysroot/boot/fw.elf"
    ln -s demo/fw.bin "$dir/linked.bin"
    for bios in beside/fw.bin demo/fw.bin linked.bin; do
        # shellcheck disable=SC2086
        reason+=$(expect 0 rv --view report --sysroot "$dir/mine" -- "$QEMU" \
            -M virt $bare -bios "$dir/$bios")
        reason+=$(named $bios)
    done
    finish "$reason$(clean)"
fi

if begin "the ELF file of QEMU's own firmware"; then
    # a QEMU that is installed elsewhere, with this firmware
    data=$dir/usr/share/qemu
    name=opensbi-riscv64-generic-fw_dynamic
    firmware "$data" $name
    mkdir -p "$dir/usr/bin" "$dir/mine"
    printf '#!/bin/sh\nexec "%s" -bios "%s" "$@"\n' "$QEMU" \
        "$data/$name.bin" >"$dir/usr/bin/qemu"
    chmod 755 "$dir/usr/bin/qemu"
    # shellcheck disable=SC2086
    rm -rf "$dir/kept"
    reason=$(expect 0 rv --keep "$dir/kept" --view report -- \
        "$dir/usr/bin/qemu" -M virt $bare)
    reason+=$(says 'M-mode .*no known file')
    cp "$OUT/guest.elf" "$data/$name.elf"
    # shellcheck disable=SC2086
    reason+=$(expect 0 rv --view report --sysroot "$dir/mine" -- \
        "$dir/usr/bin/qemu" -M virt $bare)
    reason+=$(named "$name")
    # ... and of that which rvtrace is installed with
    cp "$RVTRACE" "$dir/usr/bin/rvtrace"
    "$dir/usr/bin/rvtrace" report --trace "$dir/kept/trace" --sideband \
        "$dir/kept/sideband" --sysroot "$dir/mine" \
        >"$dir/stdout" 2>"$dir/log" ||
        reason+="; report: status $?"
    reason+=$(named "$name")
    finish "$reason$(clean)"
fi

# interrupted SIGNAL OPTION...: sent to rvtrace when the guest runs
interrupted() {
    local signal=$1 pid i
    shift
    # bash would have rvtrace ignore ^C: it is in the background
    # shellcheck disable=SC2086
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$RVTRACE" run --keep "$dir/kept" "$@" -- \
        "$QEMU" -M virt -serial "file:$dir/uart" $endless \
        </dev/null >"$dir/stdout" 2>"$dir/log" &
    pid=$!
    for ((i = 0; i < 1200; i++)); do
        [ -s "$dir/uart" ] && break
        sleep 0.1
    done
    [ -s "$dir/uart" ] || echo "the guest does not run"
    kill "-$signal" $pid
    for ((i = 0; i < 1200; i++)); do
        kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    kill -9 $pid 2>/dev/null && echo "it goes on"
    wait $pid
}

for signal in INT TERM; do
    if begin "SIG$signal ends QEMU, not the report"; then
        reason=$(expect 0 interrupted $signal)
        grep -qw around "$dir/stdout" || reason+="; no report"
        "$RVTRACE" stat --trace "$dir/kept/trace" \
            --sideband "$dir/kept/sideband" --strict >>"$dir/log" 2>&1 ||
            reason+="; losses"
        finish "$reason"
    fi
done

# own FILE: instructions of all rows of a report as tsv
own() {
    awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
                { n += $col["own"] } END { print n }' "$1"
}

if begin "a part of what ran"; then
    # shellcheck disable=SC2086
    reason=$(expect 0 rv --keep "$dir/kept" --view "report=$dir/part" \
        --from 5k --to 9k --format tsv -- "$QEMU" -M virt -serial null $guest)
    part=$(own "$dir/part")
    [ "$part" = 4000 ] || reason+="; $part instructions, not 4000"
    "$RVTRACE" report --trace "$dir/kept/trace" --sideband \
        "$dir/kept/sideband" --from 5k --to 9k --format tsv \
        --elf "$OUT/guest.elf" >"$dir/again"
    # names come from the same file, by its bytes or by its place
    cmp <(cut -f 1 "$dir/part" | sort) <(cut -f 1 "$dir/again" | sort) \
        >>"$dir/log" 2>&1 || reason+="; report says something else"
    # shellcheck disable=SC2086
    reason+=$(expect 0 rv --view report --process nobody -- "$QEMU" -M virt \
        -serial null $guest)
    reason+=$(says 'none of [0-9]* instructions is selected')
    finish "$reason$(clean)"
fi

# total FILE: instructions and packets, by the last lines of live
total() {
    local insns='([0-9]+) instructions' packets='([0-9]+) packets'
    sed -nE "s/^# total: .* s, $insns.* of $packets.*/\\1 \\2/p" "$1"
}

if begin "live, beside the run"; then
    # on a busy machine it may leave out what it has no time for, and says so
    for _ in 1 2 3 4 5; do
        rm -rf "$dir/kept"
        # shellcheck disable=SC2086
        reason=$(expect 0 rv --keep "$dir/kept" --view "live=$dir/live" \
            --interval 0.1 --view "stat=$dir/stat" -- "$QEMU" -M virt \
            -serial null $guest)
        grep -q '^# total: .*; shows [0-9]* % of' "$dir/live" || break
    done
    want=$(awk '$1 == "instructions" { n = $2 } $1 == "packets" { p = $2 }
                END { print n, p }' "$dir/stat")
    [ "$(total "$dir/live")" = "$want" ] ||
        reason+="; live: $(total "$dir/live"), stat: $want"
    grep -qw main "$dir/live" || reason+="; no names of -kernel"
    # alone, to where the guest does not write
    # shellcheck disable=SC2086
    reason+=$(expect 0 rv --view live -- "$QEMU" -M virt -serial stdio $guest)
    reason+=$(says '^# total: ')
    ! grep -q '^#' "$dir/stdout" || reason+="; live among what the guest says"
    finish "$reason$(clean)"
fi

if begin "live, and QEMU is interrupted"; then
    reason=$(expect 0 interrupted INT --view "live=$dir/live" --view report)
    [ -n "$(total "$dir/live")" ] || reason+="; no total"
    grep -qw around "$dir/stdout" || reason+="; no report"
    finish "$reason"
fi

if begin "QEMU is missing"; then
    reason=$(expect 2 rv -- "$dir/no-such-qemu" -M virt)
    reason+=$(says "cannot start QEMU: .*no-such-qemu")
    finish "$reason$(clean)"
fi

if begin "QEMU is no program"; then
    echo text >"$dir/text"
    chmod 644 "$dir/text"
    reason=$(expect 2 rv -- "$dir/text" -M virt)
    reason+=$(says "cannot start QEMU")
    finish "$reason$(clean)"
fi

if begin "the user's own trace options are left alone"; then
    # shellcheck disable=SC2086
    reason=$(expect 0 rv --view "stat=$dir/stat" -- "$QEMU" \
        --machine "virt,trace=on,trace-chardev=mine,trace-modes=baseline" \
        -chardev "file,id=mine,path=$dir/a,,b" -serial null $guest)
    [ -s "$dir/a,b" ] || reason+="; no trace where it was to be"
    grep -q '^stream' "$dir/stat" || reason+="; not read from there"
    # behind several -M
    # shellcheck disable=SC2086
    reason+=$(expect 0 rv --view report -- "$QEMU" -M virt -M aia=none \
        -serial null $guest)
    finish "$reason$(clean)"
fi

# debug COMMANDS OPTION... -- QEMU-OPTION...: the same with --debug, and gdb has
# these commands
debug() {
    local commands=$1
    shift
    (cd "$dir" && exec timeout 600 "$RVTRACE" run --debug "$@") \
        <<<"$commands" >"$dir/stdout" 2>"$dir/log"
}

# shows PATTERN...: in $dir/stdout
shows() {
    local pattern
    for pattern; do
        grep -q -e "$pattern" "$dir/stdout" || echo "gdb has no '$pattern'"
    done
}

last='tbreak is_sorted
reverse-continue
bt
print list->next->number
finish
watch seed
reverse-continue
kill'
lines=${guest/guest.elf/lines.elf}
if ! command -v gdb-multiarch >/dev/null; then
    skip "a debugger" "gdb-multiarch is not installed"
elif begin "a debugger where the machine has ended"; then
    rm -rf "$dir"/rvtrace.out*
    # shellcheck disable=SC2086
    reason=$(expect 0 debug "$last" -- "$QEMU" -M virt -serial null $lines)
    reason+=$(says 'QEMU ended with exit status')
    reason+=$(shows 'breakpoint 1, is_sorted (list=0x8' '^(gdb) #0 .*is_sorted' \
        '^#1 .* main ' '^(gdb) .1 = [0-9]' 'Value returned is .* = 1$' \
        'watchpoint 2: seed' 'in next_random')
    retired=$(cd "$dir" && "$RVTRACE" decode --hart 0 --emit pc | wc -l)
    reason+=$(says "hart 0: $retired instructions")
    # shellcheck disable=SC2086
    reason+=$(expect 0 debug "info registers sp" --out "$dir/a folder" -- \
        "$QEMU" -M virt -serial null $lines \
        -global riscv-trace-encoder.data=off)
    reason+=$(shows 'sp *<unavailable>')
    finish "$reason$(clean)"
fi

if begin "a debugger when Ctrl-C ends the machine"; then
    rm -rf "$dir"/rvtrace.out*
    reason=
    echo bt >"$dir/in"
    # shellcheck disable=SC2086
    (cd "$dir" &&
        exec "$RVTRACE" run --debug -- "$QEMU" -M virt -serial null \
            $endless) <"$dir/in" >"$dir/stdout" 2>"$dir/log" &
    pid=$!
    for ((i = 0; i < 1200; i++)); do
        [ -s "$dir/rvtrace.out/trace" ] && break
        sleep 0.1
    done
    kill -INT $pid
    wait $pid || reason="status $?"
    reason+=$(shows '^(gdb) #0 ')
    finish "$reason$(clean)"
fi

if begin "no debugger"; then
    rm -rf "$dir"/rvtrace.out*
    # shellcheck disable=SC2086
    reason=$(GDB="/no/gdb -nx" expect 2 debug '' -- "$QEMU" -M virt \
        -serial null $lines)
    reason+=$(says 'cannot start /no/gdb: No such file')
    reason+=$(says "^  gdb-multiarch -q .*gdbserver .* rvtrace.out'")
    [ -s "$dir/rvtrace.out/trace" ] || reason+="; no trace is kept"
    cat >"$dir/words" <<'END'
#!/bin/sh
printf '%s\n' "$@"
END
    chmod +x "$dir/words"
    # shellcheck disable=SC2086
    reason+=$(GDB="'$dir/words' -x mine" expect 0 debug '' -- "$QEMU" -M virt \
        -serial null $lines)
    reason+=$(shows '^-x$' '^mine$' '^target remote | .*gdbserver' \
        "$OUT/lines.elf")
    # shellcheck disable=SC2086
    reason+=$(GDB="'" expect 2 debug '' -- "$QEMU" -M virt -serial null $lines)
    reason+=$(says '^  gdb-multiarch -q ')
    finish "$reason$(clean)"
fi

user=${QEMU_USER:-$build/qemu-riscv64}
libraries=${CROSS:-riscv64-linux-gnu-}
libraries=/usr/${libraries%-}
if [ -e "$user" ] && [ -d "$libraries/lib" ] &&
    begin "a debugger, of a program that was moved"; then
    rm -rf "$dir"/rvtrace.out*
    "${CROSS:-riscv64-linux-gnu-}gcc" -g -O1 -fPIE -pie -o "$dir/crash" \
        "$here/crash.c" >>"$dir/log" 2>&1
    reason=$(expect 0 debug $'bt\nbreak check\nreverse-continue' -- "$user" \
        -L "$libraries" ./crash)
    reason+=$(shows '^(gdb) #0 .* sum ' '^#1 .* check ' '^#2 .* main ' \
        '^Breakpoint 1, .*check ')
    finish "$reason$(clean)"
fi

if [ -e "$user" ] && begin "a debugger where a program has crashed"; then
    rm -rf "$dir"/rvtrace.out*
    "${CROSS:-riscv64-linux-gnu-}gcc" -g -O1 -static -o "$dir/crash" \
        "$here/crash.c" >>"$dir/log" 2>&1
    # 7 after the first call, and one more by the call that crashes
    reason=$(expect 0 debug \
        $'bt\nprint total\nwatch total\nreverse-continue\nreverse-continue' -- \
        "$user" ./crash)
    reason+=$(says 'QEMU was ended by signal 11')
    reason+=$(shows '^(gdb) #0 .* sum (list=0x0, n=3)' '^#1 .* check (list=0x0)' \
        '^#2 .* main ' '\$1 = 8' '^Old value = 8' '^New value = 7' \
        '^Old value = 7' '^New value = 4')
    rm -rf "$dir"/rvtrace.out*
    reason+=$(expect 0 debug $'bt\nwatch total' -- "$user" \
        -cpu max,etrace-data=off ./crash)
    reason+=$(says 'the trace has no data')
    finish "$reason$(clean)"
fi

# aborted ABORTS PATTERN...: what gdb shows of crash.c
aborted() {
    rm -rf "$dir"/rvtrace.out*
    "${CROSS:-riscv64-linux-gnu-}gcc" -g -O1 -static -DABORTS="$1" \
        -o "$dir/crash" "$here/crash.c" >>"$dir/log" 2>&1
    shift
    expect 0 debug $'bt\nprint total\nset rvtrace-frames off\nprint 1' -- \
        "$user" ./crash
    says 'QEMU was ended by signal 6'
    shows "$@" '^#[1-9] .* abort ' '^#[1-9] .* main '
}
if [ -e "$user" ] && begin "a debugger where a program has called abort()"; then
    # The kernel has written nothing where callers and variables are.
    finish "$(aborted 1 '^.* = 7$')$(clean)"
fi
if [ -e "$user" ] && begin "a debugger behind a call that nobody knows"; then
    finish "$(aborted 2 '^Callers are those that rvtrace knows of')$(clean)"
fi

if begin "the disk is full"; then
    small='mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"'
    if unshare -rm sh -c "$small" "$dir" true 2>/dev/null; then
        # shellcheck disable=SC2086
        reason=$(expect 2 unshare -rm sh -c "$small" "$TMPDIR" timeout 60 \
            "$RVTRACE" run --view report -- "$QEMU" -M virt -serial null \
            $guest \
            </dev/null 2>"$dir/log" >"$dir/stdout")
        reason+=$(says 'no space left in .*choose another folder with --keep')
        grep -qw main "$dir/stdout" || reason+="; no report"
        finish "$reason"
    else
        skip "$name" "no file system can be mounted here"
    fi
fi

# wrong NAME PATTERN OPTION...: the line is refused, with a message like that
wrong() {
    local reason message=$2
    begin "$1" || return
    shift 2
    reason=$(expect 2 rv "$@")
    reason+=$(says "$message")
    finish "$reason$(clean)"
}
wrong "trace=off" 'leave trace=off out' -- "$QEMU" -M virt,trace=off
wrong "a trace that goes to a socket" 'leave trace-chardev out' -- "$QEMU" \
    -M virt,trace-chardev=x -chardev socket,id=x,path=/x
wrong "a device's that does" 'leave chardev out' -- "$QEMU" -M spike \
    -device riscv-trace,chardev=x -chardev socket,id=x,path=/x
wrong "-daemonize" 'leave it out' -- "$QEMU" -M virt -daemonize
wrong "no QEMU" 'which QEMU' --view report
wrong "without --" 'leave trace=off out' "$QEMU" -M virt,trace=off
wrong "no such view" '--view nonsense: not KIND' --view nonsense -- "$QEMU" \
    -M virt
wrong "--debug with a view" '--debug: leave --view out' --debug --view report \
    -- "$QEMU" -M virt
wrong "verify without truth" 'give --truth' --view verify -- "$QEMU" -M virt
wrong "live twice" '--view live is there twice' --view live --view live=x \
    -- "$QEMU" -M virt
wrong "live without a file of ours" '--view live: leave trace-chardev' \
    --view live -- "$QEMU" -M virt,trace-chardev=x,trace-sideband=y \
    -chardev "file,id=x,path=$OUT/x" -chardev "file,id=y,path=$OUT/y"
wrong "no interval" '--interval: seconds' --interval 0 --view live -- "$QEMU" \
    -M virt
wrong "no such part" '--from' --from x -- "$QEMU" -M virt
wrong "bad option of a view" '--sort x: must be' --sort x -- "$QEMU" -M virt
wrong "--keep below a file" 'cannot make the folder' --keep "$OUT/guest.elf/x" \
    -- "$QEMU" -M virt

plan
