/* Needs no 32-bit headers: only the loader and the libc of libc6-i386. */
extern long write(int, const void *, unsigned);
extern void _exit(int);

void _start(void)
{
    write(1, "32 bits here\n", 13);
    _exit(32);
}
