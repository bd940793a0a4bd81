# Where reports go: --to of leakreport and leakrun, report_to= of a program that reports itself.

# kept.leak: 48 bytes are lost. clean.leak: none.
accounts() {
    compile leaky -g -O0 <<'END'
#include <stdlib.h>
void *volatile sink;
int main(int argc, char **argv) { sink = malloc(48); if (argc == 1) sink = NULL; return 0; }
END
    leakrun --keep=kept.leak --no-report ./leaky
    leakrun --keep=clean.leak --no-report ./leaky holds
}
listen() { # kind, where, out: and has begun to listen
    need /usr/bin/python3
    mkfifo "ready.$1"
    /usr/bin/python3 "$here/listen.py" "$1" "$2" "$3" >"ready.$1" &
    listeners="${listeners:-} $!"
    trap 'kill $listeners 2>/dev/null || :' EXIT
    read -r word <"ready.$1"
    equal "the listener for $1" "$word" ready
}
end_log() { # path
    /usr/bin/python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"END", sys.argv[1])' "$1"
}
until_there() { # file
    until [ -e "$1" ]; do sleep 0.1; done
}
report() { "$O/leakreport" "$@"; }

test_every_target_has_the_same_text() {
    accounts
    listen unix ./stream by_unix
    listen tcp port by_tcp
    listen syslog ./log by_syslog
    listen syslog-stream ./log.stream by_syslog_stream
    listen journal ./journal by_journal
    report kept.leak >plain
    says plain '^libleak: pid=.* lost=48/1/1 '
    report kept.leak --to=stderr,stdout,file:by_file,fd:9,syslog:./log,syslog:./log.stream \
        --to=journal:./journal,socket:./stream,socket:127.0.0.1:"$(cat port)" \
        --to='command:cat >by_command; : and, more' 9>by_fd >by_stdout 2>by_stderr
    end_log ./log
    end_log ./journal
    for out in by_unix by_tcp by_syslog by_syslog_stream by_journal; do until_there $out; done
    for out in by_*[!s]; do
        case $out in
        *.heads) ;;
        *) cmp plain "$out" || fail "$out differs" ;;
        esac
    done
    equal 'the targets that were compared' "$(ls by_* | grep -vc heads)" 10
    equal 'heads of syslog' "$(sort -u by_syslog.heads)" '<12> leakreport'
    equal 'heads of a stream' "$(sort -u by_syslog_stream.heads)" '<12> leakreport'
    says by_journal.heads "^LIBLEAK_PID=[0-9]+ LIBLEAK_PROGRAM=$PWD/leaky PRIORITY=4 SYSLOG_FACILITY=1 SYSLOG_IDENTIFIER=leakreport SYSLOG_PID=[0-9]+$"
}
test_a_log_is_warned_of_leaks_alone() {
    accounts
    listen syslog ./log by_syslog
    listen journal ./journal by_journal
    report clean.leak --to=syslog:./log,journal:./journal
    end_log ./log
    end_log ./journal
    until_there by_syslog
    until_there by_journal
    says by_syslog ' lost=0/0/0 '
    equal heads "$(sort -u by_syslog.heads)" '<14> leakreport'
    says by_journal.heads ' PRIORITY=6 '
}
test_a_long_line_is_several_messages() {
    accounts
    listen syslog ./log by_syslog
    report kept.leak --format=ndjson >page
    report kept.leak --format=ndjson --to=syslog:./log
    end_log ./log
    until_there by_syslog
    equal 'the page without its newlines' "$(tr -d '\n' <by_syslog | cksum)" "$(tr -d '\n' <page | cksum)"
    equal 'messages above 900 bytes' "$(LC_ALL=C awk 'length > 900' by_syslog | wc -l)" 0
    [ "$(wc -l <by_syslog)" -gt "$(wc -l <page)" ] || fail 'no line of the page was long'
}
test_what_cannot_be_reached_is_said_and_nothing_is_lost() {
    accounts
    report kept.leak >plain
    echo mine >there
    for target in file:there file:no/such/folder fd:77 syslog:./none journal:./none socket:./none \
        socket:127.0.0.1:1 "socket:./$(printf '%0200d' 0)" 'command:exit 3' 'command:kill -9 $$' \
        command:/no/such/command; do
        status=0
        report kept.leak --to="$target" >out 2>err || status=$?
        equal "the status of $target" $status 0
        equal "stdout of $target" "$(cat out)" ''
        grep -Fq -e "leakreport: the report did not reach $target: " err || fail "not said of $target: $(cat err)"
        says err 'the report goes to stderr$'
        grep -v '^\(leakreport\|sh\|/bin/sh\): ' err | cmp - plain || fail "$target lost it"
        report kept.leak --to="stdout,$target" >out 2>err || status=$?
        equal "the status of stdout,$target" $status 0
        cmp out plain || fail "stdout has not all beside $target"
        equal "lines beside $target" "$(grep -cv '^\(sh\|/bin/sh\): ' err)" 1
    done
    equal 'what was there' "$(cat there)" mine
    says err 'the report did not reach command:/no/such/command: it ended with status 127$'
    report kept.leak --to=fd:9 9>/dev/full 2>err || fail 'a full disk'
    says err 'did not reach fd:9: No space left'
    equal 'no target has it' "$(status_of sh -c '"$1" kept.leak --to=fd:9,stderr 9>/dev/full 2>/dev/full' sh "$O/leakreport")" 2
}
test_what_is_no_target_is_refused() {
    accounts
    for bad in '' nowhere stderr, ,stderr fd fd: fd:x fd:1x socket socket: command command: stdout:x file: syslog:; do
        equal "the status of --to='$bad'" "$(status_of "$O/leakreport" --to="$bad" kept.leak)" 2
    done
    equal 'leakrun, before it runs' "$(status_of "$root/scripts/leakrun" --to=nowhere sh -c ': >ran')" 125
    equal 'leakrun and the option' "$(status_of "$root/scripts/leakrun" --report-to=nowhere sh -c ': >ran')" 125
    [ ! -e ran ] || fail 'it ran all the same'
}
test_a_file_of_the_list_is_o_s() {
    accounts
    report kept.leak -o one --to=stdout >out
    cmp one out || fail '-o is no target beside --to'
    report kept.leak -o two --to=file,stdout >out
    cmp two out || fail 'file is not the one of -o'
    equal 'files' "$(ls -d libleak.* 2>/dev/null | wc -l)" 0
    report kept.leak --to=file,stdout >out
    cmp libleak.leaky.*.1.txt out || fail 'file has no name of its own'
    report kept.leak --to=file,stdout >out
    cmp libleak.leaky.*.2.txt out || fail 'the number was not counted up'
    report kept.leak --to=file:one,stdout >/dev/null 2>err
    says err 'one exists'
    report kept.leak --append --to=file:one
    equal 'reports in one' "$(grep -c '^libleak: pid=' one)" 2
    report kept.leak --force --to=file:one
    equal 'reports in one' "$(grep -c '^libleak: pid=' one)" 1
}
test_a_text_that_cannot_be_read_is_said_and_is_no_report() {
    accounts
    echo 'made already' >made
    report kept.leak --text=made --to=stdout >out
    cmp made out
    for text in none .; do
        equal "the status of $text" "$(status_of "$O/leakreport" kept.leak --text=$text --to=stdout)" 2
        report kept.leak --text=$text >out 2>err || :
        equal "stdout of $text" "$(cat out)" ''
        says err "^leakreport: $text: "
    done
}
test_slow_readers_time_out() {
    accounts
    listen sleep ./asleep never
    # More than any socket or pipe holds.
    # shellcheck disable=SC2046
    set -- --format=json $(yes kept.leak | head -n 400)
    report "$@" >page
    [ "$(wc -c <page)" -gt 500000 ] || fail 'the page is too small to prove anything'
    report "$@" --to=socket:./asleep,stdout >out 2>err
    says err 'did not reach socket:\./asleep: Connection timed out$'
    cmp out page || fail 'others have to wait, and lose it'
}
test_a_command_may_stop_to_read() {
    accounts
    report kept.leak --format=html --to='command:head -c 10 >ten' 2>err
    equal 'what it read' "$(wc -c <ten)" 10
    equal 'words' "$(cat err)" ''
}
test_colour_is_for_terminals_alone() {
    accounts
    need script
    export TERM=xterm
    unset NO_COLOR
    script -qec "'$O/leakreport' kept.leak --to=stdout" /dev/null >seen
    grep -q "$(printf '\033\[')" seen || fail 'none on a terminal'
    script -qec "'$O/leakreport' kept.leak --to=stdout,file:plain" /dev/null >seen
    ! grep -q "$(printf '\033\[')" seen plain || fail 'colour where a file has the same text'
    script -qec "'$O/leakreport' kept.leak --format=pprof --to=stdout,file:binary" /dev/null >seen || :
    says seen 'nothing for a terminal'
    [ ! -e binary ] || fail 'a report that was refused was sent'
}
test_leakrun_sends_its_report_where_it_is_asked_to() {
    accounts
    leakrun --to=stdout,file:copy ./leaky >out 2>err
    says out ' lost=48/1/1 '
    cmp out copy
    equal stderr "$(cat err)" ''
    leakrun --report-to=stdout ./leaky >out 2>err
    says out ' lost=48/1/1 '
    equal stderr "$(cat err)" ''
    LIBLEAK_OPTIONS='report_to=stdout' leakrun ./leaky >out 2>err
    says out ' lost=48/1/1 '
    LIBLEAK_OPTIONS='report_to=stdout' leakrun --to=stderr ./leaky >out 2>err
    equal stdout "$(cat out)" ''
    says err ' lost=48/1/1 '
    leakrun --to=fd:8 ./leaky 8>by_fd 2>err
    says by_fd ' lost=48/1/1 '
    leakrun --to=stdout --no-report --error-exitcode=5 ./leaky >out || status=$?
    equal 'status without a report' "$status" 5
    equal 'without a report' "$(cat out)" ''
}
test_a_program_reports_where_it_is_asked_to() {
    accounts
    run() { # options, command...
        options=$1
        shift
        LD_PRELOAD="$O/libleak.so" LIBLEAK_OPTIONS="dir=$PWD/stores:report=exit:$options" "$@"
    }
    mkdir stores other
    run 'report_to=stdout,stderr,file:named.%e,fd:7' ./leaky 7>seven >out 2>err
    says out ' lost=48/1/1 '
    cmp out err && cmp out seven && cmp out named.leaky
    run "report_to='file,command:cat >piped':report_file=pattern.%p" ./leaky >out 2>err
    cmp pattern.* piped
    equal 'other words' "$(cat out err)" ''
    echo 'report_to=stdout,command:touch pwned' >.libleakrc
    run verbosity=0 ./leaky >out 2>err
    rm .libleakrc
    [ ! -e pwned ] || fail 'a file in the working directory had a command run'
    says err 'no command is taken from a file in the working directory$'
    says err ' lost=48/1/1 '
    run report_to=nowhere ./leaky >out 2>err
    says err "bad value in 'report_to=nowhere'"
    says err ' lost=48/1/1 '
}
test_a_descriptor_may_be_the_program_s_own() {
    compile opens -g -O0 <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
void *volatile sink;
int main(int argc, char **argv) {
    dup3(open("own", O_RDWR | O_CREAT, 0600), 41, O_CLOEXEC);
    dup2(41, 42);
    sink = malloc(48);
    sink = NULL;
    if (argc == 1) return 0;
    close(41);
    return 0;
}
END
    mkdir stores
    LD_PRELOAD="$O/libleak.so" LIBLEAK_OPTIONS="dir=$PWD/stores:report=exit:report_to='fd:41,fd:42'" ./opens 2>err
    equal 'reports in it' "$(grep -c ' lost=48/1/1 ' own)" 2
    equal stderr "$(cat err)" ''
    LD_PRELOAD="$O/libleak.so" LIBLEAK_OPTIONS="dir=$PWD/stores:report=exit:report_to='fd:41'" ./opens closes 2>err
    says err '^leakreport: the report did not reach fd:41: Bad file descriptor$'
    says err ' lost=48/1/1 '
}
test_descriptors_of_the_program_s_own_are_left_alone() {
    compile daemon -g -O0 <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
void *volatile sink;
int main(int argc, char **argv) {
    sink = malloc(48);
    sink = NULL;
    chdir("other");
    for (int fd = 1; fd < 3; fd++) {
        int data = open(fd == 1 ? "data1" : "data2", O_RDWR | O_CREAT, 0600);
        dup2(data, fd);
        close(data);
    }
    return 0;
}
END
    mkdir stores other
    for to in stdout stderr stdout,stderr stdout,file:rel stderr,fd:9,file:no/such/folder; do
        rm -f rel
        LD_PRELOAD="$O/libleak.so" LIBLEAK_OPTIONS="dir=$PWD/stores:report=exit:report_to='$to'" ./daemon >out 2>err
        equal "what $to wrote into the program's files" "$(cat other/data1 other/data2)" ''
    done
    LD_PRELOAD="$O/libleak.so" LIBLEAK_OPTIONS="dir=$PWD/stores:report=exit:report_to='stdout,file:rel'" ./daemon
    says rel ' lost=48/1/1 '
    equal 'where the program went' "$(ls other)" "$(printf 'data1\ndata2')"
}
