// on_error: what happens about a wrong release beside its record, for all kinds or one by one. abort is SIGABRT,
// which a handler of the program's may see, outside of libleak; trap is SIGTRAP, stop halts until SIGCONT; the
// record is there by then. A bad value is said and changes nothing.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: run() { (LIBLEAK_OPTIONS=$1; shift; %leak %t "$@" 2>err; echo "$LIBLEAK_OPTIONS $*: $?"; cat err); }
// RUN: run on_error=report; run on_error=abort; run on_error=trap; run on_error=report,size-mismatch=abort; run on_error=abort,mismatched-free=report; run on_error=abort handled; run on_error=abort,; run on_error=mismatched=abort; run on_error=explode; (LIBLEAK_OPTIONS=on_error=stop; %leak %t slow 2>err & pid=$!; until grep -q "^State:.T" /proc/$pid/status 2>/dev/null; do sleep 0.05; done; echo stopped; kill -CONT $pid; wait $pid; echo "went on: $?"); %run --on-error=mismatched-free=abort -q %t; echo "leakrun: $?"; :
// EXPECT: ^on_error=report : 0$
// EXPECT: ^on_error=abort : 134$
// EXPECT: ^on_error=trap : 133$
// EXPECT: ^on_error=report,size-mismatch=abort : 134$
// EXPECT: ^on_error=abort,mismatched-free=report : 134$
// EXPECT: ^on_error=abort handled: 7$
// EXPECT: ^on_error=abort, : 134$
// EXPECT: ^on_error=mismatched=abort : 0$
// EXPECT: ^on_error=explode : 0$
// EXPECT: ^libleak: bad value in 'on_error=explode': it takes report, stop, trap or abort
// EXPECT: ^libleak: mismatched-free: 40 bytes of new\[\] released by free \(on_error: abort\)$
// EXPECT: ^libleak: size-mismatch: sized delete says 1 byte of 40 bytes of new \(on_error: abort\)$
// EXPECT: ^stopped$
// EXPECT: ^went on: 0$
// EXPECT: ^leakrun: 134$
// JSON: [[e.type for e in misuse(q)] for q in procs[:7]] == [["mismatched-free", "size-mismatch"], ["mismatched-free"], ["mismatched-free"], ["mismatched-free", "size-mismatch"], ["mismatched-free", "size-mismatch"], ["mismatched-free"], ["mismatched-free"]]
// JSON: of("in_handler", procs[5]).blocks == 1 and all(named(q) for q in procs)

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

#define FAR __attribute__((noinline))
void *volatile sink;

FAR void in_handler() { sink = malloc(99); }
static void handle(int)
{
    in_handler();
    _exit(7);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "handled"))
        signal(SIGABRT, handle);
    sink = new char[40];
    free(sink);
    sink = operator new(40);
    if (argc == 1 || strcmp(argv[1], "slow"))
        operator delete(sink, (std::size_t)1);
}
