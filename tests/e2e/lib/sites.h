/* sites(n): allocates once from each of n different call stacks (a stack spells the number in binary). */
#ifndef SITES_H
#define SITES_H
#include <stdlib.h>

void *volatile sites_sink;

__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static void site_one(unsigned bits, int left);
__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static void site_zero(unsigned bits, int left);

__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static void site_next(unsigned bits, int left)
{
    if (!left)
        sites_sink = malloc(32);
    else if (bits & 1)
        site_one(bits >> 1, left - 1);
    else
        site_zero(bits >> 1, left - 1);
    sites_sink = (void *)1;
}
static void site_one(unsigned bits, int left) { site_next(bits, left); sites_sink = (void *)2; }
static void site_zero(unsigned bits, int left) { site_next(bits, left); sites_sink = (void *)3; }

__attribute__((noinline)) static void sites(int n)
{
    for (int i = 0; i < n; i++)
        site_next(i, 18);
}
#endif
