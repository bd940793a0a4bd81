// Hard case 21: an empty main, puts, getaddrinfo, dlopen of nothing, threads, locale, time zone, user data
// base: no lost block, nor an indirect, possible or hidden one.
// CFLAGS: -O0 -g -DBODY=0
// CFLAGS: -O2 -g -DBODY=0
// CFLAGS: -O0 -g -DBODY=1
// CFLAGS: -O2 -g -DBODY=1
// CFLAGS: -O0 -g -DBODY=2
// CFLAGS: -O2 -g -DBODY=2
// CFLAGS: -O0 -g -DBODY=3
// CFLAGS: -O2 -g -DBODY=3
// CFLAGS: -O0 -g -DBODY=4
// CFLAGS: -O2 -g -DBODY=4
// CFLAGS: -O2 -g -DBODY=5
// CFLAGS: -O0 -g -DBODY=5
// JSON: all(p.summary[v].blocks == 0 and p.summary[v].records == 0 for v in ("lost", "indirect", "possible", "hidden", "unfreed"))
// JSON: p.snapshot.rung == "parked" and p.end.value == 0

#include <dlfcn.h>
#include <iconv.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *nothing(void *x) { return NULL; }

int main(void)
{
    struct addrinfo *found;
    pthread_t t;
    time_t now = 0;

    switch (BODY) {
    case 1:
        puts("x");
        break;
    case 2:
        if (!getaddrinfo("localhost", "80", NULL, &found))
            freeaddrinfo(found);
        break;
    case 3:
        dlopen("libnothing-of-this-name.so", RTLD_NOW);
        dlclose(dlopen("libm.so.6", RTLD_NOW));
        dlopen(NULL, RTLD_NOW);
        break;
    case 4:
        for (int i = 0; i < 20; i++) {
            pthread_create(&t, NULL, nothing, NULL);
            pthread_join(t, NULL);
        }
        break;
    case 5:
        setlocale(LC_ALL, "C.UTF-8");
        localtime(&now);
        getpwnam("root");
        iconv_close(iconv_open("UTF-16", "UTF-8"));
        break;
    }
    return 0;
}
