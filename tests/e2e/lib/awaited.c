/* Two functions that allocate nothing. */
int begin_in_library(int n)
{
    return n + 1;
}

int hidden_calls;
static __attribute__((noinline)) int begin_static_in_library(int n)
{
    __asm__ volatile("");
    hidden_calls++;
    return n + 2;
}

int call_static(int n)
{
    return begin_static_in_library(n) + hidden_calls;
}
