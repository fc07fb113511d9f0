#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The command line of qemu-etrace: test-cli.sh QEMU-ETRACE SYNTH-WRITE
# Every check prints a TAP line; the script fails if one of them does.
set -u
tool=$1
synth=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

# check NAME STATUS COMMAND...: the command must end with that status
check() {
    local name=$1 want=$2 status
    shift 2
    "$@" > "$dir/out" 2> "$dir/err"
    status=$?
    n=$((n + 1))
    if [ "$status" = "$want" ]; then
        echo "ok $n $name"
    else
        echo "not ok $n $name: exit status $status, not $want"
        sed 's/^/# /' "$dir/out" "$dir/err" | head -20
        failed=1
    fi
}

# says NAME out|err PATTERN: what the last command wrote
says() {
    n=$((n + 1))
    if grep -q -e "$3" "$dir/$2"; then
        echo "ok $n $1"
    else
        echo "not ok $n $1: no '$3' in"
        sed 's/^/# /' "$dir/$2" | head -20
        failed=1
    fi
}

one=$dir/one two=$dir/two
mkdir "$one" "$two"
"$synth" 1 1 20000 "$one"
"$synth" 2 2 20000 "$two"
files1="--trace $one/trace --sideband $one/sideband"
files2="--trace $two/trace --sideband $two/sideband"

check "no command" 2 "$tool"
says "usage" err 'Usage: qemu-etrace'
check "help" 0 "$tool" --help
says "every command is listed" out listen
check "unknown command" 2 "$tool" frobnicate
says "it is named" err "no command 'frobnicate'"
for command in decode verify stat folded flamegraph listen; do
    check "$command --help" 0 "$tool" $command --help
    says "$command explains itself" out -- '--trace'
    check "$command --bogus" 2 "$tool" $command --bogus
    says "$command names it" err bogus
    check "$command without options" 2 "$tool" $command
    says "$command says what is missing" err -- '--trace'
    check "$command with an operand" 2 "$tool" $command --trace x y
    says "$command names that" err "unexpected argument 'y'"
done

check "decode" 0 "$tool" decode $files1 --emit pc --strict
mv "$dir/out" "$dir/decoded"
check "decode gives what was executed" 0 cmp "$dir/decoded" "$one/pcs"
head -n 777 "$one/pcs" > "$dir/head"
"$tool" decode $files1 --emit pc --limit 777 > "$dir/decoded"
check "decode --limit" 0 cmp "$dir/decoded" "$dir/head"
check "decode --limit 0" 0 "$tool" decode $files1 --emit pc --limit 0
check "nothing" 0 test ! -s "$dir/out"
check "decode without --emit" 2 "$tool" decode $files1
check "decode --emit nonsense" 2 "$tool" decode $files1 --emit nonsense
check "decode needs a hart" 2 "$tool" decode $files2 --emit pc
says "and says so" err -- '--hart'
"$tool" decode $files2 --emit pc --hart 0 > "$dir/decoded"
check "decode --hart 0" 0 cmp "$dir/decoded" "$two/pcs"
check "decode --hart 2" 2 "$tool" decode $files2 --emit pc --hart 2
says "there is none" err 'hart 2 is not in the trace'
check "decode to a full disk" 2 \
    sh -c "'$tool' decode $files1 --emit pc > /dev/full"
says "why" err 'No space left'

check "verify" 0 "$tool" verify $files1 --truth "$one/truth"
says "verify says so" out identical
check "verify, two harts" 0 "$tool" verify $files2 --truth "$two/truth"
says "the second one, too" out 'hart 1: .*identical'
check "verify one of them" 0 "$tool" verify $files2 --truth "$two/truth" \
    --hart 1
check "verify without a truth" 2 "$tool" verify $files1
check "verify with another truth" 1 "$tool" verify $files1 \
    --truth "$two/truth"
says "a hart is missing" out 'hart 1: not in the trace: DIFFERENT'
awk 'NR == 3 { $4 = "1" $4; sub(/^.*/, substr($4, 1, 8), $4) } { print }' \
    "$one/truth" > "$dir/truth"
check "verify with a wrong hash" 1 "$tool" verify $files1 --truth "$dir/truth"
says "where" out 'between instructions 1001 and 2000'
sed '/^E/s/E 0 \([0-9]*\)/E 0 9\1/' "$one/truth" > "$dir/truth"
check "verify with a longer truth" 1 "$tool" verify $files1 \
    --truth "$dir/truth"
sed '/^E/d' "$one/truth" > "$dir/truth"
check "verify with a cut off truth" 2 "$tool" verify $files1 \
    --truth "$dir/truth"
says "how it is known" err 'no final line'

# the middle third of the trace is not there
size=$(stat -c %s "$one/trace")
{ head -c $((size / 3)) "$one/trace"
  tail -c $((size / 3)) "$one/trace"; } > "$dir/holed"
holed="--trace $dir/holed --sideband $one/sideband"
check "losses without --strict" 0 "$tool" stat $holed
says "are reported" err 'warning: hart 0: packet [0-9]* at byte [0-9]*:'
check "losses with --strict" 1 "$tool" stat $holed --strict
check "verify fails" 1 "$tool" verify $holed --truth "$one/truth"
says "and counts them" out 'DIFFERENT'

check "stat" 0 "$tool" stat $files2
says "instructions" out "^  instructions  *$(wc -l < "$two/pcs")$"
says "bits" out 'bits per instruction'
says "total" out '^total'
says "packets by format" out 'format 3, start'

check "trace not there" 2 "$tool" stat --trace "$dir/none" \
    --sideband "$one/sideband"
says "named" err "$dir/none"
check "sideband not there" 2 "$tool" stat --trace "$one/trace" \
    --sideband "$dir/none"
check "not a sideband" 2 "$tool" stat --trace "$one/trace" \
    --sideband "$one/trace"
says "not one" err 'not a sideband stream'
check "no program" 2 "$tool" stat --trace "$one/trace"
says "what to give" err -- '--sideband FILE or --elf FILE'
check "no such session" 2 "$tool" stat $files1 --session 7
check "not an ELF file" 2 "$tool" stat --trace "$one/trace" \
    --elf "$one/trace"
check "not for RISC-V" 2 "$tool" stat --trace "$one/trace" --elf "$tool"
says "what it is" err 'not for RISC-V'
check "bias" 2 "$tool" stat --trace "$one/trace" --elf "$tool@nonsense"

check "folded" 0 "$tool" folded $files1
says "stacks" out '^M-mode;.* [0-9]*$'
sum=$(awk '{ sum += $NF } END { print sum }' "$dir/out")
check "every instruction is in it" 0 test "$sum" = "$(wc -l < "$one/pcs")"
check "flamegraph" 0 "$tool" flamegraph $files1 -o "$dir/flame.svg" \
    --title 'a < b'
check "an SVG" 0 grep -q '<svg ' "$dir/flame.svg"
check "its title" 0 grep -q 'a &lt; b' "$dir/flame.svg"
check "flamegraph to a full disk" 2 "$tool" flamegraph $files1 -o /dev/full
check "bad width" 2 "$tool" flamegraph $files1 --width 3
printf 'nonsense\n' > "$dir/kallsyms"
check "bad kallsyms" 2 "$tool" folded $files1 --kallsyms "$dir/kallsyms"

# listen connects to where its peer listens, and the other way round
check "listen: no such address" 2 "$tool" listen --trace nowhere \
    --trace-out "$dir/got"
check "listen: trace without trace-out" 2 "$tool" listen \
    --trace unix:/nowhere
check "listen: timeout" 2 "$tool" listen --trace "unix:$dir/none" \
    --trace-out "$dir/got" --timeout 1
says "who it was" err "unix:$dir/none"
serve() {
    python3 - "$@" <<'PYTHON'
import socket, sys, time
path, file, how = sys.argv[1:]
s = socket.socket(socket.AF_UNIX)
if how == 'server':
    s.bind(path)
    s.listen(1)
    s = s.accept()[0]
else:
    for i in range(100):
        try:
            s.connect(path)
            break
        except OSError:
            time.sleep(0.1)
s.sendall(open(file, 'rb').read())
s.close()
PYTHON
}
serve "$dir/t.sock" "$two/trace" server &
serve "$dir/s.sock" "$two/sideband" client &
check "listen" 0 "$tool" listen --progress \
    --trace "unix:$dir/t.sock" --trace-out "$dir/got.t" \
    --sideband "unix:$dir/s.sock,server" --sideband-out "$dir/got.s"
wait
says "progress" err 'trace: .*closed.*sideband: .*closed'
check "trace collected" 0 cmp "$two/trace" "$dir/got.t"
check "sideband collected" 0 cmp "$two/sideband" "$dir/got.s"
rm -f "$dir/t.sock"
serve "$dir/t.sock" "$two/trace" client &
check "listen: full disk" 2 "$tool" listen \
    --trace "unix:$dir/t.sock,server" --trace-out /dev/full
says "which file" err 'cannot write /dev/full: No space left'
wait

echo "1..$n"
exit $failed
