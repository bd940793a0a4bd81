// track= chooses what is followed besides memory; a word that is none of them is said and nothing is then;
// --errors-for=resources makes what is open count for the exit status, and by default it does not.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// RUN: for t in fd file dir,file none; do rm -rf $t; mkdir $t; LIBLEAK_OPTIONS=track=$t:dir=%d/$t; %leak %t; %report $t/*.leak | sed -n "s/^libleak.*resources/$t: resources/p"; done
// RUN: LIBLEAK_OPTIONS=track=fd,nothing; %leak %t
// RUN: unset LIBLEAK_OPTIONS; %run --error-exitcode=9 --errors-for=resources -q %t; echo "asked: $?"
// RUN: %run --error-exitcode=9 -q %t; echo "not asked: $?"
// RUN: %run --track=none --error-exitcode=9 --errors-for=resources -q %t; echo "none: $?"
// EXPECT: ^fd: resources=1$
// EXPECT: ^file: resources=1$
// EXPECT: ^dir,file: resources=2$
// EXPECT: ^none: resources=0$
// EXPECT: bad value in 'track=fd,nothing'
// EXPECT: ^asked: 9$
// EXPECT: ^not asked: 0$
// EXPECT: ^none: 0$
// JSON: opened() == {}

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

static FILE *volatile file;
static DIR *volatile folder;

int main(void)
{
    open("/etc/passwd", O_RDONLY);
    file = fopen("/etc/passwd", "r");
    folder = opendir("/etc");
    return 0;
}
