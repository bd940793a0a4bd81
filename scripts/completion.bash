# bash completion for leakrun, leakreport, leaktop, leakctl and leakgraph. The options are read from --help, so that they
# match the installed version.

_libleak()
{
    local command=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} i
    local option=${COMP_WORDS[COMP_CWORD - 1]} # the option that the word is a value of
    [[ $option != = || $COMP_CWORD -lt 2 ]] || option=${COMP_WORDS[COMP_CWORD - 2]}
    COMPREPLY=()
    if [[ ${command##*/} == leakrun ]]; then
        # From the first word that is no option on, it is the command line of the program.
        for ((i = 1; i < COMP_CWORD; i++)); do
            if [[ ${COMP_WORDS[i]} != -* && ${COMP_WORDS[i]} != = &&
                ${COMP_WORDS[i - 1]} != = ]]; then
                if declare -F _command_offset >/dev/null; then
                    _command_offset "$i"
                fi
                return
            fi
        done
    fi
    if [[ ${command##*/} == leakctl && $word == -* && $COMP_CWORD -gt 1 ]]; then
        _libleak_ctl
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" --help 2>/dev/null |
            grep -o -e '--[a-z][a-z-]*=\{0,1\}' | sort -u)" -- "$word")
        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
    elif [[ ${command##*/} == leakrun ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    elif [[ ${command##*/} == leaktop && $option == --@(openmetrics|dir) ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "${word#=}")
    elif [[ ${command##*/} == leaktop ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" 2>/dev/null |
            awk 'NR > 1 { print $1; print $NF }')" -- "$word")
    elif [[ ${command##*/} == leakctl ]]; then
        _libleak_ctl
    elif [[ ${command##*/} == leakgraph ]]; then
        _libleak_graph
    else
        mapfile -t COMPREPLY < <(compgen -W 'diff merge preflight log' -- "$word"; compgen -f -- "$word")
    fi
}

# A command; then its options, and the processes that leaktop beside leakctl lists.
_libleak_ctl()
{
    local top=leaktop
    [[ $command == */* ]] && top=${command%/*}/leaktop
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" --help 2>/dev/null |
            awk '/^  [a-z]/ { print $1 }')" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" "${COMP_WORDS[1]}" --help 2>/dev/null |
            grep -o -e '--[a-z][a-z-]*=\{0,1\}' | sort -u)" -- "$word")
        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
    else
        mapfile -t COMPREPLY < <(compgen -W "$("$top" 2>/dev/null |
            awk 'NR > 1 { print $1; print $NF }')" -- "$word")
    fi
}

# A file, a command, and for diff another file.
_libleak_graph()
{
    if ((COMP_CWORD == 2)); then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" --help 2>/dev/null |
            awk '/^Options/ { exit } /^  [a-z]/ { print $1 }')" -- "$word")
    elif ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[2]-} == diff ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -o filenames -F _libleak leakrun leakreport leaktop leakctl leakgraph
