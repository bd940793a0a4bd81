// jemalloc and tcmalloc linked statically, operators new and delete of their own included: the same counts as glibc's
// malloc has, also when the program is stripped of all that it need not export.
// NEEDS: /usr/lib/x86_64-linux-gnu/libjemalloc.a /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.a
// CFLAGS: -O1 -g -fno-builtin
// BUILD: for l in jemalloc tcmalloc_minimal; do for how in -pie -no-pie; do mkdir -p %d/$l$how %d/$l$how-bare; g++ -std=c++17 -w -O1 -g -fno-builtin $how -o %d/$l$how/t %s -Wl,-Bstatic -l$l -Wl,-Bdynamic -pthread -ldl && strip -o %d/$l$how-bare/t %d/$l$how/t || exit 1; done; done
// RUN: %leak %t; for d in %d/jemalloc* %d/tcmalloc*; do $d/t >$d/out && %leak $d/t >$d/out2 2>&1 && cmp $d/out $d/out2 || exit; done; echo done
// EXPECT: ^done$
// JSON: len(procs) == 9 and all(q.end.how == "exit" and q.end.value == 0 and not q.errors for q in procs)
// JSON: all(q.totals.allocations >= 28000 and q.totals.frees >= 16000 for q in procs)
// JSON: all(sum(r.blocks for r in q.records if r.kind == "new" and r.bytes == 4 * r.blocks) == 4000 for q in procs)
// JSON: all(sum(r.blocks for r in q.records if r.kind == "memalign" and r.bytes == 256 * r.blocks) == 4000 for q in procs)
// JSON: all(sum(r.blocks for r in q.records if r.kind == "malloc" and r.bytes == 11 * r.blocks) == 4000 for q in procs)
// JSON: all(of("freed", q).blocks == 0 and q.coverage.unknown_frees <= 4 for q in procs)
// JSON: "own" not in str([q.coverage.untracked for q in procs]).lower()

#include "lib/four_threads.h"
