#include <unistd.h>

__attribute__((constructor)) static void here(void) { write(2, "other preload is here\n", 22); }
