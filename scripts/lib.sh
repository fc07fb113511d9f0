# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the scripts share: where things are, how to speak, how to run a long
# step. To be sourced by bash scripts:  . "$(dirname "$0")/lib.sh"

# Nothing here may depend on the caller's language or git settings.
export LC_ALL=C
unset CDPATH GREP_OPTIONS

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$top/build
cache=${RVTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qemu-riscv-trace}
logs=$build/logs

die() { echo "error: $*" >&2; exit 1; }

# git without the user's configuration: same result on every machine
plain_git() { GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git "$@"; }

# run_logged NAME TEXT COMMAND...: run a long step with its output in
# build/logs/NAME.log and one progress line here; on failure name the log and
# print its end.
run_logged() {
    local name=$1 text=$2 log=$logs/$1.log start=$SECONDS status=0 pid
    shift 2
    mkdir -p "$logs"
    printf '  %-52s ' "$text"
    "$@" > "$log" 2>&1 < /dev/null &
    pid=$!
    if [ -t 1 ]; then
        while kill -0 $pid 2>/dev/null; do
            printf '\r  %-52s %4ds ' "$text" $((SECONDS - start))
            sleep 1
        done
    fi
    wait $pid || status=$?
    if [ $status -eq 0 ]; then
        printf '\r  %-52s %4ds ok\n' "$text" $((SECONDS - start))
        return 0
    fi
    printf '\r  %-52s %4ds FAILED\n' "$text" $((SECONDS - start))
    {
        echo "--- last lines of ${log#"$top"/}:"
        tail -n 25 "$log"
        echo "--- full log: ${log#"$top"/}"
    } >&2
    return $status
}

# Our folders and the places in a QEMU tree that they become. "dir" folders
# are whole new folders there; "files" folders add files to one that exists.
overlays() {
    cat <<'MAP'
dir   hw-trace            hw/trace
dir   target-riscv-ctr    target/riscv/ctr
dir   target-riscv-trace  target/riscv/trace
dir   contrib-etrace      contrib/etrace
files tests-unit          tests/unit
files tests-qtest         tests/qtest
files tests-tcg-riscv64   tests/tcg/riscv64
files docs-system-riscv   docs/system/riscv
MAP
}

# overlay_files: "OUR_FILE PLACE_IN_QEMU", a line each, for every file that
# git knows or would add (so that editor droppings and objects stay out).
overlay_files() {
    local kind from to file
    overlays | while read -r kind from to; do
        [ -d "$top/$from" ] || continue
        (cd "$top" && git ls-files --cached --others --exclude-standard \
            -- "$from") | sort -u |
        while read -r file; do
            [ ! -e "$top/$file" ] || echo "$file $to/${file#"$from"/}"
        done
    done
}
