# Completion in real shells: what stands on the screen after a Tab.

begin_shell() { # bash, zsh or fish: an interactive one in a terminal, with the completion that was built
    need tmux "$1"
    mkdir -p home reports
    touch reports/old.json shop.leak notes.txt shop.prom
    cat >begin.bash <<END
PS1='ready '; . '$O/completion/libleak.bash'
END
    cat >home/.zshrc <<END
PS1='ready '; fpath=('$O/completion' \$fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep
END
    cat >begin.fish <<END
function fish_prompt; echo -n 'ready '; end; function fish_greeting; end
set -g fish_complete_path '$O/completion' \$fish_complete_path; set -g fish_autosuggestion_enabled 0
END
    case $1 in
    bash) command='bash --noprofile --rcfile begin.bash -i' ;;
    zsh) command='zsh -d -i' ;;
    fish) command='fish --no-config --private -C "source begin.fish"' ;;
    esac
    PATH=$root/scripts:$O:$PATH "$here/../terminal" open screen 200 50 C.UTF-8 \
        "export HOME='$PWD/home' ZDOTDIR='$PWD/home' XDG_RUNTIME_DIR='$XDG_RUNTIME_DIR' TERM=screen; exec $command"
    trap '"$here/../terminal" close screen' EXIT
    until "$here/../terminal" shown screen | grep -q ready; do sleep 0.1; done
}
clear_line() {
    "$here/../terminal" send screen C-c
    until [ "$("$here/../terminal" shown screen | sed '/^ *$/d; s/ *$//')" = ready ]; do
        "$here/../terminal" send screen C-u C-l
        sleep 0.1
    done
}
completes() { # what is typed, what the line becomes
    clear_line
    "$here/../terminal" send screen -l "$1"
    "$here/../terminal" send screen Tab
    for try in $(seq 120); do
        # A shell that was still drawing may have missed the key.
        [ $((try % 30)) != 0 ] || "$here/../terminal" send screen Tab
        "$here/../terminal" shown screen >seen
        # Where it ends, too: what may follow is a space, and what the shell itself removes when the next word is typed.
        if grep -qE "^ready $(printf %s "$2" | sed 's/[.^$*+?()|[\\]/\\&/g')[=,]? *\$" seen; then return; fi
        sleep 0.1
    done
    fail "'$1' did not become '$2': $(cat seen)"
}
offers() { # what is typed, words that are then on the screen...
    typed=$1
    clear_line
    "$here/../terminal" send screen -l "$typed"
    "$here/../terminal" send screen Tab Tab
    shift
    for word; do
        for _ in $(seq 80); do
            "$here/../terminal" shown screen >seen
            if sed 1d seen | grep -qE "(^|[^a-z-])$word([^a-z-]|\$)"; then continue 2; fi
            sleep 0.1
        done
        fail "'$typed' does not offer $word: $(cat seen)"
    done
}
shows_pid() { # what is typed, a pid: all but its last digit lead to it, among others if there are any
    clear_line
    "$here/../terminal" send screen -l "$1${2%?}"
    for _ in $(seq 40); do
        "$here/../terminal" send screen Tab
        sleep 0.2
        "$here/../terminal" shown screen >seen
        if grep -qE "(^|[^0-9])$2([^0-9]|\$)" seen; then return; fi
    done
    fail "'$1${2%?}' does not lead to $2: $(cat seen)"
}
completes_everything() { # shell
    begin_shell "$1"
    completes 'leakrun --error-ex' 'leakrun --error-exitcode'
    completes 'leakreport --format=js' 'leakreport --format=json'
    completes 'leakrun --format js' 'leakrun --format json'
    completes 'leakreport --sort=ret' 'leakreport --sort=retained'
    completes 'leaktop --sort=del' 'leaktop --sort=delta'
    completes 'leakreport --show=lost,hid' 'leakreport --show=lost,hidden'
    completes 'leakrun --errors-for=lost,grow' 'leakrun --errors-for=lost,growing'
    completes 'leakrun --log-format=mt' 'leakrun --log-format=mtrace'
    completes 'leaktop --openmetrics sho' 'leaktop --openmetrics shop.' # .prom and .leak
    completes 'leaktop --openmetrics=shop.p' 'leaktop --openmetrics=shop.prom'
    completes 'leakreport --debug-dir=rep' 'leakreport --debug-dir=reports/'
    completes 'leakctl sna' 'leakctl snapshot'
    completes 'leakctl report --no' 'leakctl report --no-look'
    completes 'leakreport hist' 'leakreport histogram'
    completes 'leakgraph shop.leak sus' 'leakgraph shop.leak suspects'
    completes 'leakctl clean --ol' 'leakctl clean --older'
    completes 'leakreport shop' 'leakreport shop.leak' # shop.prom is no report
    completes 'leakreport reports/o' 'leakreport reports/old.json'
    completes 'leakrun --top=3 leakrep' 'leakrun --top=3 leakreport'
    offers 'leakreport --format=' text sarif folded-blocks
    offers 'leakctl ' snapshot mark clean
    PATH=$PWD:$PATH LD_PRELOAD=$O/libleak.so sleep 100 &
    sleeper=$!
    trap 'kill $sleeper; "$here/../terminal" close screen' EXIT
    until "$O/leaktop" | grep -q sleep; do sleep 0.1; done
    completes 'leakctl mark slee' 'leakctl mark sleep'
    env -u LD_PRELOAD sleep 101 &
    alone=$!
    trap 'kill $sleeper $alone; "$here/../terminal" close screen' EXIT
    shows_pid 'leakctl attach ' "$alone"
    shows_pid 'leakctl scan ' "$alone"
    completes "leaktop ${sleeper%?}" "leaktop $sleeper"
    completes 'leakreport --last slee' 'leakreport --last sleep'
}
test_completion_in_bash() { completes_everything bash; }
test_completion_in_zsh() { completes_everything zsh; }
test_completion_in_fish() { completes_everything fish; }
