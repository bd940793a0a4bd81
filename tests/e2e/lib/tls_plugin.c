/* A library with thread-local memory of a mebibyte: for each thread that uses it the loader allocates
 * a block. */
static __thread struct {
    char before[500000];
    void *keep;
    char after[500000];
} big;

void tls_keep(void *p) { big.keep = p; }
void *tls_kept(void) { return big.keep; }
