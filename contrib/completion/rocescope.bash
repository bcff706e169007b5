# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Completion of rocescope's command line, for bash.  It is the program that is asked what
# there is: commands stand in --help, options and what they take in --help-all.

# The commands of program $1, one a line.
_rocescope_commands() {
    "$1" --help 2>/dev/null | sed -nE '/^Commands:$/,/^$/s/^  ([a-z][a-z-]*) .*/\1/p'
}

# The options of command $2 of program $1, one a line: "--quiet", "--icrc=all|sample|off".
_rocescope_options() {
    "$1" "$2" --help-all 2>/dev/null | sed -nE 's/^  (-., |    )(--[^ ]+).*/\2/p'
}

# The kinds of findings, with which the names of findings begin.
_rocescope_findings() {
    # shellcheck disable=SC2016 # these are no expansions
    "$1" --list-findings 2>/dev/null | sed -nE 's/^## `([a-z0-9_]+)`$/\1/p'
}

# Sets COMPREPLY to those of the lines $1 that begin with $2.
_rocescope_offer() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        [[ -n $line && $line == "$2"* ]] && COMPREPLY+=("$line")
    done <<<"$1"
}

# Completes the value $3 of an option that takes what $2 says, of program $1.  Leaves
# COMPREPLY empty where a file is wanted, which bash completes by itself.
_rocescope_value() {
    case $2 in
    DIR)
        _rocescope_offer "$(compgen -d -- "$3")" "$3"
        compopt -o filenames 2>/dev/null
        ;;
    ID)
        _rocescope_offer "$(_rocescope_findings "$1")" "$3"
        ;;
    *) # words are meant as they stand; other things stand for something
        _rocescope_offer "$(tr '|' '\n' <<<"$2" | grep -xE '[a-z][a-z_-]*')" "$3"
        ;;
    esac
}

# Completes the beginning $2 of an option, of those in the lines $1.
_rocescope_option() {
    # shellcheck disable=SC2001 # in every line
    _rocescope_offer "$(sed 's/=.*/=/' <<<"$1")" "$2"
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}

# A first word may be a command or a file.
_rocescope_first() {
    _rocescope_offer "$1"$'\n'"$(compgen -f -- "$2")" "$2"
    compopt -o filenames 2>/dev/null
}

_rocescope() {
    local program=${COMP_WORDS[0]/#\~/$HOME} command=analyze
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local commands options line named=
    COMPREPLY=()
    commands=$(_rocescope_commands "$program")
    if [[ $'\n'$commands$'\n' == *$'\n'"${COMP_WORDS[1]}"$'\n'* ]]; then
        command=${COMP_WORDS[1]}
    fi
    options=$(_rocescope_options "$program" "$command")

    # Bash takes "--icrc=all" for three words.
    if [[ $current == = ]]; then
        named=$previous current=
    elif [[ $previous == = ]]; then
        named=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $previous == --* ]]; then
        named=$previous
    fi
    while IFS= read -r line; do
        if [[ -n $named && $line == "$named="* ]]; then
            _rocescope_value "$program" "${line#*=}" "$current"
            return
        fi
    done <<<"$options"

    if [[ $current == -* ]]; then
        _rocescope_option "$options" "$current"
    elif [[ $COMP_CWORD -eq 1 ]]; then
        _rocescope_first "$commands" "$current"
    fi
}

complete -o bashdefault -o default -F _rocescope rocescope
