// Hard case 21: an empty main, iostream, puts: no record with a frame of the program's own.
// CFLAGS: -O1 -g -DBODY=0
// CFLAGS: -O1 -g -DBODY=1
// CFLAGS: -O1 -g -DBODY=2
// JSON: all("iostream" in (r.frames and str(r.frames) or "") or r.blocks <= 2 for r in p.records)
// JSON: p.end.how == "exit" and p.coverage.unknown_frees == 0

#include <cstdio>
#include <iostream>

int main()
{
    if (BODY == 1)
        puts("x");
    if (BODY == 2)
        std::cout << 1 << std::endl;
}
