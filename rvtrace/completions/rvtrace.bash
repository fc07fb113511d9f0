# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion of rvtrace for bash. The program is asked what there is.

# Its commands, or the long options of one; with "=" if they have a value
_rvtrace_commands() {
    LC_ALL=C "$1" --help 2>/dev/null |
        sed -nE 's/^  ([a-z][a-z-]*) +.*/\1/p'
}
_rvtrace_options() {
    LC_ALL=C "$1" "$2" --help-all 2>/dev/null |
        sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+=?).*/\2/p'
}
_rvtrace_kinds() {
    LC_ALL=C "$1" run --view '?' -- - 2>&1 |
        sed -nE 's/.*where KIND is //; s/,| or / /gp'
}

_rvtrace() {
    local tool=$1 cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-}
    local before=${COMP_WORDS[COMP_CWORD - 1]} i choices
    COMPREPLY=()
    if [ "$COMP_CWORD" -le 1 ]; then
        choices="$(_rvtrace_commands "$tool") help --help --version"
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
        return
    fi
    if [ "$command" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_rvtrace_commands "$tool")" \
            -- "$cur")
        return
    fi
    # Behind --, it is QEMU's command line.
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
            if [ $i -eq $((COMP_CWORD - 1)) ]; then
                mapfile -t COMPREPLY < <(compgen -c -- "$cur")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            fi
            return
        fi
    done
    # "=" is a word of its own: --option = value
    [ "$cur" != = ] || cur=
    if [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $before in
    --view|--output|-v|-o)
        # elsewhere --output is a file
        case $command in
        run|decode|ctr-sample)
            choices=$(_rvtrace_kinds "$tool")
            [ "$command" != run ] || choices+=" live"
            mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
            return ;;
        esac ;;
    esac
    case $cur in
    -*)
        choices=$(_rvtrace_options "$tool" "$command")
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
        case ${COMPREPLY[*]-} in
        *=) compopt -o nospace 2>/dev/null ;;
        esac ;;
    *)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    esac
}
complete -o filenames -F _rvtrace rvtrace
