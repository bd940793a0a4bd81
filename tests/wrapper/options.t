# The command line: nothing is read and ignored, nothing is overwritten.

leaky='#include <stdlib.h>
void *volatile sink;
int main(void) { sink = malloc(48); sink = NULL; return 0; }'
# A function of libc calls the one that leaks; a signal ends the program.
hidden='#include <signal.h>
#include <stdlib.h>
void *volatile sink;
static int order(const void *a, const void *b) { sink = malloc(48); return sink = NULL, *(char *)a - *(char *)b; }
int main(void) { char both[2] = "ba"; qsort(both, 2, 1, order); return raise(SIGTERM); }'

test_help_and_version() {
    leakrun --help >help
    says help '^usage: leakrun '
    awk 'length > 80 { print; bad = 1 } END { exit bad }' help
    for name in keep no-report cwd gdb force error-exitcode depth site-stacks max-memory format top; do
        says help "^ .*--$name"
    done
    leakrun --version | grep -q '^leakrun (libleak) [0-9]'
}
test_wrong_lines_end_with_125_and_a_hint() {
    wrong() {
        words=$1
        shift
        status=0
        leakrun "$@" >out 2>err || status=$?
        equal "status of $*" $status 125
        equal "lines for $*" "$(wc -l <err)" 1
        says err "$words"
    }
    wrong 'no program to run'
    wrong 'no such option: --nonsense' --nonsense true
    wrong 'no such option: -z' -z true
    wrong 'did you mean --error-exitcode?' --eror-exitcode=3 true
    wrong 'did you mean --max-memory?' --max_memroy=3 true
    wrong 'needs a value: --keep' --keep
    wrong 'takes no value: --gdb=1' --gdb=1 true
    wrong 'takes a number from 1 to 255' --error-exitcode=0 true
    wrong 'takes a number from 1 to 255' --error-exitcode=256 true
    wrong 'takes a number from 1 to 255' --error-exitcode=x true
    wrong '77 is refused' --error-exitcode=77 true
    wrong 'give --error-exitcode' --errors-for=lost true
    wrong 'leakrun always reports' --report=exit true
    wrong '^leakrun: --min-size=5x: it takes bytes' --min-size=5x true
    wrong 'depth=: it takes a number' --depth= true
    wrong 'enabled=maybe: it takes on, off' --enabled=maybe true
    wrong 'follow=all: it takes inherit, force, none' --follow all true
    wrong "top takes a number .* not 'x'" --top=x true
    wrong 'did you mean --format?' --formt=json true
    wrong 'no such format: xmls; did you mean xml?' --format=xmls true
    wrong 'no such format: poetry \(' --format=poetry true
    wrong 'no such verdict: losd; did you mean lost?' --error-exitcode=9 --errors-for=losd true
    wrong 'no such verdict: poetry; it is one of lost, .*, growing, resources ' --error-exitcode=9 --errors-for=poetry true
}
test_misspelt_words_of_each_tool_get_a_suggestion() {
    suggests() { # what, tool, words...
        what=$1
        shift
        tool=$1
        shift
        if [ "$tool" = leakrun ]; then leakrun "$@" >said 2>&1; else "$O/$tool" "$@" >said 2>&1; fi && fail "$tool $* passes"
        equal "lines of $tool $*" "$(wc -l <said)" 1
        says said "$what"
    }
    suggests 'did you mean --format\?' leakrun --formt=json true
    suggests 'did you mean --format\?' leakreport --fromat=json x
    suggests 'did you mean lost\?' leakreport --show=lots x
    suggests 'did you mean histogram\?' leakreport histgram x
    suggests 'did you mean core\?' leakreport cor x
    suggests 'did you mean --sort\?' leaktop --sorrt=delta
    suggests "--sort takes .* delta .*, not 'delt'" leaktop --sort=delt
    suggests 'did you mean snapshot\?' leakctl snapshut 1
    suggests 'did you mean --graph\?' leakctl snapshot --grpah=x 1
    suggests 'did you mean suspects\?' leakgraph x suspcts
    suggests 'did you mean --top\?' leakgraph --tpo=3 x
    # What is nothing like a command is a file, and so is one that exists.
    suggests "^leakreport: poetry cannot be opened" leakreport poetry
    : >cor
    suggests '^leakreport: cor ' leakreport cor
    silent_about said 'did you mean'
}
test_options_of_valgrind_and_heaptrack_are_understood_or_answered() {
    echo "$leaky" | compile leaky
    leakrun --tool=memcheck --leak-check=full --num-callers=30 --track-fds=yes --show-leak-kinds=definite,possible \
        --trace-children=yes --error-exitcode=9 -o report ./leaky || equal status $? 9
    says report '^libleak: pid=.* lost=48/1/1 '
    leakrun --show-leak-kinds=none -o report2 ./leaky
    silent_about report2 ' lost \(malloc'
    answers() { # what, options...
        words=$1
        shift
        equal "status of $*" "$(status_of leakrun "$@" ./leaky)" 125
        leakrun "$@" ./leaky 2>err || :
        equal "lines for $*" "$(wc -l <err)" 1
        says err "$words"
    }
    answers 'here --depth=N' --num-callers=500
    answers 'always checks completely' --leak-check=no
    answers 'here --format=xml' --xml=yes
    answers 'not uninitialised values' --track-origins=yes
    answers 'with definite, indirect' --show-leak-kinds=definit
    answers 'no such option: -p \(heaptrack.s; leakrun starts programs' -p 1
    answers 'here --keep=FILE.leak --no-report' --record-only
    leakrun --help >help
    silent_about help 'leak-kinds|heaptrack'
}
test_keep_copies_what_leakreport_reads() {
    echo "$leaky" | compile leaky
    leakrun --keep=k.leak --no-report ./leaky 2>err
    equal 'words with --no-report' "$(cat err)" ''
    "$O/leakreport" k.leak >report
    says report '^libleak: pid=.* lost=48/1/1 .* unfreed=0/0/0 '
    [ "$(du -k k.leak | cut -f1)" -lt 4096 ] || fail "the copy is large: $(du -k k.leak)"
}
test_keep_copies_children_too() {
    leakrun --keep=k.leak --no-report sh -c 'ls >/dev/null; ls >/dev/null; exit 0'
    [ -e k.leak ] || fail "no k.leak"
    equal 'children kept' "$(ls k.[0-9]*.leak | wc -l)" 2
}
test_keep_refuses_to_overwrite() {
    echo mine >k.leak
    status=0
    leakrun --keep=k.leak sh -c ': >ran' 2>err || status=$?
    equal status $status 125
    says err 'k.leak.*--force'
    [ ! -e ran ] || fail "it ran all the same"
    equal content "$(cat k.leak)" mine
    leakrun --force --keep=k.leak --no-report true
    "$O/leakreport" k.leak >/dev/null
}
test_output_refuses_to_overwrite() {
    echo mine >report
    status=0
    leakrun -o report sh -c ': >ran' 2>err || status=$?
    equal status $status 125
    [ ! -e ran ] || fail "it ran all the same"
    equal content "$(cat report)" mine
    says err 'report'
    leakrun --force -o report true
    says report '^libleak: pid='
    mkfifo pipe
    cat pipe >piped &
    leakrun -o pipe true
    wait
    says piped '^libleak: pid='
    leakrun -o /dev/null true 2>err
    equal 'words about a device' "$(cat err)" ''
}
test_report_goes_to_stderr_only() {
    echo "$leaky" | compile leaky
    equal stdout "$(leakrun ./leaky 2>err)" ''
    says err '^libleak: pid=.* lost=48/1/1 .* unfreed=0/0/0 '
    equal 'last line' "$(tail -n1 err | cut -c1-13)" 'libleak: pid='
}
test_report_names_a_next_command_that_works() {
    echo "$leaky" | compile leaky
    leakrun ./leaky 'a b' 2>err
    says err "^Next: leakrun --when-lost ./leaky 'a b'\$"
    leakrun ./leaky "$(printf 'a\nb')" 2>err || :
    says err '^Next: run it again with leakrun --when-lost$'
    leakrun sh -c './leaky a; ./leaky b; exit' 2>err
    equal 'commands for three processes' "$(grep -c '^Next:' err)" 1
    leakrun true 2>err
    silent_about err '^Next:'
    echo "$hidden" | compile hidden
    leakrun --keep=k.leak ./hidden 2>err || :
    next=$(sed -n 's/^Next: leakreport //p' err)
    # shellcheck disable=SC2086
    "$O/leakreport" $next >report
}
# Where the report marks no function of a lost block, another run that follows it tells more. Not where it marks one, nor
# after such a run, nor when a signal ended the program, which might run for ever then. All frames are shown next only
# where frames with names are hidden.
test_blocks_without_a_marked_function_are_followed_next() {
    echo "$leaky" | compile leaky
    leakrun ./leaky 2>err
    says err '^Next: leakrun --when-lost ./leaky$'
    leakrun --when-lost ./leaky 2>err
    says err '^     lost in main '
    silent_about err '^Next:'
    leakrun --sample=1 --all-frames ./leaky 2>err
    says err '^Next: leakrun --format=json ./leaky$'
    compile freed <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void *make(void) { return malloc(48); }
void *volatile sink;
int main(void)
{
    for (int i = 0; i < 9; i++) {
        sink = make();
        if (i % 3)
            free(sink);
    }
    return sink = NULL, 0;
}
END
    leakrun ./freed 2>err
    says err 'freed in main'
    says err '^Next: leakrun --when-lost ./freed$'
    compile second <<'END'
#include <stdlib.h>
void *volatile sink;
__attribute__((noinline)) static void *make(void) { return malloc(480); }
__attribute__((noinline)) static void work(int forget)
{
    sink = make();
    if (!forget)
        free(sink);
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 9; i++)
        work(i % 3 == 0);
    if (argc == 1)
        sink = malloc(48);
    return sink = NULL, 0;
}
END
    leakrun ./second marked 2>err
    says err '^   > work '
    silent_about err '^Next:'
    leakrun ./second 2>err
    says err '^Next: leakrun --when-lost=2 ./second$'
    leakrun --when-lost=2 ./second 2>err
    says err '^     lost in main '
    compile killed <<'END'
#include <signal.h>
#include <stdlib.h>
void *volatile sink;
int main(void) { sink = malloc(48); sink = NULL; return raise(SIGTERM); }
END
    leakrun ./killed 2>err || :
    says err '^48 bytes in 1 block lost'
    silent_about err '^Next:'
    echo "$hidden" | compile hidden
    leakrun ./hidden 2>err || :
    says err '^Next: leakrun --all-frames ./hidden$'
}
test_format_is_handed_on() {
    need python3
    leakrun --format=json -o j true
    python3 -c 'import json; assert json.load(open("j"))["format"] == "libleak"'
    leakrun --format json -o j2 true
    for format in $("$O/leakreport" --help | sed -n '/^Formats:/,/^$/s/^  *\([a-z-]*\)  .*/\1/p'); do
        leakrun --format="$format" -o "r.$format" true || fail "$format: $?"
        [ -e "r.$format" ] || fail "no report as $format"
        formats="${formats-} $format"
    done
    equal 'two of them' "$(echo "$formats" | grep -o -w -e text -e xml | tr '\n' ' ')" 'text xml '
}
test_suppressions_are_handed_on() {
    echo "$leaky" | compile leaky -g -fno-builtin
    echo 'leak:^main$' >known
    echo 'leak:nowhere' >others
    equal 'leaky' "$(status_of leakrun --error-exitcode=9 ./leaky)" 9
    equal 'another' "$(status_of leakrun --error-exitcode=9 --suppressions=others ./leaky)" 9
    leakrun --error-exitcode=9 --suppressions others --suppressions=known -v ./leaky 2>err ||
        fail "a known leak counts: $?, $(cat err)"
    says err '^Suppressed: 48 bytes in 1 block by 1 rule \(--show-suppressed\)\.$'
    says err '^ *48 bytes in 1 block: leak:\^main\$ \(known:1\)$'
    says err '^ *leak:nowhere \(others:1\)$'
    says err ' lost=0/0/0 '
    silent_about err '1\. 48 bytes'
    leakrun --suppressions=known --show-suppressed ./leaky 2>err
    says err '^1\. 48 bytes'
    says err 'suppressed by leak:\^main\$ \(known:1\)'
}
test_mistakes_in_suppressions_are_said_before_the_program_runs() {
    echo 'leak:good' >broken
    echo 'laek:bad' >>broken
    status=0
    leakrun --suppressions=broken touch ran >out 2>err || status=$?
    equal 'status' $status 125
    equal 'lines' "$(wc -l <err)" 1
    says err "broken:2: neither leak:PATTERN nor .*'laek:bad'"
    [ ! -e ran ] || fail 'it was run'
    equal 'no such file' "$(status_of "$O/leakreport" --suppressions=missing /dev/null)" 2
}
test_error_exitcode() {
    echo "$leaky" | compile leaky
    equal 'leaks' "$(status_of leakrun --error-exitcode=9 --errors-for=lost ./leaky)" 9
    equal 'leaks, by default' "$(status_of leakrun --error-exitcode=9 ./leaky)" 9
    equal 'no such leaks' "$(status_of leakrun --error-exitcode=9 --errors-for=unfreed ./leaky)" 0
    equal 'no leak check' "$(status_of leakrun --exit-look=off --error-exitcode=9 --errors-for=lost ./leaky)" 0
    equal 'no leak check, and that counts' "$(status_of leakrun --exit-look=off --error-exitcode=9 --errors-for=unfreed ./leaky)" 9
    equal 'failed itself' "$(status_of leakrun --error-exitcode=9 --errors-for=lost sh -c './leaky; exit 4')" 4
    equal 'a child leaks' "$(status_of leakrun --error-exitcode=9 --errors-for=lost sh -c './leaky; exit 0')" 9
    equal 'without a report' "$(status_of leakrun --no-report --error-exitcode=9 --errors-for=lost ./leaky)" 9
}
test_lost_blocks_of_no_bytes_count() {
    echo 'int main(int c, char **v) { free(malloc(0)); return c > 1 && !malloc(0); }' | compile none
    equal 'freed' "$(status_of leakrun --error-exitcode=9 ./none)" 0
    equal 'lost' "$(status_of leakrun --error-exitcode=9 ./none lose)" 9
    leakrun ./none lose 2>err
    says err '^1\. 0 bytes in 1 block lost '
}
test_error_exitcode_never_passes_without_an_answer() {
    mkdir parts base
    cp "$O/leakwatch" "$O/libleak.so" parts/
    equal 'no leakreport' "$(status_of parts/leakwatch --dir="$PWD/base" --error-exitcode=9 sh -c :)" 125
}
test_cut_off_recording_is_124_only_when_asked() {
    echo 'int main(void) { static void *kept[99]; for (int i = 0; i < 99; i++) kept[i] = malloc(i); }' | compile holds
    echo "$leaky" | compile leaky
    leakrun --keep=whole.leak --no-report ./holds
    leakrun --keep=other.leak --no-report ./holds
    leakrun --keep=leaky.leak --no-report ./leaky
    head -c 20000 whole.leak >cut.leak
    report() { "$O/leakreport" "$@"; }
    equal 'whole' "$(status_of report --error-exitcode=9 whole.leak)" 0
    equal 'not asked' "$(status_of report cut.leak)" 0
    status=0
    report --error-exitcode=9 -q cut.leak >out 2>err || status=$?
    equal 'cut off' $status 124
    equal 'lines' "$(wc -l <err)" 1
    says err '^leakreport: pid [0-9]+ \(holds\): its recording file is cut off: leaks may be missing, so exit status 124$'
    equal 'for errors' "$(status_of report --error-exitcode=9 --errors-for=errors cut.leak)" 124
    equal 'a leak is a leak' "$(status_of report --error-exitcode=9 cut.leak leaky.leak)" 9
    equal 'diff' "$(status_of report diff --error-exitcode=9 whole.leak cut.leak)" 124
    equal 'diff with what was' "$(status_of report diff --error-exitcode=9 cut.leak whole.leak)" 0
    equal 'merge' "$(status_of report merge --error-exitcode=9 leaky.leak cut.leak)" 9
    equal 'merge without a leak' "$(status_of report merge --error-exitcode=9 other.leak cut.leak)" 124
    report --format=json -o base.json whole.leak
    equal 'baseline' "$(status_of report --baseline=base.json --error-exitcode=9 cut.leak)" 124
    equal 'baseline alone' "$(status_of report --baseline=base.json cut.leak)" 0
    equal 'unreadable' "$(head -c 99 whole.leak >little.leak; status_of report --error-exitcode=9 little.leak)" 2
}
test_error_exitcode_is_124_when_leaks_of_a_process_may_be_missing() {
    echo "$leaky" | compile leaky
    echo 'int main(int c, char **v) { if (c > 2) malloc(9); free(malloc(9)); close(open(v[1], 0101, 0600)); pause(); }' | compile waits
    echo 'int main(void) { static void *kept[1000000]; for (int i = 0; i < 1000000; i++) kept[i] = malloc(16); }' | compile holds
    asked() { status_of leakrun --error-exitcode=9 "$@"; }
    killed='rm -f up; ./waits up with & while [ ! -e up ]; do sleep 0.02; done; kill -9 $!; wait $!; exit 0'
    equal 'killed' "$(asked sh -c "$killed")" 124
    leakrun -q --error-exitcode=9 sh -c "$killed" 2>err || :
    says err '^leakreport: pid [0-9]+ \(waits\): no leak check was made: SIGKILL.*: leaks may be missing, so exit status 124$'
    equal 'killed, not asked' "$(status_of leakrun sh -c "$killed")" 0
    equal 'killed, without a report' "$(asked --no-report sh -c "$killed")" 124
    equal 'killed, other findings wanted' "$(asked --errors-for=errors sh -c "$killed")" 0
    equal 'killed, no leak check wanted' "$(asked --exit-look=off --errors-for=lost sh -c "$killed")" 0
    equal 'killed, nothing was live' "$(asked sh -c "$(echo "$killed" | sed 's/ with / /')")" 0
    equal 'killed, and another leaks' "$(asked sh -c "./leaky; $killed")" 9
    equal 'killed, and the program failed' "$(asked sh -c "./leaky; ${killed%exit 0} exit 3")" 3
    equal 'still running' "$(asked sh -c './waits still with >/dev/null 2>&1 & echo $! >pid; while [ ! -e still ]; do sleep 0.02; done')" 0
    kill "$(cat pid)"
    # shellcheck disable=SC2016
    equal 'unreadable' "$(asked sh -c 'true; env true; for f in "${LIBLEAK_OPTIONS#dir=}"; do for s in "${f%%:*}"/true.*; do echo >$s; done; done')" 124
    equal 'no memory' "$(asked --max-memory=4m ./holds)" 124
    equal 'all is held' "$(asked ./holds)" 0
    equal 'never enabled' "$(asked --start=off ./holds)" 124
    equal 'nothing is missing' "$(asked sh -c 'ls /; env true; ls | cat')" 0
}
test_a_name_of_only_that_nothing_has_is_124() {
    echo "$leaky" >leaky.c
    cc -g -o leaky leaky.c
    compile clean -Wl,--no-as-needed -lm <<'END'
#include <stdlib.h>
int main(void) { free(malloc(9)); return 0; }
END
    asked() { status_of leakrun -q --error-exitcode=9 "$@"; }
    for name in module:leaky module:leak* function:main file:leaky.c; do
        equal "$name leaks" "$(asked --only=$name ./leaky)" 9
        equal "$name is nowhere" "$(asked --only=$name true)" 124
        equal "$name is in a child" "$(asked --only=$name sh -c './leaky; true')" 9
    done 2>/dev/null
    leakrun -q --error-exitcode=9 --only=module:leakly ./leaky 2>err && status=0 || status=$?
    equal 'misspelt' $status 124
    says err '^leakreport: --only=module:leakly: no process loaded such a module, so exit status 124$'
    leakrun -q --only=module:leakly ./leaky 2>err
    says err '^leakreport: --only=module:leakly: no process loaded such a module$'
    equal 'one of two is enough' "$(asked --only=module:leakly --only=module:leaky ./leaky)" 9
    equal 'each key needs one' "$(asked --only=module:leaky --only=function:mian ./leaky 2>/dev/null)" 124
    equal 'what must not match' "$(asked --only='module:!leakly' ./leaky)" 9
    equal 'no leak in it' "$(asked --only=module:clean ./clean)" 0
    equal 'what allocates nothing' "$(asked --only=module:libm.so.6 ./clean)" 0
    equal "a thread" "$(asked --only=thread:T1 ./leaky)" 9
    equal "no thread" "$(asked --only=thread:T9 ./leaky 2>/dev/null)" 124
    equal 'a range' "$(asked --only=size:1m- ./leaky)" 0
    for name in modules=leaky functions=main threads=T1 modules=leakly,leaky modules=-leakly; do
        equal "$name leaks" "$(asked --$name ./leaky)" 9
    done
    equal 'no such modules' "$(asked --modules=leakly ./leaky 2>/dev/null)" 124
    equal 'no such functions' "$(asked --functions=mian,+minn ./leaky 2>/dev/null)" 124
    equal 'each list needs one' "$(asked --only=module:leaky --modules=leakly ./leaky 2>/dev/null)" 124
    leakrun -q --functions=mian ./leaky 2>err
    says err '^leakreport: --functions=mian: no recorded call stack has such a function$'
    equal 'its own failure' "$(asked --only=module:leakly sh -c 'exit 3')" 3
    equal 'no kind' "$(asked --only=kind:mallok ./leaky 2>/dev/null)" 125
}
test_dir_of_the_environment_is_honoured() {
    mkdir 'a:b' c
    LIBLEAK_OPTIONS="depth=9:dir='$PWD/a:b'" leakrun -v -o r1 true 2>err
    says err "recording files are in $PWD/a:b/"
    LIBLEAK_DIR=c leakrun -v -o r2 true 2>err
    says err "recording files are in $PWD/c/"
}
test_of_two_dirs_in_the_environment_that_of_libleak_dir_is_taken() {
    mkdir option variable line
    export LIBLEAK_OPTIONS="dir=$PWD/option"
    LIBLEAK_DIR=variable leakrun -v -o r1 true 2>err
    says err "recording files are in $PWD/variable/"
    leakrun -v -o r2 true 2>err
    says err "recording files are in $PWD/option/"
    LIBLEAK_DIR=variable leakrun --dir=line -v -o r3 true 2>err
    says err "recording files are in $PWD/line/"
    LIBLEAK_DIR= leakrun -v -o r4 true 2>err
    says err "recording files are in $PWD/.run/"
}
test_nothing_tracked_is_124_only_when_asked() {
    # Its free is too short to be redirected.
    compile own <<'END'
static char heap[1 << 16];
static unsigned long used;
void *malloc(unsigned long n) { void *p = heap + used; used += (n + 15) & ~15ul; return p; }
__asm__(".text; .globl free; .type free, %function; free: ret; .size free, 1; .globl behind; .type behind, %function; behind: ret");
void *volatile sink;
int main(int argc, char **argv) { sink = malloc(10); return argc > 1; }
END
    equal 'asked' "$(status_of leakrun --error-exitcode=9 ./own)" 124
    equal 'not asked' "$(status_of leakrun ./own)" 0
    equal 'its own failure' "$(status_of leakrun --error-exitcode=9 ./own fails)" 1
    leakrun ./own 2>err
    silent_about err '[Nn]o (leaks|allocations)'
    says err '^WARNING: 0 allocations seen: libleak saw nothing of this program\.$'
}
test_a_program_that_needs_no_heap_passes() {
    echo 'int main(int argc, char **argv) { return argc > 1 ? 3 : 0; }' | compile none
    equal 'asked' "$(status_of leakrun --error-exitcode=9 --errors-for=all ./none)" 0
    equal 'its own failure' "$(status_of leakrun --error-exitcode=9 ./none fails)" 3
    leakrun --error-exitcode=9 ./none 2>err
    says err '^none \(pid [0-9]+\) exited with 0:$'
    says err '^no allocations$'
    silent_about err 'WARNING|could be tracked|unknown'
    for format in valgrind lsan short github markdown junit; do
        leakrun --format=$format ./none 2>err
        silent_about err '0 allocations seen'
    done
}
test_a_copy_under_another_name_has_the_same_signatures() {
    need jq
    compile leaky -g <<'END'
void *volatile sink;
__attribute__((noinline)) void forget(int n) { sink = malloc(n); sink = 0; }
__attribute__((noinline)) void other(int n) { sink = malloc(n); sink = 0; }
int main(int argc, char **argv) { forget(10); if (argc > 1) other(20); free(malloc(1)); return 0; }
END
    strip -o bare leaky
    mkdir place
    for program in leaky bare; do
        cp $program place/renamed
        leakrun --format=json -o base.json --force ./$program
        leakrun --format=json -o copy.json --force place/renamed
        equal "signatures of $program" "$(jq -c '[.processes[].records[].signature]' copy.json)" "$(jq -c '[.processes[].records[].signature]' base.json)"
        leakrun --gen-suppressions=libleak ./$program 2>known
        equal 'baseline' "$(status_of leakrun --baseline=base.json --error-exitcode=9 place/renamed)" 0
        equal 'suppressed' "$(status_of leakrun --suppressions=known --error-exitcode=9 place/renamed)" 0
        equal 'another leak, baseline' "$(status_of leakrun --baseline=base.json --error-exitcode=9 place/renamed more)" 9
        equal 'another leak, suppressed' "$(status_of leakrun --suppressions=known --error-exitcode=9 place/renamed more)" 9
    done
}
test_runtime_options_reach_the_program() {
    leakrun --site-stacks=off --min-size 16 -o report sh -c 'echo "$LIBLEAK_OPTIONS"' >out
    says out 'site_stacks=off:min_size=16:'
}
test_unusable_dir_is_said_and_another_used() {
    : >file
    equal status "$(status_of leakrun --dir=file/none true)" 0
    leakrun --dir=none true 2>err
    says err 'cannot keep recording files in none'
    says err '^libleak: pid='
}
test_dir_with_strange_characters() {
    mkdir 'a b:c'
    leakrun --dir='a b:c' --keep=k.leak -o report sh -c 'exit 6' 2>err || equal status $? 6
    equal stderr "$(cat err)" ''
    [ -e k.leak ] || fail "no recording file"
    equal sessions "$(sessions 'a b:c')" 0
}
test_missing_leakreport_is_survived() {
    mkdir parts base
    cp "$O/leakwatch" "$O/libleak.so" parts/
    status=0
    parts/leakwatch --dir="$PWD/base" sh -c 'exit 8' 2>err || status=$?
    equal status $status 8
    says err 'leakreport is missing'
    account=$(sed -n 's/.*recording file kept: leakreport //p' err)
    "$O/leakreport" "$account" >report
    rm parts/libleak.so
    equal 'without libleak.so' "$(status_of parts/leakwatch true)" 125
}
test_gdb_runs_only_the_program_under_libleak() {
    need gdb
    echo "$leaky" | compile leaky -g
    printf 'set confirm off\nshell echo "gdb has: $LD_PRELOAD"\nrun\nquit\n' >script
    HOME=$PWD DEBUGINFOD_URLS='' leakrun --gdb -o report ./leaky <script >out 2>&1 || :
    says out 'gdb has: $'
    says report 'leaky'
    says report '^libleak: pid=.* lost=48/1/1 .* unfreed=0/0/0 '
}
test_only_what_fits_counts() {
    compile several -g -fno-builtin <<'END'
#include <stdlib.h>
#include <pthread.h>
void *volatile sink;
__attribute__((noinline)) static void parse(void) { sink = malloc(10); sink = malloc(10); }
__attribute__((noinline)) static void load(void) { sink = malloc(5000); }
static void *work(void *unused) { sink = calloc(1, 300); return unused; }
int main(void) {
    pthread_t thread;
    parse(); load();
    pthread_create(&thread, NULL, work, NULL), pthread_join(thread, NULL);
    sink = NULL;
    return 0;
}
END
    leakrun --keep=several.leak --no-report ./several
    lost() { # wanted, options...
        wanted=$1
        shift
        "$O/leakreport" "$@" several.leak >out
        says out "lost=$wanted "
    }
    lost 5320/4/3
    lost 20/2/1 --only=function:pars?
    lost 5300/2/2 '--only=function:!parse'
    lost 5020/3/2 --only=function:parse --only=function:load
    lost 0/0/0 --only=function:parse --only=size:11-
    lost 5300/2/2 --only=size:11-
    lost 300/1/1 --only=size:11-1k
    lost 20/2/1 --only=blocks:2
    lost 5000/1/1 --only=bytes:4k-
    lost 300/1/1 --only=thread:T2
    lost 5020/3/2 '--only=thread:!T2'
    lost 5320/4/3 --only=module:several
    lost 0/0/0 --only=module:lib*
    lost 5020/3/2 --only=kind:malloc --only=thread:T1
    lost 0/0/0 --only=age:1h-
    lost 5320/4/3 --only=age:-1h
    says out '^libleak: '
    "$O/leakreport" --only=function:parse several.leak >out
    says out '^Suppressed: 5,300 bytes in 2 blocks by 1 rule'
    equal 'the status of what fits' "$(status_of "$O/leakreport" --error-exitcode=3 --only=function:load several.leak)" 3
    equal 'and of nothing' "$(status_of "$O/leakreport" --error-exitcode=3 --only=bytes:1m- several.leak)" 0
    equal 'and of a name that nothing has' "$(status_of "$O/leakreport" --error-exitcode=3 --only=function:none several.leak)" 124
    for bad in function parse:x size:x size:5-x age:5k size: 'bytes:-'; do
        equal "the status of $bad" "$(status_of "$O/leakreport" "--only=$bad" several.leak)" 2
    done
}
test_records_come_in_the_order_asked_for() {
    need jq
    compile ordered -g -fno-builtin <<'END'
#include <stdlib.h>
#include <unistd.h>
void *volatile sink;
__attribute__((noinline)) static void early(void) { sink = malloc(10); }
__attribute__((noinline)) static void large(void) { sink = malloc(3000); }
__attribute__((noinline)) static void often(void) { sink = malloc(20); }
__attribute__((noinline)) static void *deep(void) { return calloc(1, 1000); }
__attribute__((noinline)) static void keeper(void) { void **all = calloc(4, 8); for (int i = 0; i < 4; i++) all[i] = deep(); sink = all; }
int main(void) {
    early();
    usleep(300000);
    large();
    for (int i = 0; i < 9; i++) often();
    keeper();
    sink = NULL;
    return 0;
}
END
    leakrun --keep=ordered.leak --no-report ./ordered
    order() { # key, functions
        "$O/leakreport" --format=json "--sort=$1" ordered.leak |
            jq -r '[.processes[0].records[] | select(.verdict == "lost") | .frames[] | select(.user) | .function] | join(" ")' >got
        equal "by $1" "$(cat got)" "$2"
    }
    order retained 'keeper large often early'
    order bytes 'large often keeper early'
    order count 'often keeper large early'
    "$O/leakreport" --format=json --sort=age ordered.leak | jq -r '.processes[0].records[0].frames[] | select(.user) | .function' >got
    equal 'the oldest' "$(cat got)" early
}
