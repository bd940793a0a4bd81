// Hard case 32: jemalloc, tcmalloc and mimalloc, preloaded behind us or linked dynamically: tracked with
// the same counts as glibc's own malloc.
// NEEDS: /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4 /usr/lib/x86_64-linux-gnu/libmimalloc.so.2
// CFLAGS: -O1 -g -fno-builtin
// BUILD: for l in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do g++ -w -O1 -g -fno-builtin -o %d/with_$l %s -Wl,--no-as-needed /usr/lib/x86_64-linux-gnu/lib$l -pthread; mkdir -p %d/$l; mv %d/with_$l %d/$l/t; done
// RUN: %leak %t; for l in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do echo $l; env "LD_PRELOAD=%O/libleak.so /usr/lib/x86_64-linux-gnu/lib$l" LIBLEAK_OPTIONS=dir=%d/store %t || exit; %leak %d/$l/t || exit; done
// EXPECT: done, last word of main
// JSON: len(procs) == 7 and all(q.end.how == "exit" and q.end.value == 0 for q in procs)
// JSON: all(of("leak_malloc", q).blocks == 4000 and of("leak_malloc", q).bytes == 44000 for q in procs)
// JSON: all(of("leak_new", q).blocks == 4000 and of("leak_new", q).kinds == ["new"] for q in procs)
// JSON: all(of("leak_aligned", q).blocks == 4000 and of("leak_aligned", q).bytes == 4000 * 256 for q in procs)
// JSON: all(of("freed", q).blocks == 0 for q in procs)
// JSON: all(q.coverage.unknown_frees == 0 for q in procs)

#include "lib/four_threads.h"
