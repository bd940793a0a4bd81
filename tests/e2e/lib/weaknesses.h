/* weaknesses.h - a table of wrong releases, for weaknesses_are_found.cc and the other file of its programs.
 *
 * W(name, error, how p comes, how it goes): "bad" says whether it is to go wrong. What comes from a stack
 * is no block of anybody's; the compiler is not to know.
 */
#include <alloca.h>
#include <cstdlib>
#include <cstring>

static inline char *hide(char *p)
{
    __asm__("" : "+r"(p));
    return p;
}
extern char global_array[64];

#define FROM_MALLOC p = hide((char *)malloc(40))
#define FROM_NEW p = hide(new char)
#define FROM_NEW_ARRAY p = hide(new char[40])
#define OR_HEAP(address) p = bad ? hide(address) : hide((char *)malloc(40))
#define OR_NEW(address) p = bad ? hide(address) : hide(new char)
#define TWICE(once) once; if (bad) { p = hide(p); once; }

#define WEAKNESSES(W)                                                                                       \
    /* CWE-415 */                                                                                           \
    W(free_twice, "double-free", FROM_MALLOC, TWICE(free(p)))                                               \
    W(delete_twice, "double-free", FROM_NEW, TWICE(delete p))                                               \
    W(delete_array_twice, "double-free", FROM_NEW_ARRAY, TWICE(delete[] p))                                 \
    /* CWE-590 */                                                                                           \
    W(free_stack, "invalid-free", char local[64]; OR_HEAP(local), free(p))                                  \
    W(free_alloca, "invalid-free", char *local = (char *)alloca(64); OR_HEAP(local), free(p))               \
    W(free_static, "invalid-free", static char local[64]; OR_HEAP(local), free(p))                          \
    W(free_global, "invalid-free", OR_HEAP(global_array), free(p))                                          \
    W(delete_stack, "invalid-free", char local[64]; OR_NEW(local), delete p)                                \
    W(delete_static, "invalid-free", static char local[64]; OR_NEW(local), delete p)                        \
    /* CWE-761 */                                                                                           \
    W(free_behind, "interior-free", FROM_MALLOC, while (bad && *p != 'x') p++; free(p))                     \
    W(delete_array_behind, "interior-free", FROM_NEW_ARRAY, if (bad) p += 16; delete[] p)                   \
    /* CWE-762 */                                                                                           \
    W(malloc_delete, "mismatched-free", p = hide(bad ? (char *)malloc(1) : new char), delete p)             \
    W(calloc_delete, "mismatched-free", p = hide(bad ? (char *)calloc(1, 1) : new char), delete p)          \
    W(realloc_delete, "mismatched-free", p = hide(bad ? (char *)realloc(NULL, 1) : new char), delete p)     \
    W(strdup_delete, "mismatched-free", p = hide(bad ? strdup("") : new char), delete p)                    \
    W(malloc_delete_array, "mismatched-free", p = hide(bad ? (char *)malloc(9) : new char[9]), delete[] p)  \
    W(new_free, "mismatched-free", p = hide(bad ? new char : (char *)malloc(1)), free(p))                   \
    W(new_array_free, "mismatched-free", p = hide(bad ? new char[9] : (char *)malloc(9)), free(p))          \
    W(new_delete_array, "mismatched-free", p = hide(bad ? new char : new char[9]), delete[] p)              \
    W(new_array_delete, "mismatched-free", p = hide(bad ? new char[1] : new char), delete p)

/* The other file releases. */
#define W(name, error, comes, goes) void name##_elsewhere(char *p, bool bad);
WEAKNESSES(W)
#undef W
