# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the scripts share: where things are, how to speak, how to run a long
# step. To be sourced by bash scripts:  . "$(dirname "$0")/lib.sh"

# Nothing here may depend on the caller's language or git settings.
export LC_ALL=C
shopt -s extglob
unset CDPATH GREP_OPTIONS

die() { echo "error: $*" >&2; exit 1; }

# base_of VERSION: the base whose patches fit this version of QEMU best
base_of() {
    case $1 in
    10.0|10.0.*) echo 10.0 ;;
    10.*|1[1-9].*) echo 10.2 ;;
    *) die "QEMU_SRC=${QEMU_SRC-} is QEMU $1; the series is for 10.0 and" \
           "newer" ;;
    esac
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# The QEMU that the series is applied to: BASE; without one, what QEMU_SRC is
# nearest to. Each base has its own hooks, and its own folder in build/, except
# the default, which has build/ itself.
if [ -n "${BASE-}" ]; then
    base=$BASE
elif [ -f "${QEMU_SRC:+$QEMU_SRC/VERSION}" ]; then
    base=$(base_of "$(cat "$QEMU_SRC/VERSION")") || exit 1
else
    base=10.0
fi
patches=$top/patches/$base
[ -f "$patches/series" ] ||
    die "BASE=$base: there are patches for" \
        "$(cd "$top/patches" && echo */series | sed 's,/series,,g')"

# build_of BASE: its folder in build/
build_of() {
    case $1 in
    10.0) echo "$top/build" ;;
    *) echo "$top/build/$1" ;;
    esac
}
build=$(build_of "$base")
# for what is no bash script
export RVTRACE_BUILD=$build
cache=${RVTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qemu-riscv-trace}
logs=$build/logs

# With ccache, what was compiled in one checkout serves another, and the folders
# of `make series-check` serve each other. (gdb finds sources beside the binary.)
export CCACHE_BASEDIR=${CCACHE_BASEDIR-$top}
export CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}

# SANITIZE=1: a QEMU of its own, which ends where it goes wrong
sanitize=
[ "${SANITIZE:-0}" = 0 ] || sanitize=yes
obj=$build/obj${sanitize:+-sanitize}

# git without the user's configuration: same result on every machine
plain_git() { GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git "$@"; }

# run_logged NAME TEXT COMMAND...: run a long step with its output in
# build/logs/NAME.log and one progress line here; on failure name the log and
# print its end. The step stays in the foreground, where ^C reaches it, but in a
# shell of its own: if it dies, its reason is shown here, too.
run_logged() {
    local name=$1 text=$2 log=$logs/$1.log start=$SECONDS status=0 ticker=
    local shown=${logs#"$top"/}/$1.log
    shift 2
    mkdir -p "$logs"
    printf '  %-52s' "$text"
    if [ -t 1 ]; then
        while kill -0 $$ 2>/dev/null; do
            printf '\r  %-52s %4ds' "$text" $((SECONDS - start))
            sleep 1
        done &
        ticker=$!
    fi
    ("$@") > "$log" 2>&1 < /dev/null || status=$?
    if [ -n "$ticker" ]; then
        kill $ticker 2>/dev/null || true
        wait $ticker 2>/dev/null || true
        printf '\r  %-52s' "$text"
    fi
    if [ $status -eq 0 ]; then
        printf ' %4ds ok\n' $((SECONDS - start))
        return 0
    fi
    printf ' %4ds FAILED\n' $((SECONDS - start))
    {
        echo "--- the last lines of $shown:"
        tail -n 25 "$log"
        echo "--- the whole log: $shown"
    } >&2
    return $status
}

# Our folders and the places in a QEMU tree that they become. "dir" folders
# are whole new folders there; "files" folders add files to one that exists.
overlays() {
    local functional=tests/functional/riscv64
    [ "$base" != 10.0 ] || functional=tests/functional
    cat <<MAP
dir   hw-trace            hw/trace
dir   target-riscv-ctr    target/riscv/ctr
dir   target-riscv-trace  target/riscv/trace
files tests-unit          tests/unit
files tests-qtest         tests/qtest
files tests-tcg-riscv64   tests/tcg/riscv64
files tests-functional-riscv64 $functional
files docs-system-riscv   docs/system/riscv
files docs-devel          docs/devel
files qapi                qapi
files stubs               stubs
MAP
}

# What of "files" folders stays here: what only makes sense here, tests that need
# rvtrace, and pages about the whole repository
stays='Makefile|off-costs-nothing.sh|run.sh|@(data|filters|migrate|migrate-stock'
stays+='|modes|ram|random|slow-reader)/*'
stays+='|@(index|rvtrace|adding|tests|series|glossary|riscv-trace-port).rst'

# folder_files KIND FOLDER PLACE: "OUR_FILE PLACE_IN_QEMU", a line each, for
# every file of the folder that git knows or would add (so that editor droppings
# and objects stay out); without git, for all but the usual droppings.
folder_files() {
    local kind=$1 from=$2 to=$3 file
    (cd "$top" && { git ls-files -co --exclude-standard -- "$from" 2>/dev/null ||
        find "$from" -type f ! -name '.*' ! -name '*~' ! -name '*.[ao]'; }) |
        sort -u | while read -r file; do
            if [ "$kind" = files ]; then
                [[ ${file#"$from"/} != @($stays) ]] || continue
            fi
            [ ! -f "$top/$file" ] || echo "$file $to/${file#"$from"/}"
        done
}

# overlay_links: "TARGET PLACE_IN_QEMU", a line each
overlay_links() {
    local kind from to
    overlays | while read -r kind from to; do
        case $kind in
        dir) [ ! -d "$top/$from" ] || echo "$top/$from $to" ;;
        files) folder_files files "$from" "$to" | sed "s,^,$top/," ;;
        esac
    done
}

# base_repo DIR: a new git repository with stock QEMU as its one commit, tagged
# "base" and the same on every machine.
base_repo() {
    rm -rf "$1"
    mkdir -p "$1"
    # Debian's packaging is no part of QEMU, firmware's sources are not in its
    # git repository
    tar -C "$build/qemu-stock" -cf - --exclude=./debian --exclude=./.pc \
        --exclude='./roms/*/*' . | tar -C "$1" -xf -
    plain_git -C "$1" init -q -b main .
    # -f: QEMU's .gitignore hides bundled subprojects that a release has
    plain_git -C "$1" add -A -f
    GIT_AUTHOR_DATE='2025-01-01T00:00:00Z' \
        GIT_COMMITTER_DATE='2025-01-01T00:00:00Z' \
        plain_git -C "$1" -c user.name=base -c user.email=base@localhost \
        -c gc.auto=0 commit -q -m "QEMU $(cat "$1/VERSION")"
    plain_git -C "$1" tag base
}

# author_name, author_email: who posts the series: the identity that git knows
# here; without one, that of who worked on this repository last
author_name() {
    git -C "$top" config user.name || git -C "$top" log -1 --format=%an
}

author_email() {
    git -C "$top" config user.email || git -C "$top" log -1 --format=%ae
}

# series: the patches of patches/BASE/series, a name each line
series() {
    sed -E 's/[[:space:]]*(#.*)?$//; /^$/d' "$patches/series"
}

# QEMU needs meson 1.5, which is newer than Debian 12's. Where /usr/bin/python3
# has none, the one that QEMU's releases bring along will do, or else Debian 13's
# package: it is pure Python, unpacked where only we see it. For configure's
# PYTHONPATH.
meson_site=$cache/python/usr/lib/python3/dist-packages

# Has the machine's python3 a meson that is new enough?
has_meson() {
    /usr/bin/python3 -c 'if 1:
        from mesonbuild.coredata import version
        from sys import exit
        exit(tuple(map(int, version.split(".")[:2])) < (1, 5))' 2>/dev/null
}

meson_for_us() {
    local wheel deb
    ! has_meson || return 0
    for wheel in "$build"/qemu/python/wheels/meson-*.whl; do
        continue    # to the last one; the pattern, if there is none
    done
    if [ -f "$wheel" ]; then
        [ ! "$meson_site" -nt "$wheel" ] || return 0
        rm -rf "$cache/python" "$cache/python.new"
        mkdir -p "$cache/python.new/${meson_site#"$cache/python/"}"
        /usr/bin/python3 -m zipfile -e "$wheel" \
            "$cache/python.new/${meson_site#"$cache/python/"}" ||
            die "$wheel could not be unpacked"
    else
        # what was fetched once
        if ! command -v apt-get >/dev/null && [ -d "$meson_site" ]; then
            return 0
        fi
        command -v apt-get >/dev/null ||
            die "meson 1.5 or newer is missing: install the package meson" \
                "(its name with apt, dnf and pacman)"
        deb=$("$top/scripts/fetch" binary trixie meson) ||
            die "meson 1.5 or newer is missing, and Debian's could not be" \
                "fetched: install the package meson, or see above"
        [ ! "$meson_site" -nt "$deb" ] || return 0
        rm -rf "$cache/python" "$cache/python.new"
        dpkg-deb -x "$deb" "$cache/python.new"
    fi
    mv "$cache/python.new" "$cache/python"
    touch "$meson_site"
}

# meson_for_later OBJ: runs of meson by ninja find it without PYTHONPATH
meson_for_later() {
    local packages
    packages=$("$1/pyvenv/bin/python3" -c \
        'import sysconfig; print(sysconfig.get_path("purelib"))') || return 1
    echo "$meson_site" > "$packages/meson-for-us.pth"
}

# our_meson ARGUMENT...: that meson, or the machine's own
our_meson() {
    if [ -d "$meson_site" ]; then
        PYTHONPATH=$meson_site /usr/bin/python3 -m mesonbuild.mesonmain "$@"
    else
        /usr/bin/python3 -m mesonbuild.mesonmain "$@"
    fi
}

# setup_rvtrace DIR OPTION...: configure rvtrace into DIR, unless it is
# configured in this way already
setup_rvtrace() {
    local dir=$1 want
    shift
    want="$build/qemu ${CC-} $*"
    if [ "$(cat "$dir/.configured" 2>/dev/null)" = "$want" ] &&
       [ -f "$dir/build.ninja" ]; then
        return 0
    fi
    rm -rf "$dir"
    our_meson setup "$dir" "$top/rvtrace" --werror \
        -Dqemu_tree="$build/qemu" "$@" || return 1
    echo "$want" > "$dir/.configured"
}

# build_rvtrace NAME OPTION... [-- GOAL...]: build rvtrace in build/NAME with
# meson's options, by default all that is installed
build_rvtrace() {
    local name=$1 dir=$build/$1 options=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    setup_rvtrace "$dir" "${options[@]}" &&
        PYTHONPATH=$meson_site ninja -C "$dir" -j "${JOBS:-$(nproc)}" "$@"
}

# Options of a build that ends where it goes wrong
rvtrace_sanitized=(-Db_sanitize=address,undefined -Db_lundef=false
    -Dc_args=-fno-sanitize-recover=all)
