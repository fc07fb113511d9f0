# SPDX-License-Identifier: GPL-2.0-or-later
#
# TAP, for tests in bash. To be sourced.

# Names of tests are matched with it.
shopt -s extglob
pattern='*'
number=0
failed=0

# result 'ok'|'not ok' NAME [NOTE...]
result() {
    local status=$1 name=$2
    shift 2
    number=$((number + 1))
    [ "$status" = ok ] || failed=$((failed + 1))
    echo "$status $number - $name"
    [ $# = 0 ] || printf '%s\n' "$@" | head -n 20 | sed 's/^/# /'
}

# passes NAME COMMAND...: is its exit status 0?
passes() {
    local name=$1
    shift
    if "$@"; then result ok "$name"; else result 'not ok' "$name"; fi
}

# skip NAME WHY
skip() { result ok "$1 # SKIP $2"; }

# skip_all WHY: none of the tests can be run here
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

bail() {
    echo "Bail out! $*"
    exit 1
}

# plan: the end
plan() {
    echo "1..$number"
    [ "$failed" = 0 ] && [ "$number" -gt 0 ]
    exit
}

# begin NAME: false if $pattern does not want the test; else makes its folder,
# $dir, where $dir/log is for what tests write
begin() {
    # shellcheck disable=SC2254  # it is a pattern
    case $1 in
    $pattern) ;;
    *) return 1 ;;
    esac
    name=$1
    dir=$OUT/runs/${name//[^A-Za-z0-9-]/_}
    rm -rf "$dir"
    mkdir -p "$dir"
}

# finish REASON: the test's result; an empty reason is success
finish() {
    if [ -n "$1" ]; then
        result 'not ok' "$name" "$1; see $dir"
        [ ! -s "$dir/log" ] || tail -n 15 "$dir/log" | sed 's/^/# /'
    else
        result ok "$name"
        rm -rf "$dir"
    fi
}
