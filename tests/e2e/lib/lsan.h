/* LeakSanitizer's interface, as a program declares it that also runs without it. */
#ifndef LSAN_H
#define LSAN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#define WEAK __attribute__((weak))
WEAK void __lsan_disable(void);
WEAK void __lsan_enable(void);
WEAK void __lsan_ignore_object(const void *p);
WEAK void __lsan_register_root_region(const void *p, size_t size);
WEAK void __lsan_unregister_root_region(const void *p, size_t size);
WEAK void __lsan_do_leak_check(void);
WEAK int __lsan_do_recoverable_leak_check(void);
#ifdef __cplusplus
}
#endif

#define LSAN(call) (__lsan_disable ? (void)(call) : (void)0)

#endif
