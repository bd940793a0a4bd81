/* operator_names.h - the C++ ABI names of operators new and delete.
 *
 * The names contain the type of a size: m is unsigned long. Where size_t is unsigned int, j, macros
 * replace the names with m in the source by names with j. OPERATOR_NAME(name) is the name as a
 * string.
 */
#ifndef PRELOAD_INTERPOSE_OPERATOR_NAMES_H
#define PRELOAD_INTERPOSE_OPERATOR_NAMES_H

#define OPERATOR_NAME(name) OPERATOR_NAME_(name)
#define OPERATOR_NAME_(name) #name

#if __SIZEOF_SIZE_T__ == 4
#define _Znwm _Znwj
#define _Znam _Znaj
#define _ZnwmRKSt9nothrow_t _ZnwjRKSt9nothrow_t
#define _ZnamRKSt9nothrow_t _ZnajRKSt9nothrow_t
#define _ZnwmSt11align_val_t _ZnwjSt11align_val_t
#define _ZnamSt11align_val_t _ZnajSt11align_val_t
#define _ZnwmSt11align_val_tRKSt9nothrow_t _ZnwjSt11align_val_tRKSt9nothrow_t
#define _ZnamSt11align_val_tRKSt9nothrow_t _ZnajSt11align_val_tRKSt9nothrow_t
#define _ZdlPvm _ZdlPvj
#define _ZdaPvm _ZdaPvj
#define _ZdlPvmSt11align_val_t _ZdlPvjSt11align_val_t
#define _ZdaPvmSt11align_val_t _ZdaPvjSt11align_val_t
#endif

#endif
