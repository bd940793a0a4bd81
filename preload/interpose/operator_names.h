/* operator_names.h - the C++ ABI names of operators new and delete.
 *
 * The mangled names contain the type of size_t: "m" (unsigned long) on 64-bit CPUs, "j" (unsigned
 * int) on 32-bit ones. The source uses the names with m; for 32 bits macros replace them by the
 * names with j. OPERATOR_NAME(name) is the name as a string.
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
