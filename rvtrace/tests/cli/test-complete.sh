#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What completes rvtrace's command line, and its manual page, agree with what
# it says of itself: test-complete.sh RVTRACE
# Every check prints a TAP line; the script fails if one of them does.
set -u
tool=$(realpath -s "$1")
here=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

# same NAME WANT GOT: these must be the same lists
same() {
    n=$((n + 1))
    if [ -n "$2" ] && [ "$2" = "$3" ]; then
        echo "ok $n $1"
    else
        echo "not ok $n $1"
        diff <(echo "$2") <(echo "$3") | sed 's/^/# /' | head -20
        failed=1
    fi
}
skip() {
    n=$((n + 1))
    echo "ok $n $1 # SKIP $2"
}
# lines WORD...: sorted, a word in each
lines() {
    printf '%s\n' "$@" | sort -u
}

# options_of COMMAND: the long ones, from the columns of --help
options_of() {
    "$tool" "$1" --help-all | cut -c 1-30 | grep '^  *-' |
        grep -o -e '--[a-z][a-z-]*' | sort -u
}
commands=$("$tool" --help | grep '^  ' | awk '{ print $1 }' | sort -u)

# shellcheck source=../completions/rvtrace.bash
. "$here/completions/rvtrace.bash"
# complete_bash WORD...: what can be in the place of the last one
complete_bash() {
    COMP_WORDS=(rvtrace "$@")
    COMP_CWORD=$#
    _rvtrace "$tool" 2> "$dir/err"
    lines "${COMPREPLY[@]}"
    cat "$dir/err"
}
same "bash: commands" "$(lines $commands help)" \
    "$(complete_bash '' | grep -v '^-')"
same "bash: help of what" "$commands" "$(complete_bash help '')"
same "bash: begun" "$(lines decode diff)" "$(complete_bash d)"
for command in $commands; do
    same "bash: options of $command" "$(options_of "$command")" \
        "$(complete_bash "$command" -- | tr -d = | sort -u)"
done
# A word that is one option, not the begin of all, has its "="
same "bash: a value follows" --sysroot= "$(complete_bash report --sysr)"
same "bash: none follows" --strict "$(complete_bash report --str)"
kinds=$("$tool" decode --help-all | tr '\n' ' ' |
    sed -E 's/.*what the subcommand KIND does: ([^;]*);.*/\1/' |
    grep -o '[a-z-]*' | sort -u)
same "bash: kinds of --output" "$kinds" "$(complete_bash decode --output '')"
same "bash: kinds of --view" "$(printf '%s\n' "$kinds" live | sort)" \
    "$(complete_bash run --view = '')"
cd "$dir" && touch file-1 && mkdir folder || exit 1
same "bash: files" file-1 "$(complete_bash stat --trace = fi)"
same "bash: QEMU behind --" "$(lines file-1)" \
    "$(complete_bash run -- qemu -kernel fi)"

if command -v zsh > /dev/null; then
    same "zsh: can be read" ok "$(zsh -n "$here/completions/_rvtrace" 2>&1 &&
        echo ok)"
    for command in $commands; do
        same "zsh: options of $command" "$(options_of "$command")" \
            "$(zsh -f -c '. "$1"; _rvtrace_specs "$2" "$3"' - \
                "$here/completions/_rvtrace" "$tool" "$command" |
                grep -oE '^\*?--[a-z-]+' | tr -d '*' | sort -u)"
    done
    # _arguments is zsh's own: it takes these, in a terminal of its own
    same "zsh: completes" "$(lines ict oot)" "$(timeout 60 zsh -f -c '
        zmodload zsh/zpty && zpty z zsh -f -i
        zpty -w z "PS1=; TERM=dumb; fpath=($1 \$fpath); path=($2 \$path)
autoload -U compinit; compinit -D -u; LISTMAX=0; echo READY"
        zpty -r -m z line "*READY*READY*"
        for word in str,ict sysr,oot; do
            zpty -w -n z "rvtrace report --${word%,*}"$'\''\t'\''
            zpty -r -m z line "*--${word%,*}*${word#*,}*" &&
                print ${word#*,}
            zpty -w -n z $'\''\x15'\''
        done' - "$here/completions" "$(dirname "$(realpath -s "$tool")")")"
else
    skip "zsh: completion" "there is no zsh (package zsh)"
fi

page=$dir/rvtrace.1
same "the manual page is written" ok "$("$here/man/make-man" "$tool" \
    > "$page" && echo ok)"
if command -v groff > /dev/null; then
    same "groff takes it" ok "$(groff -ww -z -man -Tutf8 "$page" 2>&1 &&
        echo ok)"
    groff -man -Tascii -P-c -P-b -P-u -rLL=300n "$page" 2> "$dir/err" > text
    for command in $commands; do
        from="^ *rvtrace $command \["
        to='^ *rvtrace [a-z-]* \[\|^[A-Z]'
        same "manual page: options of $command" \
            "$(options_of "$command" | grep -v -e --help-)" \
            "$({ echo --help; sed -n "/$from/,/$to/p" text; } |
                grep -oE -e '^( {7}(-., )?)?--[a-z-]+' |
                grep -oE -e '--[a-z-]+' | sort -u)"
    done
else
    skip "groff takes it" "there is no groff (package groff-base)"
fi

echo "1..$n"
exit $failed
