#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The command line of rvtrace: test-cli.sh RVTRACE SYNTH-WRITE
# Every check prints a TAP line; the script fails if one of them does.
set -u
tool=$(realpath -s "$1")
synth=$(realpath "$2")
inputs=$(cd "$(dirname "$0")" && pwd)/inputs.py
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
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

# Without its traces, a test would wait for some that never come.
synthesize() {
    "$synth" "$@" || { echo "Bail out! $synth has failed"; exit 1; }
}

one=$dir/one two=$dir/two
mkdir "$one" "$two"
synthesize 1 1 20000 "$one"
synthesize 2 2 20000 "$two"
files1="--trace $one/trace --sideband $one/sideband"
files2="--trace $two/trace --sideband $two/sideband"

check "no command" 2 "$tool"
says "usage" err 'Usage: rvtrace'
check "help" 0 "$tool" --help
says "every command is listed" out listen
check "unknown command" 2 "$tool" frobnicate
says "it is named" err "no command 'frobnicate'"
for command in decode verify stat summary report annotate folded flamegraph \
    timeline privilege html listen convert perf-data script callgrind pprof \
    speedscope uftrace ctf edges gdbserver calls latency faults switches why-hung; do
    check "$command --help" 0 "$tool" $command --help
    says "$command explains itself" out '--trace'
    check "$command --bogus" 2 "$tool" $command --bogus
    says "$command names it" err bogus
    check "$command without options" 2 "$tool" $command
    says "$command says what is missing" err '--trace'
    check "$command with an operand" 2 "$tool" $command --trace x y
    says "$command names that" err "unexpected argument 'y'"
done
# Two of one name are not refused: the second takes the argument behind that of
# the first, or GLib calls it --more-NAME.
for command in decode run live ctr-sample listen report html script; do
    "$tool" $command --help-all | grep -oE '^  (-., )?--[a-z-]+' |
        grep -o -- '--.*' | sort > "$dir/options"
    check "$command has options, each of them once" 0 \
        sh -c '[ "$(wc -l < "$0")" -gt 5 ] && uniq -d "$0" && ! uniq -d "$0" |
               grep -q . && ! grep -e --more- "$0"' "$dir/options"
done

check "decode" 0 "$tool" decode $files1 --emit pc --strict
mv "$dir/out" "$dir/decoded"
check "decode gives what was executed" 0 cmp "$dir/decoded" "$one/pcs"
head -n 777 "$one/pcs" > "$dir/head"
"$tool" decode $files1 --emit pc --limit 777 > "$dir/decoded"
check "decode --limit" 0 cmp "$dir/decoded" "$dir/head"
check "decode --limit 0" 0 "$tool" decode $files1 --emit pc --limit 0
mv "$dir/out" "$dir/decoded"
check "nothing" 0 test ! -s "$dir/decoded"
check "decode without --emit" 2 "$tool" decode $files1
check "decode --emit nonsense" 2 "$tool" decode $files1 --emit nonsense
for d in one two; do
    check "decode --emit packets, $d" 0 "$tool" decode --trace "$dir/$d/trace" \
        --sideband "$dir/$d/sideband" --emit packets
    mv "$dir/out" "$dir/$d/packets"
    check "encode, $d" 0 "$tool" encode --packets "$dir/$d/packets" \
        --output "$dir/encoded"
    check "is the trace again, $d" 0 cmp "$dir/encoded" "$dir/$d/trace"
done
grep -v src=0 "$two/packets" | grep src= > "$dir/some"
check "decode --emit packets --hart" 0 "$tool" decode $files2 \
    --emit packets --hart 1
mv "$dir/out" "$dir/got"
check "are that hart's" 0 cmp "$dir/got" "$dir/some"
check "decode --emit packets --limit" 0 "$tool" decode $files2 \
    --emit packets --limit 3
lines=$(wc -l < "$dir/out")
check "two params and as many lines" 0 test "$lines" = 5
check "decode --emit packets without a program" 0 "$tool" decode \
    --trace "$two/trace" --emit packets --param src_bits=8
grep -v params "$dir/out" > "$dir/some"
grep -v params "$two/packets" > "$dir/want"
check "gives the same" 0 cmp "$dir/some" "$dir/want"

# What no sideband reports comes out of the text again, too: a source of its
# own, with a support packet, and more idle bytes than a line may have
{ cat "$two/trace"
  printf '%s\n' 'params src=7 src_bits=8' 'inst src=7 format=2 address=0x10' \
      'inst src=7 format=3 subformat=3 ienable=1 ioptions=4' \
      'inst src=7 format=2 address=0x10' | "$tool" encode
  head -c 17000000 /dev/zero; } > "$dir/more"
check "decode --emit packets of an unknown source" 0 "$tool" decode \
    --trace "$dir/more" --sideband "$two/sideband" --emit packets
mv "$dir/out" "$dir/packets"
check "encode it" 0 "$tool" encode --packets "$dir/packets" \
    --output "$dir/encoded"
check "is the trace again" 0 cmp "$dir/encoded" "$dir/more"
check "with --limit" 0 "$tool" decode --trace "$dir/more" \
    --sideband "$two/sideband" --emit packets --limit 10
lines=$(grep -vc params "$dir/out")
check "as many lines" 0 test "$lines" = 10

# encode TEXT: the bytes of these lines, in hexadecimal digits
encode() {
    printf "$1" | "$tool" encode | od -An -v -tx1 | tr -d '[:space:]'
}
# wrong NAME PATTERN TEXT: encode must refuse that, and say so
wrong() {
    printf "$3" > "$dir/in"
    check "encode: $1" 2 "$tool" encode --packets "$dir/in"
    says "and says so" err "$2"
}
check "encode a packet" 0 \
    test "$(encode 'inst format=2 address=0x10')" = 0122
check "encode nulls" 0 test "$(encode 'idle count=3\nalign # x\n\n')" = 00000080
check "encode raw" 0 test "$(encode 'raw bytes=0aff')" = 0aff
check "encode a srcID of 6 bits and a timestamp" 0 test "$(encode \
    'params src=5 src_bits=6 ts_bytes=1\ninst src=5 ts=0xfe format=2\n')" \
    = 8285bf00
check "encode bytes verbatim" 0 \
    test "$(encode 'inst format=2 address=0x10 bytes=022200')" = 022200
wrong "bytes that contradict" 'bytes say: inst format=2 address=0x10' \
    'inst format=2 address=0x12 bytes=022200'
wrong "half a packet" 'not one whole packet' 'inst bytes=0222'
yes x | tr -d '\n' | head -c 2000000 > "$dir/in"
check "encode: a line without end" 2 "$tool" encode --packets "$dir/in"
says "and says so" err 'in:1: longer than'
wrong "NUL" 'in:2: holds a NUL' 'idle\nidle\0 x\n'
wrong "odd digits" 'pairs of hexadecimal digits' 'raw bytes=022'
wrong "line number" 'in:3: .*frobnicate' 'idle\n\nfrobnicate x=1\n'
wrong "unknown field" 'no branch_map in this packet' \
    'inst format=2 branch_map=1'
wrong "field twice" 'address is there twice' 'inst format=2 address=2 address=2'
wrong "no number" 'address=x is not a number' 'inst format=2 address=x'
wrong "no value" "'address' is not NAME=VALUE" 'inst format=2 address'
wrong "too wide" 'privilege=8 does not fit into 3 bits' \
    'inst format=3 subformat=0 privilege=8'
wrong "odd address" 'address is not a multiple of 2' 'inst format=2 address=1'
wrong "reserved value" 'reserved' 'inst format=3 subformat=0 privilege=2'
wrong "no predictor" 'there is no format 0' 'inst format=0 branch_count=1'
wrong "no data trace" 'data_width=0' 'data format=0'
wrong "parameter" 'iaddress_width is 32 or 64' 'params iaddress_width=33'
wrong "name of a parameter" 'not the name of a parameter' 'params x=1'
wrong "timestamp where there are none" 'ts=1 does not fit into 0 bits' \
    'inst ts=1 format=2'

# A program of one instruction, amocas.w, and its failure in the draft 2.1
printf '%s\n' 'params wire_format=2.1-draft data_width=64 daddress_width=64' \
    'inst format=3 subformat=0 branch=1 privilege=3 address=0x1000' \
    'data format=2 subformat=7 size=2 operand=0x12 address=0x3000' \
    | "$tool" encode > "$dir/cas"
"$inputs" elf "$dir/cas.elf" 0x1000:2fa5c528
check "decode a failed cas" 0 "$tool" decode --trace "$dir/cas" --emit data \
    --elf "$dir/cas.elf" --param wire_format=2.1-draft --param data_width=64 \
    --param daddress_width=64
says "by name" out '^1000 casfail 4 3000 - 12$'

check "encode a file that is not there" 2 "$tool" encode --packets "$dir/no"
says "and says so" err 'No such file'

check "params csv" 0 "$tool" params --sideband "$two/sideband" --format csv
says "of riscv-etrace-lib" out '^.itrace.privilege_width_p,3$'
says "its encapsulation" out '^.packet.srcid_bytes_p,1$'
says "its support packet" out '^.sup.ioptions_width_p,5$'
check "params toml" 0 "$tool" params --sideband "$two/sideband" --format toml
says "of the crate" out '^nocontext_p=1$'
check "params scf" 0 "$tool" params --param iaddress_width=32 --format scf
says "of the reference flow" out '^\[Required Attributes\]$'
says "with values" out '^iaddress_width_p=32$'
check "params dscf" 0 "$tool" params --param data_width=64 \
    --param daddress_width=48 --format dscf
says "of its data model" out '^daddress_width_p = 48$'
check "params json" 0 "$tool" params --sideband "$two/sideband" --hart 1 \
    --format json
says "everything" out '"src_id": 1$'
cp "$dir/out" "$dir/json"
check "params json is JSON" 0 python3 -m json.tool "$dir/json"
check "params of a hart that is not there" 2 "$tool" params \
    --sideband "$two/sideband" --hart 7 --format json
check "params that cannot be" 2 "$tool" params --param src_bits=x --format csv
says "which, and what it can be" err \
    '--param src_bits=x: must be a number from 0 to 255'
check "params of nothing" 2 "$tool" params --format json
says "says what is missing" err 'which trace'
check "params in an unknown form" 2 "$tool" params --param src_bits=0 -f xml
check "params: what its reader does not know" 0 "$tool" params \
    --param src_bits=6 --format csv
says "is said" err 'whole bytes of srcID'

# The support packet that the crate reads has no bit for sijump; it takes
# sijump_p for the mode.
sijump="--param src_bits=8 --param src_id=3 --param sijump=1"
support() {
    printf 'params src=3 src_bits=8 sijump=1\n'
    printf 'inst src=3 format=3 subformat=3 ienable=1 ioptions=%s\n' "$@"
}
support 0x20 0x20 | "$tool" encode > "$dir/sijump.on"
support 0 | "$tool" encode > "$dir/sijump.off"
support 0x20 0 | "$tool" encode > "$dir/sijump.both"
check "params toml of a trace with sijump" 0 "$tool" params $sijump \
    --trace "$dir/sijump.on" --format toml
says "has the mode" out '^sijump_p=1$'
cp "$dir/err" "$dir/warnings"
check "without a warning" 1 test -s "$dir/warnings"
check "params toml of a trace without" 0 "$tool" params $sijump \
    --trace "$dir/sijump.off" --format toml
says "does not" out '^sijump_p=0$'
check "params toml of both" 0 "$tool" params $sijump \
    --trace "$dir/sijump.both" --format toml
says "has what comes first" out '^sijump_p=1$'
says "and says so" err 'sequential-jump is switched within the trace'
check "params csv has what is built in" 0 "$tool" params $sijump \
    --trace "$dir/sijump.off" --format csv
says "whatever the mode" out '^.itrace.sijump_p,1$'
check "params json of a trace" 0 "$tool" params $sijump \
    --trace "$dir/sijump.on" --format json
says "has its modes" out '"ioptions": 32,$'
check "params toml without a trace" 0 "$tool" params $sijump --format toml
says "has what is built in" out '^sijump_p=1$'
says "and says so" err 'give --trace'
check "params toml with ioptions" 0 "$tool" params $sijump \
    --param ioptions=0 --format toml
says "has that mode" out '^sijump_p=0$'
check "params of a trace and its sideband" 0 "$tool" params \
    --trace "$two/trace" --sideband "$two/sideband" --hart 1 --format toml
check "params of another hart's trace" 2 "$tool" params --param src_bits=8 \
    --param src_id=4 --trace "$dir/sijump.on" --format toml
says "and says so" err 'no support packet of srcID 4'
check "params of a trace that is not there" 2 "$tool" params \
    --param src_bits=8 --trace "$dir/none" --format toml

convert="$tool convert --trace"
check "convert: harts are not known" 2 $convert "$two/trace" \
    --sideband "$two/sideband" --to raw
says "and says so" err '--split'
check "convert --to raw --split" 0 $convert "$two/trace" \
    --sideband "$two/sideband" --to raw --split --output "$dir/raw"
# the reference flow's header: 0x40 and the length
check "raw: support packet first" 0 \
    test "$(od -An -tx1 -N2 "$dir/raw.1" | tr -d ' ')" = 411f
check "convert --from raw" 0 $convert "$dir/raw.1" --from raw --to encap \
    --hart 1 --param src_bits=8 --output "$dir/back"
check "convert --to encap" 0 $convert "$two/trace" \
    --sideband "$two/sideband" --to encap --hart 1 --output "$dir/hart1"
check "is the same" 0 cmp "$dir/back" "$dir/hart1"
check "convert --to smi" 0 $convert "$two/trace" --sideband "$two/sideband" \
    --to smi --hart-bits 5 --output "$dir/smi"
check "smi: header, hart, payload" 0 \
    test "$(od -An -tx1 -N6 "$dir/smi" | tr -d ' ')" = 41001f41011f
check "convert --from smi" 0 $convert "$dir/smi" --from smi --to encap \
    --hart-bits 5 --param src_bits=8 --output "$dir/back"
check "decodes" 0 "$tool" decode --trace "$dir/back" --emit packets \
    --param src_bits=8
grep -v 'params\|idle\|align' "$dir/out" > "$dir/some"
grep -v 'params\|idle\|align' "$two/packets" > "$dir/want"
check "to the same packets" 0 cmp "$dir/some" "$dir/want"
check "convert --full-length" 0 $convert "$one/trace" \
    --sideband "$one/sideband" --to encap --full-length --output "$dir/full"
check "decodes" 0 "$tool" decode --trace "$dir/full" --emit packets
grep -v 'params\|idle\|align' "$dir/out" | sed 's/ bytes=[0-9a-f]*//' \
    > "$dir/some"
grep -v 'params\|idle\|align' "$one/packets" > "$dir/want"
check "to the same packets" 0 cmp "$dir/some" "$dir/want"
check "convert to nothing" 2 $convert "$one/trace"
says "says what there is" err 'encap, raw or smi'
check "convert --split without a name" 2 $convert "$one/trace" --to raw --split
printf '\101' > "$dir/cut"
check "convert a cut off trace" 0 $convert "$dir/cut" --from raw --to encap
says "and says so" err 'cut off'
printf '\001\037\101\037' > "$dir/type"
check "convert an unknown type" 0 $convert "$dir/type" --from raw --to encap
says "and says so" err 'packets left out: 1;'
rest=$(od -An -tx1 "$dir/out" | tr -d ' ')
check "the rest is there" 0 test "$rest" = 011f

check "decode needs a hart" 2 "$tool" decode $files2 --emit pc
says "and says so" err '--hart'
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
says "what to give" err '--sideband FILE or --elf FILE'
check "no such session" 2 "$tool" stat $files1 --session 7
check "sessions are counted from 1" 2 "$tool" stat $files1 --session 0
says "it says so" err 'counted from 1'
check "more sessions than parts" 2 "$tool" stat $files1 --session 1 --session 1
says "one for each" err 'one for each'

# Parts: of one trace, as their sidebands do not say otherwise
three=$dir/three
mkdir "$three"
synthesize 3 1 20000 "$three"
files3="--trace $three/trace --sideband $three/sideband"
cat "$one/pcs" "$three/pcs" > "$dir/both"
check "decode in parts" 0 "$tool" decode $files1 $files3 --emit pc --strict
mv "$dir/out" "$dir/decoded"
check "one after the other" 0 cmp "$dir/decoded" "$dir/both"
head -n 20100 "$dir/both" > "$dir/head"
"$tool" decode $files1 $files3 --emit pc --limit 20100 > "$dir/decoded"
check "--limit counts in all parts" 0 cmp "$dir/decoded" "$dir/head"
check "decode in parts --emit packets" 0 "$tool" decode $files1 $files3 \
    --emit packets
mv "$dir/out" "$dir/packets"
check "encode parts" 0 "$tool" encode --packets "$dir/packets" \
    --output "$dir/again"
cat "$one/trace" "$three/trace" > "$dir/both.trace"
check "gives both traces" 0 cmp "$dir/again" "$dir/both.trace"
check "verify in parts" 0 "$tool" verify $files1 $files3 \
    --truth "$one/truth" --truth "$three/truth"
says "of both" out " $(wc -l < "$dir/both") retired"
check "truths in the wrong order" 1 "$tool" verify $files1 $files3 \
    --truth "$three/truth" --truth "$one/truth"
check "a truth is missing" 1 "$tool" verify $files1 $files3 \
    --truth "$one/truth"
check "a truth is not there" 2 "$tool" verify $files1 $files3 \
    --truth "$one/truth" --truth "$dir/none"
check "stat in parts" 0 "$tool" stat $files1 $files3
says "of both" out "^  instructions  *$(wc -l < "$dir/both")$"
check "convert parts" 0 "$tool" convert $files1 $files3 --to raw \
    --output "$dir/raw"
"$tool" convert $files1 --to raw > "$dir/raw1"
"$tool" convert $files3 --to raw > "$dir/raw3"
cat "$dir/raw1" "$dir/raw3" > "$dir/raws"
check "one behind the other" 0 cmp "$dir/raw" "$dir/raws"
check "a sideband is missing" 2 "$tool" stat $files1 --trace "$three/trace"
says "what is needed" err 'there are 2 and 1: --trace A --sideband A.sb'
check "other machines" 2 "$tool" stat $files1 $files2
says "why not" err 'not parts of one trace'
head -c 3000 "$one/trace" > "$dir/cut"
"$tool" stat --trace "$dir/cut" --sideband "$one/sideband" $files3 \
    > "$dir/out" 2> "$dir/err"
says "losses name the part" err "$dir/cut: hart 0: packet"

# What can be read only once is as good as a file.
fifo=$dir/fifo
mkfifo "$fifo"
check "stat from pipes" 0 "$tool" stat --trace <(cat "$one/trace") \
    --sideband <(cat "$one/sideband")
says "everything" out "^  instructions  *$(wc -l < "$one/pcs")$"
cat "$one/trace" > "$fifo" &
check "stat from a FIFO" 0 "$tool" stat --trace "$fifo" \
    --sideband "$one/sideband"
says "everything" out "^  instructions  *$(wc -l < "$one/pcs")$"
check "verify from a pipe" 0 "$tool" verify $files1 \
    --truth <(cat "$one/truth")
check "params from a pipe" 0 "$tool" params --format json \
    --sideband <(cat "$one/sideband") --trace <(cat "$one/trace")
check "an ELF file from a pipe" 2 "$tool" folded --trace "$dir/cas" \
    --elf <(cat "$dir/cas.elf")
says "is read twice" err 'has no function symbols'
check "convert from a pipe" 0 "$tool" convert --from raw --to encap \
    --trace <("$tool" convert $files1 --to raw) --output "$dir/got"
check "a folder" 2 "$tool" stat --trace "$dir" --sideband "$one/sideband"
says "is none" err "$dir: is a folder; give a file or a pipe"
check "a device" 2 "$tool" stat --trace "$one/trace" --sideband /dev/zero
says "is none" err "/dev/zero: is a device"
check "no room for a pipe" 2 env TMPDIR="$dir/none" "$tool" stat \
    --trace <(cat "$one/trace") --sideband "$one/sideband"
says "is reported" err 'cannot be copied'
: > "$dir/empty"
check "an empty truth" 2 "$tool" verify $files1 --truth "$dir/empty"
says "is reported" err 'empty: no harts in it'
check "an empty sideband" 2 "$tool" stat --trace "$one/trace" \
    --sideband "$dir/empty"
check "an empty trace" 0 "$tool" stat --trace "$dir/empty" \
    --sideband "$one/sideband"
check "an empty ELF file" 2 "$tool" stat --trace "$one/trace" \
    --elf "$dir/empty"

check "not an ELF file" 2 "$tool" stat --trace "$one/trace" \
    --elf "$one/trace"
check "not for RISC-V" 2 "$tool" stat --trace "$one/trace" --elf "$tool"
says "what it is" err 'not for RISC-V'
check "bias" 2 "$tool" stat --trace "$one/trace" --elf "$tool@nonsense"

check "folded" 0 "$tool" folded $files1 --layers hart,priv
says "stacks" out '^hart 0;M-mode;.* [0-9]*$'
sum=$(awk '{ sum += $NF } END { print sum }' "$dir/out")
check "every instruction is in it" 0 test "$sum" = "$(wc -l < "$one/pcs")"
check "flamegraph" 0 "$tool" flamegraph $files1 -o "$dir/flame.svg" \
    --title 'a < b'
check "an SVG" 0 grep -q '<svg ' "$dir/flame.svg"
check "its title" 0 grep -q 'a &lt; b' "$dir/flame.svg"
check "flamegraph to a full disk" 2 "$tool" flamegraph $files1 -o /dev/full
check "a flame graph upside down" 0 "$tool" flamegraph $files1 --icicle
says "says so" out '<g id="frames" class="icicle">'
check "timeline" 0 "$tool" timeline $files1 -o "$dir/timeline"
check "is not empty" 0 test -s "$dir/timeline"
check "bad duration" 2 "$tool" timeline $files1 --min-duration 3x
says "is reported" err 'for --min-duration'
check "timeline without a temporary file" 2 env TMPDIR="$dir/none" "$tool" \
    timeline $files1
says "is reported" err 'needs a temporary file'
check "timeline to a full disk" 2 "$tool" timeline $files1 -o /dev/full
check "html" 0 "$tool" html $files1 --title '</title>' --truth "$one/truth"
says "its title" out '<title>&lt;/title&gt;</title>'
says "verified" out '"Compared","identical"'
check "html of another program" 1 "$tool" html $files1 --truth "$two/truth"
says "says so" out '"Compared","different"'
check "html to a full disk" 2 "$tool" html $files1 -o /dev/full
check "bad width" 2 "$tool" flamegraph $files1 --width 3
printf 'nonsense\n' > "$dir/kallsyms"
check "bad kallsyms" 2 "$tool" folded $files1 --kallsyms "$dir/kallsyms"

# report: rows for scripts add up, and diff reads them
check "report" 0 "$tool" report $files1 --sort priv,hart
says "rows" out 'M-mode'
check "report --format tsv" 0 "$tool" report $files1 --sort priv,hart \
    --format tsv -o "$dir/a.tsv"
sum=$(awk 'NR > 1 { sum += $1 } END { print sum }' "$dir/a.tsv")
check "every instruction is in it" 0 test "$sum" = "$(wc -l < "$one/pcs")"
check "report --format json" 0 "$tool" report $files1 --format json
cp "$dir/out" "$dir/a.json"
check "python reads it" 0 python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
assert sum(row["own"] for row in report["rows"]) == report["instructions"]' \
    "$dir/a.json"
check "report --format xml" 2 "$tool" report $files1 --format xml
says "what there is" err 'text, tsv or json'
check "report --sort line" 2 "$tool" report $files1 --sort line
says "what it can be" err 'srcline, srcfile'
check "callers have no columns" 2 "$tool" report $files1 --callers main \
    --format tsv
says "and it says so" err 'leave out --format'
sort -u "$one/pcs" | awk 'NR % 20 == 1 {
    print $1, "T", (NR % 40 == 1 ? "a" : "b") NR
}' > "$dir/functions"
check "callers and callees" 0 "$tool" report $files1 --callers 'a*' \
    --kallsyms "$dir/functions"
check "there are several" 0 test "$(grep -c % "$dir/out")" -gt 4
check "at most so many of them" 0 "$tool" report $files1 --callers 'a*' \
    --kallsyms "$dir/functions" --rows 1
cp "$dir/out" "$dir/callers"
says "and the others are counted" out 'rows left out'
check "of each one row" 0 test "$(grep -c % "$dir/callers")" = 2
check "another report" 0 "$tool" report $files2 --sort priv,hart \
    --format tsv -o "$dir/b.tsv"
check "diff" 0 "$tool" diff "$dir/a.tsv" "$dir/b.tsv"
says "what A is" out "^# A: $dir/a.tsv: $(wc -l < "$one/pcs") instructions"
check "diff of the same" 0 "$tool" diff "$dir/a.tsv" "$dir/a.tsv" \
    --percent-limit 0 --sort priv --format tsv
same=$(awk 'NR > 1 && $1 == $2 && $3 == 0 { n++; sum += $1 }
    END { print n, sum }' "$dir/out")
check "no difference" 0 test "$same" = "5 $sum"
check "diff --sort of what is not there" 2 "$tool" diff "$dir/a.tsv" \
    "$dir/b.tsv" --sort sym
says "what to do" err "'sym' does not distinguish its rows; make both"
check "diff of one" 2 "$tool" diff "$dir/a.tsv"
says "two are needed" err 'rvtrace diff A B'
check "diff of something else" 2 "$tool" diff "$dir/a.json" "$dir/b.tsv"
says "what it wants" err 'report --format tsv'
check "diff of a file that is not there" 2 "$tool" diff "$dir/a.tsv" \
    "$dir/none"
check "diff to a full disk" 2 sh -c "\"$tool\" diff \"$dir/a.tsv\" \
    \"$dir/b.tsv\" > /dev/full"

# What views look at: pieces are exact, and add up
# counted: the sum of the stacks that the last command wrote
counted() {
    awk '{ sum += $NF } END { print sum + 0 }' "$dir/out"
}
# added FILE...: rows of reports, those with the same name added up
added() {
    awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
        { key = ""
          for (i = 1; i <= NF; i++)
              if (name[i] !~ /^(own|total|calls)$/) key = key "," $i
          for (i = 1; i <= NF; i++)
              if (name[i] ~ /^(own|total|calls)$/) sum[key, name[i]] += $i }
        END { for (i in sum) print i, sum[i] }' "$@" | sort
}
all=$(wc -l < "$one/pcs")
check "folded --to" 0 "$tool" folded $files1 --to 7777
check "has so many" 0 test "$(counted)" = 7777
check "folded --from" 0 "$tool" folded $files1 --from 7777
check "has the rest" 0 test "$(counted)" = $((all - 7777))
check "folded --from --to" 0 "$tool" folded $files1 --from 1k --to 12345
check "has what is between" 0 test "$(counted)" = 11345
check "folded --from behind the end" 0 "$tool" folded $files1 --from 1G
says "warns" err 'none of [0-9]* instructions is selected'
check "folded of two harts" 0 "$tool" folded $files2 --from 3 --to 5k
check "has so many of each" 0 test "$(counted)" = 9994
check "folded of one of them" 0 "$tool" folded $files2 --from 3 --to 5k --hart 1
check "has so many" 0 test "$(counted)" = 4997
for sort in priv,hart dso,sym tid,priv; do
    for piece in "" "--to 7777" "--from 7777 --to 7778" "--from 7778"; do
        "$tool" report $files2 --sort $sort --format tsv $piece \
            > "$dir/${piece:-whole}.tsv" 2> "$dir/err"
    done
    added "$dir/whole.tsv" > "$dir/want"
    added "$dir/--to 7777.tsv" "$dir/--from 7777 --to 7778.tsv" \
        "$dir/--from 7778.tsv" > "$dir/got"
    check "pieces of report --sort $sort add up" 0 cmp "$dir/got" "$dir/want"
    check "to something" 0 test -s "$dir/want"
done
check "report of a piece" 0 "$tool" report $files1 --from 10 --to 20
says "says how much it is" out "^# 10 instructions of $all that ran"
check "report of a piece, as JSON" 0 "$tool" report $files1 --to 10 \
    --format json
says "says so, too" out "\"instructions\": 10, .*\"ran\": $all,"
check "flamegraph of a piece" 0 "$tool" flamegraph $files1 --to 10
says "says so, too" out "10 instructions, selected from"
check "html of a piece, compared" 0 "$tool" html $files1 --to 10 \
    --truth "$one/truth"
says "compares everything" out '"Compared","identical"'
says "and says what it shows" out '"Selected","10"'
check "stat of everything, folded of a piece" 0 "$tool" decode $files1 \
    --to 10 --output stat --output "folded=$dir/folded"
says "stat is of everything" out " $all\$"
check "and folded is not" 0 test \
    "$(awk '{ sum += $NF } END { print sum }' "$dir/folded")" = 10
for command in script pprof callgrind speedscope timeline perf-data; do
    check "$command of a piece" 0 "$tool" $command $files1 --from 100 --to 9k
done
check "script of a piece" 0 "$tool" script $files1 --from 100 --to 9100 \
    --period 1000
check "has so many samples" 0 test "$(grep -c instructions "$dir/out")" = 9
check "callgrind of a piece" 0 "$tool" callgrind $files1 --from 100 --to 9100
says "its total" out '^totals: 9000$'
check "by task" 0 "$tool" report $files1 --sort comm --format tsv
comm=$(awk -F'\t' 'NR > 1 && $2 ~ /^address/ { print $2; exit }' "$dir/out")
own=$(awk -F'\t' -v c="$comm" '$2 == c { print $1 }' "$dir/out")
check "folded --process" 0 "$tool" folded $files1 --process "$comm"
check "has what it ran" 0 test "$(counted)" = "$own"
check "folded --process of a number" 0 "$tool" folded $files1 --process 1
says "that nobody has" err 'none of'
check "folded --from the end" 0 "$tool" folded $files1 --from -777 --to=-77
check "has so many" 0 test "$(counted)" = 700
check "folded --to, from the end of two harts" 0 "$tool" folded $files2 --to -5
but=$(counted)
check "folded of all" 0 "$tool" folded $files2
check "has so many more of each" 0 test "$(counted)" = $((but + 10))
check "sym: of no function" 2 "$tool" folded $files1 --from sym:nobody
says "says what to do" err 'no program that ran has such a function'
check "a piece of a trace from a function on" 2 "$tool" report $files1 \
    --shard 1/2 --from sym:main -o "$dir/out2"
says "says why not" err 'a piece does not know'
check "bad number" 2 "$tool" folded $files1 --from 1x
says "says what it can be" err '--from 1x: must be .*with k, M or G'
check "nothing left" 2 "$tool" folded $files1 --from 2k --to 1k
check "bad region" 2 "$tool" folded $files1 --region a..
for what in data pc,data task note packets; do
    check "decode --emit $what selects nothing" 2 "$tool" decode $files1 \
        --emit $what --to 1
    says "says what does" err '--emit pc and --output'
done
check "decode --emit pc --from, --to" 0 "$tool" decode $files1 --emit pc \
    --from 1234 --to 8k --strict
mv "$dir/out" "$dir/decoded"
sed -n '1235,8000p' "$one/pcs" > "$dir/want"
check "has what was executed there" 0 cmp "$dir/decoded" "$dir/want"
check "decode --emit pc --from the end" 0 "$tool" decode $files1 --emit pc \
    --from -77
mv "$dir/out" "$dir/decoded"
tail -n 77 "$one/pcs" > "$dir/want"
check "has the last ones" 0 cmp "$dir/decoded" "$dir/want"
check "decode --emit pc of a hart's beginning" 0 "$tool" decode $files2 \
    --emit pc --hart 1 --to 100
mv "$dir/out" "$dir/decoded"
"$tool" decode $files2 --emit pc --hart 1 --limit 100 > "$dir/want"
check "has the first ones" 0 cmp "$dir/decoded" "$dir/want"
check "decode --emit pc --process" 0 "$tool" decode $files1 --emit pc \
    --process "$comm"
check "has as many as it ran" 0 test "$(wc -l < "$dir/out")" = "$own"
check "decode --emit pc --from of nothing" 2 "$tool" decode $files1 --emit pc \
    --from 1x
check "decode --emit pc --from, to a full disk" 2 \
    sh -c "'$tool' decode $files1 --emit pc --from 10 > /dev/full"
check "verify selects nothing" 2 "$tool" verify $files1 --to 1 \
    --truth "$one/truth"

# Regions: what lies between their notes, in all and on each hart
notes=$dir/notes
mkdir "$notes"
synthesize 5 2 20000 "$notes" notes
files5="--trace $notes/trace --sideband $notes/sideband"
# between HART...: instructions between begin and end, or to the end
between() {
    awk -v harts=" $* " 'index(harts, " " $1 " ") {
        if (n[$1]++ % 2) { sum += $2 - since } else { since = $2 } }
        END { print sum }' "$notes/notes"
}
check "folded --region" 0 "$tool" folded $files5 --region work
check "has what is between the notes" 0 test "$(counted)" = "$(between 0 1)"
check "folded between marks" 0 "$tool" folded $files5 --region a..b --hart 1
check "has the same of one hart" 0 test "$(counted)" = "$(between 1)"
check "folded from a mark on" 0 "$tool" folded $files5 --from mark:a \
    --to mark:b --hart 1
check "has the first such piece" 0 test "$(counted)" = \
    "$(awk '$1 == 1 { if (n++) { print $2 - since; exit } since = $2 }' \
        "$notes/notes")"
check "folded --region and --from" 0 "$tool" folded $files5 --region work \
    --from "$(awk '$1 == 0 { print $2 + 100; exit }' "$notes/notes")" --hart 0
check "has less" 0 test "$(counted)" = $(($(between 0) - 100))
check "folded --region of another name" 0 "$tool" folded $files5 --region wor
says "is nothing" err 'none of'

# annotate: a loop of three rounds, from its packets and its program
check "annotate what did not run" 2 "$tool" annotate $files1 --sym main
says "and says so" err 'no function with such a name ran'
check "bad source prefix" 2 "$tool" annotate $files1 --source-prefix nonsense
says "which option" err '--source-prefix'
if command -v riscv64-linux-gnu-gcc > "$dir/which"; then
    printf '%s\n' '.globl _start' '.type _start, @function' \
        '.option norvc' '_start: li a0, 3' '1: addi a0, a0, -1' \
        'bnez a0, 1b' 'j .' '.size _start, . - _start' > "$dir/loop.S"
    riscv64-linux-gnu-gcc -g -nostdlib -static -no-pie -Wl,-Ttext=0x10000 \
        "$dir/loop.S" -o "$dir/loop"
    printf '%s\n' params \
        'inst format=3 subformat=0 branch=1 privilege=3 address=0x10000' \
        'inst format=1 branches=3 branch_map=4 address=0xc' > "$dir/loop.txt"
    check "packets of a loop" 0 "$tool" encode --packets "$dir/loop.txt" \
        --output "$dir/loop.trace"
    check "annotate" 0 "$tool" annotate --trace "$dir/loop.trace" \
        --elf "$dir/loop" --sym '_s*'
    says "its branch" out '3  10008:.*# taken 2, not taken 1$'
    check "annotate --source" 0 "$tool" annotate --trace "$dir/loop.trace" \
        --elf "$dir/loop" --source
    says "no text of what nobody named" out '3  ; loop.S:6$'
    check "annotate --source-prefix" 0 "$tool" annotate \
        --trace "$dir/loop.trace" --elf "$dir/loop" --source \
        --source-prefix "$dir"
    says "its line" out '3  ; loop.S:6: bnez a0, 1b$'
    check "report --sort srcline" 0 "$tool" report --sort srcline \
        --trace "$dir/loop.trace" --elf "$dir/loop" --format tsv
    says "its line, too" out "^3.$dir/loop.S:6$"
    mkdir "$dir/src" && mv "$dir/loop.S" "$dir/src"
    check "sources elsewhere" 0 "$tool" decode --trace "$dir/loop.trace" \
        --elf "$dir/loop" --sym _start --source \
        --source-prefix "$dir=$dir/src" --output "annotate=$dir/annotated" \
        --output "report=$dir/reported"
    check "are found" 0 grep -q 'loop.S:6: bnez' "$dir/annotated"
    check "report, too" 0 grep -q '_start$' "$dir/reported"
else
    echo "# skipped: annotate: there is no riscv64-linux-gnu-gcc"
fi

# one run of the decoder, several results: each as its own command writes it
check "several outputs" 0 "$tool" decode $files2 --truth "$two/truth" \
    --output "stat=$dir/stat" --output "verify=$dir/verify" \
    --output "folded=$dir/folded" --output "flamegraph=$dir/flame.svg" \
    --output "timeline=$dir/timeline" --output "html=$dir/html" \
    --min-duration 10
for command in stat folded flamegraph "verify --truth $two/truth" \
    "timeline --min-duration 10" "html --truth $two/truth"; do
    check "$command alone" 0 "$tool" $command $files2 --jobs 1
    cp "$dir/out" "$dir/alone"
    case $command in
    flamegraph) file=$dir/flame.svg ;;
    *) file=$dir/${command%% *} ;;
    esac
    check "$command is the same" 0 cmp "$dir/alone" "$file"
    check "$command, harts at the same time" 0 "$tool" $command $files2 \
        --jobs 2
    cp "$dir/out" "$dir/alone"
    check "... is the same" 0 cmp "$dir/alone" "$file"
done
# files for other tools: what is in them is tested with those tools
for kind in "perf-data --period 777" "script --period 777" callgrind pprof \
    speedscope uftrace ctf edges; do
    options=${kind#"${kind%% *}"}
    kind=${kind%% *}
    check "$kind" 0 "$tool" $kind $options $files2 -o "$dir/view.$kind"
    check "$kind is not empty" 0 test -s "$dir/view.$kind"
    case $kind in
    uftrace | ctf | edges)
        check "again into that folder" 2 "$tool" $kind $files2 \
            -o "$dir/view.$kind" ;;
    *) check "$kind to a full disk" 2 "$tool" $kind $options $files2 \
           -o /dev/full
       check "$kind in one thread" 0 "$tool" $kind $options $files2 --jobs 1
       cp "$dir/out" "$dir/alone"
       check "... is the same" 0 cmp "$dir/alone" "$dir/view.$kind" ;;
    esac
done
check "no room for samples" 2 env TMPDIR="$dir/none" "$tool" perf-data $files1
says "is reported" err 'rvtrace-'

check "output to standard output" 0 "$tool" decode $files1 --output stat
says "it is there" out '^hart 0'
check "no such output" 2 "$tool" decode $files1 --output nonsense=x
says "it is named" err 'nonsense=x'
check "output without its file" 2 "$tool" decode $files1 --output stat=
check "output and emit" 2 "$tool" decode $files1 --emit pc --output stat
check "output to a full disk" 2 "$tool" decode $files1 --output stat=/dev/full
check "verify without truth" 2 "$tool" decode $files1 --output verify
check "verify finds what differs" 1 "$tool" decode $files1 \
    --truth "$two/truth" --output verify --output stat
says "stat is complete nevertheless" out '^stream'
check "bad number of jobs" 2 "$tool" stat $files1 --jobs -1

# gdbserver: by hand, what a debugger sends. packet TEXT...: as it is framed
packet() {
    local text sum i
    for text; do
        sum=0
        for ((i = 0; i < ${#text}; i++)); do
            sum=$((sum + $(printf %d "'${text:i:1}")))
        done
        printf '$%s#%02x' "$text" $((sum & 255))
    done
}
# debug OPTION... < PACKETS
debug() {
    "$tool" gdbserver --listen stdio "$@"
}
# The place that harts begin at is the last instruction, or --goto's.
last=$(tail -n 1 "$one/pcs")
packet p20 D > "$dir/in"
check "gdbserver" 0 debug $files1 < "$dir/in"
says "it counts" err "hart 0: $(wc -l < "$one/pcs") instructions"
bytes=$(printf %016x "0x$last" | fold -w 2 | tac | tr -d '\n')
says "it is at the end" out "^+\$$bytes#"
check "gdbserver --goto" 0 debug $files1 --goto 777 < "$dir/in"
bytes=$(sed -n 778p "$one/pcs" | xargs -I X printf %016x 0xX | fold -w 2 |
    tac | tr -d '\n')
says "it is there" out "^+\$$bytes#"
check "gdbserver --limit" 0 debug $files1 --limit 778 < "$dir/in"
says "that is the end" out "^+\$$bytes#"
check "gdbserver: no such place" 2 debug $files1 --goto 1G
says "gdbserver says which there are" err 'hart 0 has the instructions 0 to '
check "gdbserver: no place" 2 debug $files1 --goto somewhere
says "gdbserver says what places are" err 'begin, end, a number'
check "gdbserver: a time that is not known" 2 debug $files1 --goto 1ms
says "gdbserver says how to know it" err 'time-width=64'
check "gdbserver --listen nowhere" 2 "$tool" gdbserver $files1 --listen x
says "gdbserver says what addresses are" err 'unix:PATH nor tcp:.*nor stdio'
check "gdbserver --trace --qmp" 2 debug $files1 --qmp unix:x
says "it is one of them" err 'one of them'
check "gdbserver --qmp --ram" 2 debug --qmp unix:x --ram
says "there is nothing to be said" err 'leave out --ram'
check "gdbserver --qmp nonsense" 2 debug --qmp x
says "it is named" err "qmp x: 'x' is neither"
check "gdbserver --tick-rate" 2 debug $files1 --tick-rate -1
check "gdbserver --index of nothing" 2 debug $files1 --index "$dir/none"
says "it is named" err "$dir/none"
"$tool" index $files1 --every 1000 -o "$dir/rvidx"
check "gdbserver --index" 0 debug $files1 --index "$dir/rvidx" --goto 777 \
    < "$dir/in"
says "it is there, too" out "^+\$$bytes#"
# The call stack is in the index, too.
packet p45 p46 "qRcmd,$(printf 'bt all' | od -An -v -tx1 | tr -d ' \n')" D \
    > "$dir/in"
check "gdbserver: call stack" 0 debug $files1 --goto 1777 < "$dir/in"
cp "$dir/out" "$dir/stack"
check "gdbserver --index: call stack" 0 debug $files1 --index "$dir/rvidx" \
    --goto 1777 < "$dir/in"
cp "$dir/out" "$dir/indexed"
check "gdbserver: the stack is that of the index" 0 \
    cmp "$dir/indexed" "$dir/stack"
says "there is one" stack '^+[$]0[1-9]000000#'
check "gdbserver --index of another trace" 2 debug $files2 --index "$dir/rvidx"
says "it is named" err "$dir/rvidx"
check "gdbserver --elf of nothing" 2 debug $files1 --elf "$dir/none"
says "it is named" err "$dir/none"

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

# ... until there is enough: the other side ends, or does not listen to us
pour() { # PATH FILE HOW: the file again and again, while somebody reads it
    python3 - "$@" <<'PYTHON'
import select, socket, sys, time
path, file, how = sys.argv[1:]
s = socket.socket(socket.AF_UNIX)
s.bind(path)
s.listen(1)
s = s.accept()[0]
data = open(file, 'rb').read()
sent = 0
try:
    while how == 'deaf' or not select.select([s], [], [], 0)[0]:
        s.sendall(data)
        sent += len(data)
        time.sleep(0.01)
except OSError:
    pass
print(sent)
PYTHON
}
for peer in polite deaf; do
    for how in "--for 300ms" "--bytes 9000"; do
        rm -f "$dir/t.sock" "$dir/s.sock"
        pour "$dir/t.sock" "$two/trace" $peer > "$dir/sent" &
        serve "$dir/s.sock" "$two/sideband" server &
        # shellcheck disable=SC2086
        check "listen $how, $peer" 0 timeout 20 "$tool" listen $how \
            --trace "unix:$dir/t.sock" --trace-out "$dir/got.t" \
            --sideband "unix:$dir/s.sock" --sideband-out "$dir/got.s"
        wait
        check "it has the beginning" 0 cmp -n 5000 "$two/trace" "$dir/got.t"
        check "and so many bytes" 0 test "$(wc -c < "$dir/got.t")" -ge 9000
        check "and all of the sideband" 0 cmp "$two/sideband" "$dir/got.s"
        [ $peer = deaf ] || check "and all that was sent" 0 \
            test "$(wc -c < "$dir/got.t")" = "$(cat "$dir/sent")"
    done
done
for how in "--for 10" "--for 0s" "--for x" "--bytes 0" "--bytes x"; do
    # shellcheck disable=SC2086
    check "listen $how" 2 "$tool" listen $how --trace unix:/nowhere \
        --trace-out "$dir/got"
    says "what it must be" err "${how% *} ${how#* }: must be a"
done

# run: what QEMU is started with; here that is echo, which traces nothing
"$inputs" btf "$dir/Image-1"
mkdir -p "$dir/root/boot"
ln -s ../../Image-1 "$dir/root/boot/vmlinux-1"
"$tool" guest-info "$dir/Image-1" > "$dir/info"
info=$(cat "$dir/info")
check "guest-info has something" 0 test -n "$info"

# kernel-elf: without a kernel there is nothing to write
check "kernel-elf without a file" 2 "$tool" kernel-elf
says "which ones it wants" err 'kernel-elf Image -o'
check "kernel-elf without output" 2 "$tool" kernel-elf "$dir/Image-1"
check "kernel-elf of no Image" 2 "$tool" kernel-elf "$dir/Image-1" -o "$dir/k"
says "what is wrong" err 'Image-1: not a flat Image'
check "kernel-elf --base odd" 2 \
    "$tool" kernel-elf --base 1001 "$dir/Image-1" -o "$dir/k"
says "what a base is" err '\-\-base 1001: must be an even address'
{ head -c 56 /dev/zero; printf 'RSC\005'; head -c 100 /dev/zero; } \
    > "$dir/Image-2"
check "kernel-elf without names" 2 \
    "$tool" kernel-elf "$dir/Image-2" -o "$dir/k"
says "what to do about it" err 'Image-2: .*CONFIG_KALLSYMS'
check "and no file is left" 1 test -e "$dir/k"

export TMPDIR=$dir/run
mkdir "$TMPDIR"
cd "$TMPDIR" || exit 1
check "run --help" 0 "$tool" run --help
says "it explains itself" out 'rvtrace run .*\[--\] QEMU ARG'
says "and its exit statuses" out '^Exit status: .*2 an error'
check "run nothing" 2 "$tool" run
says "it says what is missing" err 'which QEMU?'
check "run nothing behind --" 2 "$tool" run --
check "run --bogus" 2 "$tool" run --bogus -- echo -M virt
says "run names it" err bogus
check "run" 2 "$tool" run -- echo -M virt
says "nothing was traced" err 'QEMU ended, but nothing was traced'
says "the machine is traced" out '^-M virt,trace=on,trace-autostart=on,'
says "its trace goes to a file" out \
    'trace-chardev=\([^, ]*\),.* -chardev file,id=\1,path=/[^ ,]*/trace'
says "its sideband, too" out \
    'trace-sideband=\([^, ]*\) .* file,id=\1,path=/[^ ,]*/sideband -global .*$'
check "run --keep: commas are escaped" 2 "$tool" run --keep "$dir/k,1" -- \
    echo -machine type=virt
says "in both" out 'k,,1/trace .*k,,1/sideband'
check "what the user says stays" 2 "$tool" run -- echo --machine \
    virt,trace-autostart=off,trace-sideband=own -chardev file,path=x,id=own
says "and is not said twice" out \
    '^--machine virt,trace-autostart=off,trace-sideband=own,trace=on,trace-c'
check "several -machine are one" 2 "$tool" run -- echo -M virt -append -M \
    -M aia=none
says "the last of them is added to" out \
    '^-M virt -append -M -M aia=none,trace=on'
check "run describes the kernel to QEMU" 2 "$tool" run -- echo -M virt \
    -kernel "$dir/Image-1"
says "which is that of -kernel" out "trace-guest-info=$info "
check "run finds the kernel" 2 "$tool" run --sysroot "$dir/root" -- echo \
    -M virt
says "in --sysroot" out "trace-guest-info=$info "
check "unless the user does" 2 "$tool" run --sysroot "$dir/root" -- echo \
    -M virt,trace-guest-info=x
says "as the user says" out \
    '^-M virt,trace-guest-info=x,trace=on,[^ ]*sideband '
cd "$dir" || exit 1
check "no file is left" 0 rmdir "$TMPDIR"
unset TMPDIR

echo "1..$n"
exit $failed
