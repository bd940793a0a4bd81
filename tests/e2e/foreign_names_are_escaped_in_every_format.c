// Names that turn the direction of writing, have no width or begin an escape sequence stand in every format, and in the
// line of a live error, as an escape that a reader sees; a name in another alphabet stands as it is.
//
// NEEDS: gzip
// ENV: LIBLEAK_OPTIONS=live_errors=on
// RUN: odd=$(printf 'odd\342\200\256\033[31m\342\200\213\302\233\377\327\242'); mv %t "./$odd"
// RUN: %leak "./$odd" "arg$odd" 2>live
// RUN: check() { if LC_ALL=C grep -aqP '\x1b|\xe2\x80[\x8b\xae]|(^|[^\xc3])\xc2\x9b'; then echo "raw in $1"; else echo "safe $1"; fi; }
// RUN: check 'the live line' <live; cat live
// RUN: for f in text short full heap json ndjson html sarif folded xml valgrind lsan junit github markdown memreport; do
// RUN:   %report --show=all --format=$f store/*.leak >$f; check $f <$f; done
// RUN: %report --format=pprof store/*.leak | gzip -dc | LC_ALL=C grep -aqP "\xe2\x80[\x8b\xae]|\x1b\\[" && echo "raw in pprof"
// RUN: export LIBLEAK_OPTIONS=log=2:log_file=log; %leak "./$odd"; check 'the log' <log; %report log log >named; check 'the log with names' <named; cat named
// RUN: for by in tag function file module thread; do %report --by=$by store/*.leak | check "by $by"; done
// RUN: for s in lsan valgrind libleak; do %report --gen-suppressions=$s store/*.leak | check "rules of $s"; done
// RUN: cat full; python3 -c 'import json; print("argument", ascii(json.load(open("json"))["processes"][0]["argv"][1]))'
// EXPECT: mismatched-free: .* pool 'po\\u\{202e\}ol', released to pool 'ot\\x1b\[1mher', in turned\\u\{202e\}name at .*so\\u\{202e\}urce\\u\{200b\}\.c:
// EXPECT: odd\\u\{202e\}\\x1b\[31m\\u\{200b\}\\u\{9b\}\\xffע
// EXPECT: ^ #0  turned\\u\{202e\}name$
// EXPECT: under the tag ta\\u\{202e\}g
// EXPECT: thr\\u\{202e\}
// EXPECT: argument 'argodd
// EXPECT: safe the live line
// EXPECT: safe the log with names
// EXPECT: ^    turned\\u\{202e\}name at .*so\\u\{202e\}urce\\u\{200b\}\.c:44$
// REFUSE: raw in

#include "../../include/libleak.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

int one, other;
char block[64];
void *volatile sink;

void bad(void) __asm__("turned\342\200\256name");

# 40 "so\342\200\256urce\342\200\213.c"
void bad(void)
{
    libleak_pool_create(&one, "po\342\200\256ol");
    libleak_pool_create(&other, "ot\033[1mher");
    libleak_pool_alloc(&one, block, 32);
    libleak_pool_free(&other, block);
    sink = malloc(100);
    sink = NULL;
}

static void *thread(void *unused)
{
    prctl(PR_SET_NAME, "thr\342\200\256\033");
    bad();
    return unused;
}

int main(void)
{
    LIBLEAK_TAG_SCOPE("ta\342\200\256g");
    pthread_t made;
    bad();
    pthread_create(&made, NULL, thread, NULL);
    pthread_join(made, NULL);
    return 0;
}
