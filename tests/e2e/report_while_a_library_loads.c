// _exit with report=exit while another thread's dlopen sits in a constructor and holds the loader's lock:
// the report is written without waiting for the lock.
// BUILD: printf 'unsigned sleep(unsigned); __attribute__((constructor)) static void c(void) { sleep(60); }' >slow.c; gcc -w -shared -fPIC -o slow.so slow.c
// RUN: LIBLEAK_OPTIONS=report=exit; %leak timeout -s KILL 20 %t
// EXIT: 3
// EXPECT: lost=0/0/0 .* reachable=10/1/1 .* unfreed=0/0/0

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

void *volatile sink;

static void *loads(void *x) { return dlopen("./slow.so", RTLD_NOW); }

int main(void)
{
    pthread_t t;
    sink = malloc(10);
    pthread_create(&t, NULL, loads, NULL);
    sleep(1);
    _exit(3);
}
