/* What the cases about old words in frames share: leave_words(p) returns and leaves p in every word of
 * the stack that a function has which is called next. */
#ifndef OLD_WORDS_H
#define OLD_WORDS_H

#include <stdarg.h>

FAR static void leave_words(void *p)
{
#ifdef __x86_64__
    asm volatile("lea -1024(%%rsp), %%rdi\n\t"
                 "mov $128, %%ecx\n\t"
                 "rep stosq\n\t"
                 "xor %%eax, %%eax\n\t"
                 "xor %%edi, %%edi"
                 : "+a"(p)
                 :
                 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
#else
    (void)p;
#endif
}

#endif
