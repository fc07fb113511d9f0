#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests of Smctr/Ssctr 1.0: one bare-metal program for each group of
# rules, which says what it found as TAP on its UART. A PROGRAM.py starts QEMU
# itself, for what needs a monitor or a debugger, and says TAP, too.
#
#   QEMU=qemu-system-riscv64 run.sh [PROGRAM...]      TAP output
#   QEMU=qemu-system-riscv64 run.sh --variants        the programs again, with
#                               cycles counted, and with records for the host
#
# CTR_WITHOUT="PROPERTY..." leaves properties out of the CPU options, for a
# QEMU that does not have them.
set -u

: "${QEMU:?path of the qemu-system-riscv64 to test}"
here=$(dirname "$(readlink -f "$0")")
tmp=$(mktemp -d)
export PYTHONPATH=$here/../harness PYTHONDONTWRITEBYTECODE=1
# shellcheck source=../harness/tap.sh
. "$here/../harness/tap.sh"
trap 'rm -rf "$tmp"' EXIT
variants=
if [ "${1-}" = --variants ]; then
    variants=yes
    shift
fi
elves=("${@%@*}")
elves=("${elves[@]/#/$tmp/}")
make -s -C "$here" OUT="$tmp" "${elves[@]/%/.elf}" > "$tmp/make.log" 2>&1 ||
    {
        sed 's/^/# /' "$tmp/make.log"
        bail "tests cannot be built"
    }

ctr=smctr=on,ssctr=on
all=h=on,smcsrind=on,sscsrind=on,smstateen=on,sscofpmf=on,$ctr
vectors=rnmi-interrupt-vector=0x80080000,rnmi-exception-vector=0x80080100
icount="-icount shift=0,sleep=off"

# program [@variant of the run] : CPU : further options
table="
csr                 rv64,$all                       $icount
csr@host-count      rv64,$all,ctr-cycle-count=host
csr@no-h            rv64,h=off,$ctr                 $icount
csr-no-count        rv64,$all,ctr-cycle-count=off   $icount
depth-limits        rv64,$all,ctr-min-depth=32,ctr-max-depth=128
access              rv64,$all
deps@smctr          rv64,h=on,smstateen=on,smctr=on
deps@both           rv64,h=on,smstateen=on,$ctr
deps-ssctr          rv64,h=on,smstateen=on,ssctr=on
no-h                rv64,h=off,$ctr
absent              rv64
types               rv64,$all
types@no-h          rv64,h=off,$ctr
types-rv32          rv32,h=on,$ctr,smstateen=on
zcm                 rv64,d=off,zcmp=on,zcmt=on,$ctr
misaligned          rv64,c=off,$ctr
filter              rv64,$all
modes               rv64,$all
modes@no-h          rv64,h=off,$ctr
modes-rv32          rv32,h=on,$ctr,smstateen=on
virt                rv64,$all
buffer              rv64,$all
buffer@no-h         rv64,h=off,$ctr
rasemu              rv64,$all
freeze              rv64,$all,smaia=on,ssaia=on     $icount
overflow            rv64,$all                       $icount
overflow-host       rv64,$all
cycles              rv64,$all                       $icount
cycle-rate          rv64,$all
cycle-rate-icount@0 rv64,$all                       $icount
cycle-rate-icount@3 rv64,$all                       -icount shift=3,sleep=off
cycle-rate-host     rv64,$all,ctr-cycle-count=host
uxl32               rv64,$all
rv32                rv32,h=on,$ctr,smstateen=on
reset               rv64,$all
migrate             rv64,$all
migrate@icount      rv64,$all                       $icount
migrate@host-count  rv64,$all,ctr-cycle-count=host
gdb                 rv64,$all
gdb@icount          rv64,$all                       $icount
replay              rv64,$all
reset-qmp           rv64,$all
dbltrp              rv64,h=on,ssdbltrp=on,$ctr
nmi                 rv64,h=on,smrnmi=on,smdbltrp=on,ssdbltrp=on,$vectors,$ctr
nmi-line            rv64,h=on,smrnmi=on,$vectors,$ctr
nmi-line@13         rv64,h=on,smrnmi=on,$vectors,$ctr
zicfilp             rv64,zicfilp=on,$ctr
misa                rv64,$all,x-misa-w=on
misa@icount         rv64,$all,x-misa-w=on           $icount
"
[ -z "$variants" ] || table=
# Counting cycles makes other code of records: the same rules again
more=
for name in types filter modes virt buffer rasemu uxl32; do
    more+="$name@icount rv64,$all $icount
"
done
# What the hart keeps for the host is nothing that the guest can see.
for name in csr types filter modes virt buffer rasemu freeze uxl32 migrate gdb \
    reset-qmp; do
    more+="$name@host-ring rv64,$all,smaia=on,ssaia=on,ctr-host=16 $icount
"
done
more+="absent@host-ring rv64,ctr-host=16
types-rv32@host-ring rv32,h=on,$ctr,smstateen=on,ctr-host=16
zcm@host-ring rv64,d=off,zcmp=on,zcmt=on,$ctr,ctr-host=16
zcm@icount rv64,d=off,zcmp=on,zcmt=on,$ctr $icount
dbltrp@icount rv64,h=on,ssdbltrp=on,$ctr $icount
nmi@icount rv64,h=on,smrnmi=on,smdbltrp=on,ssdbltrp=on,$vectors,$ctr $icount
zicfilp@icount rv64,zicfilp=on,$ctr $icount"
# these, too, can be asked for by name
case $variants$* in *@*|yes*) table+=$more ;; esac

# Raises an NMI of hart 0 when the guest asks for it, and stays until its end
nmi_line() { # OUTPUT SOCKETS NUMBER
    python3 - "$1" "$2" "$3" << 'PYTHON'
import sys
import links
import tap

def asks():
    with open(sys.argv[1], errors='replace') as log:
        return 'raise the NMI line' in log.read()

tap.until(asks, 'the guest did not ask for the NMI')
qtest = links.QTest(sys.argv[2])
qtest.ask('set_irq_in /machine/soc0/harts[0] riscv.cpu.rnmi '
          f'{sys.argv[3]} 1')
qtest.file.readline()
PYTHON
}

say() { # STATUS NAME
    result "$1" "$2"
    echo "$2" >> "$tmp/names"
}

run() { # NAME CPU [OPTION...]
    local name=$1 cpu=$2 out=$tmp/$1.out more=() seen plan line status
    shift 2
    for property in ${CTR_WITHOUT-}; do
        cpu=$(sed -E "s/,$property=[^,]*//" <<< "$cpu")
    done
    : > "$out"
    if [ "${name%@*}" = nmi-line ]; then
        more=(-qtest "unix:$tmp/qtest,server=on,wait=off" -qtest-log /dev/null)
    fi
    if [ -f "$here/${name%@*}.py" ]; then
        mkdir "$tmp/$name"
        timeout 600 "$here/${name%@*}.py" "$tmp/$name" "$QEMU" -M virt \
            -bios none -cpu "$cpu" -kernel "$tmp/${name%@*}.elf" "$@" \
            > "$out" 2> "$out.err" < /dev/null &
    else
        timeout 600 "$QEMU" -M virt -bios none -display none \
            -monitor none -serial stdio -cpu "$cpu" \
            -kernel "$tmp/${name%@*}.elf" "$@" "${more[@]}" \
            > "$out" 2> "$out.err" < /dev/null &
    fi
    case $name in
    nmi-line) nmi_line "$out" "$tmp" 0 ;;
    nmi-line@*) nmi_line "$out" "$tmp" "${name#*@}" ;;
    esac
    wait $!
    status=$?

    echo "# $name: -cpu $cpu $*"
    seen=0
    plan=-1
    while IFS= read -r line; do
        case $line in
        "ok "*|"not ok "*)
            seen=$((seen + 1))
            say "${line%% [0-9]*}" "$name: ${line#* - }"
            ;;
        1..*)
            plan=${line#1..}
            ;;
        "Bail out!"*)
            echo "# $line"
            ;;
        *)
            echo "# ${line#\# }"
            ;;
        esac
    done < "$out"
    # A program that did not come to its end has failed, whatever it said.
    if [ "$plan" != "$seen" ] || [ $status != 0 ]; then
        sed 's/^/# /' "$out.err" | head -20
        say "not ok" "$name: all its tests are run (exit status $status)"
    fi
}

while read -r name cpu options; do
    [ -n "$name" ] || continue
    if [ $# != 0 ]; then
        case " $* " in *" ${name%@*} "*|*" $name "*) ;; *) continue ;; esac
    fi
    # shellcheck disable=SC2086
    run "$name" "$cpu" $options
done <<< "$table"

# What the CPU cannot have is refused with a word about it.
refused() { # CPU WORD
    local status
    [ -z "${CTR_WITHOUT-}" ] || return
    timeout 20 "$QEMU" -M virt -display none -monitor none -serial none -S \
        -bios none -cpu "$1" > "$tmp/err" 2>&1 < /dev/null
    status=$?
    if [ $status = 1 ] && grep -q "$2" "$tmp/err"; then
        say ok "-cpu $1 is refused"
    else
        sed 's/^/# /' "$tmp/err"
        say "not ok" "-cpu $1 is refused (exit status $status)"
    fi
}

# The manual's table of rules is complete. Its place depends on whether this is
# QEMU's tree.
table_of_rules() {
    local table
    [ -z "${CTR_WITHOUT-}" ] || return
    for table in "$here"/../../docs-system-riscv/riscv-ctr-rules.rst \
                 "$here"/../../../../docs/system/riscv/riscv-ctr-rules.rst; do
        [ -f "$table" ] && break
    done
    if "$here/rules.py" "$table" "$tmp/names" > "$tmp/missing"; then
        say ok "the table of rules has every test, and each was run"
    else
        sed 's/^/# /' "$tmp/missing"
        say "not ok" "the table of rules has every test, and each was run"
    fi
}

if [ -z "$variants$*" ]; then
    refused rv64,$ctr,ctr-max-depth=100 ctr-max-depth
    refused rv64,$ctr,ctr-min-depth=8 ctr-min-depth
    refused rv64,$ctr,ctr-min-depth=64,ctr-max-depth=32 ctr-min-depth
    refused rv64,$ctr,ctr-cycle-count=maybe ctr-cycle-count
    table_of_rules
fi

plan
