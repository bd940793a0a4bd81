# Names of code that a program makes while it runs, from the map that it writes for perf.

# ./jit [LINES]: a block is lost in each of two functions made at run time, at offsets 0 and 0x40 of one mapping; their map
# is written with the lines of a printf format, each with a | at its end, in which %1$lx is where the mapping begins, %2$lx where
# the second function does.
jit() {
    [ "$(uname -m)" = x86_64 ] || skip 'code for another CPU'
    compile jit -g -O0 <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
void *volatile sink;
__attribute__((noinline)) void called(void) { sink = malloc(48); sink = NULL; }
int main(int argc, char **argv) {
    /* push rbp; mov rbp, r12 (no frame); sub rsp, 0x40; mov rax, f; call rax; add rsp, 0x40; pop rbp; ret */
    unsigned char code[] = {0x55, 0x4c, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40, 0x48, 0xb8, 0, 0, 0, 0, 0,
                            0, 0, 0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x40, 0x5d, 0xc3};
    void (*f)(void) = called;
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char name[64];
    memcpy(code + 10, &f, 8);
    memcpy(page, code, sizeof code);
    memcpy(page + 0x40, code, sizeof code);
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    if (argc > 1) {
        FILE *map = fopen(name, "w");
        for (char *bar; (bar = strchr(argv[1], '|'));) *bar = '\n';
        fprintf(map, argv[1], (long)page, (long)page + 0x40);
        fclose(map);
    }
    ((void (*)(void))page)();
    ((void (*)(void))(page + 0x40))();
    memset(page, 0, 4096);
    FILE *out = fopen("pid", "w");
    fprintf(out, "%d", getpid());
    fclose(out);
    return 0;
}
END
}
run() { # map; its file is $map then
    leakrun --force --keep=jit.leak --no-report ./jit "$@"
    map=/tmp/perf-$(cat pid).map
    maps="${maps:-} $map"
    trap 'rm -f $maps' EXIT
}
report() { # options...: the text in out
    "$O/leakreport" jit.leak "$@" >out
}

test_generated_code_has_the_names_of_the_map() {
    jit
    run
    report
    says out '^     \[no module\]\+0x'
    run '%1$lx 40 first|%2$lx 40 second|'
    report
    says out 'by (first|second)\(\)$'
    report --apart
    says out '^     first$'
    says out '^     second$'
    silent_about out 'no module'
    equal 'records, for they are two functions' "$(grep -c '^[12]\. 48 bytes in 1 block' out)" 2
    report --format=json
    says out '"function": *"second"'
    cp out named.json
    run '%1$lx 40 second|0x%2$lx 0x40 first|'
    equal 'a run with the two swapped' "$(status_of "$O/leakreport" --baseline=named.json jit.leak)" 0
    run '%1$lx 40 first|%2$lx 40 third|'
    equal 'a run with another' "$(status_of "$O/leakreport" --baseline=named.json jit.leak)" 1
}
test_the_newest_line_of_a_place_counts() {
    jit
    run '%1$lx 80 old|%1$lx 40 second|%2$lx 10 too short|%1$lx 80 LazyCompile:*outer /srv/app.js:10:5|%1$lx 10 elsewhere|'
    report
    says out '^     outer  .*app\.js:10$'
    silent_about out 'old|second|short|elsewhere'
}
test_a_map_is_used_when_it_is_the_process_s() {
    jit
    run '%1$lx 80 named|'
    report
    says out named
    cp -p "$map" mine
    touch -d '-1 hour' "$map"
    report
    silent_about out named
    touch -d '+1 hour' "$map"
    report
    silent_about out named
    touch -r mine "$map" # when the process wrote it
    report
    says out named
    rm "$map"
    ln -s "$PWD/mine" "$map"
    report
    silent_about out named
    report --perf-map="$PWD/mine"
    says out named
    report --perf-map=/tmp/perf-%p.map
    says out named
    rm "$map"
    mkfifo "$map"
    report
    silent_about out named
    says out '^     \[no module\]\+0x'
    report --perf-map=none 2>err
    says err '^leakreport: --perf-map: none cannot be opened'
    says out ' lost=96/2/'
    if [ "$(id -u)" = 0 ]; then
        rm "$map"
        cp -p mine "$map"
        report
        says out named
        chown nobody "$map"
        report
        silent_about out named
    fi
}
test_java_methods_are_named() {
    need java javac
    cat >Leaks.java <<'END'
import java.util.zip.Deflater;
public class Leaks {
    static Object[] kept = new Object[50];
    static void makes(int i) {
        Deflater made = new Deflater();
        if (i < 50) kept[i] = made; else made.end();
    }
    public static void main(String[] arguments) {
        for (int i = 30000; i-- > 0;) makes(i);
        System.out.println(ProcessHandle.current().pid());
        System.exit(0);
    }
}
END
    javac Leaks.java
    leakrun --keep=java.leak --no-report java -Xmx200m -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit Leaks >pid 2>err ||
        skip 'this java writes no map'
    map=/tmp/perf-$(tail -n1 pid).map
    trap 'rm -f "$map"' EXIT
    [ -f "$map" ] || skip 'this java writes no map'
    grep -q 'Deflater\.init' "$map" || skip 'nothing was compiled'
    "$O/leakreport" --show=all --top=0 java.leak >out
    says out '^     java\.util\.zip\.Deflater\.init'
}
test_javascript_is_named_between_functions_of_cxx() {
    need node
    cat >leaks.js <<'END'
const zlib = require('zlib');
const kept = [];
function makesOne() { kept.push(zlib.createDeflate()); }
function makesAll() { for (let i = 0; i < 40; i++) makesOne(); }
makesAll();
console.log(process.pid);
process.exit(0);
END
    for how in cfi auto; do
        leakrun --unwind=$how --keep=$how.leak --no-report node --perf-basic-prof --interpreted-frames-native-stack leaks.js >pid 2>err ||
            skip 'this node writes no map'
        map=/tmp/perf-$(tail -n1 pid).map
        trap 'rm -f "$map"' EXIT
        grep -q makesOne "$map" || skip 'this node writes no map'
        "$O/leakreport" --format=heap --all-frames --full-names --top=100000 $how.leak >$how
        rm -f "$map"
    done
    says cfi 'ZlibStream::New'
    silent_about cfi 'makesOne|makesAll'
    awk -v RS= '/ZlibStream::New/ && /makesOne *.*leaks.js:3/ && /makesAll *.*leaks.js:4/ && /node::Start/' auto >whole
    [ -s whole ] || fail "no stack from C++ through JavaScript to main: $(grep -c makesOne auto) have makesOne"
}
