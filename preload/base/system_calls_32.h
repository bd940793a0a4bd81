/* system_calls_32.h - on 32-bit CPUs, defines the names of 64-bit system calls as those system
 * calls of the 32-bit kernel interface that take the same widths: SYS_mmap is SYS_mmap2. sys.h
 * includes it.
 *
 * A 64-bit number is passed as two arguments: SYS_WIDE(value). struct stat, struct rlimit and
 * struct statfs are those of _FILE_OFFSET_BITS=64, with which all folders except preload/hooks/ and
 * preload/interpose/ are compiled. Times have 32 bits, which is enough because all but those of the
 * clock are relative.
 */
#ifndef PRELOAD_BASE_SYSTEM_CALLS_32_H
#define PRELOAD_BASE_SYSTEM_CALLS_32_H

#include <stdint.h>
#include <sys/syscall.h>

#if UINTPTR_MAX == UINT64_MAX
#define SYS_WIDE(value) value
#define SYS_MAP_OFFSET(offset) (offset)
#define SYS_FSTATFS(fd, out) SYSCALL(SYS_fstatfs, fd, out)
#else
#define SYS_WIDE(value) (uint32_t)(value), (uint32_t)((uint64_t)(value) >> 32)
#define SYS_MAP_OFFSET(offset) ((offset) / 4096)

#undef SYS_mmap
#define SYS_mmap SYS_mmap2
#undef SYS_fstat
#define SYS_fstat SYS_fstat64
#define SYS_newfstatat SYS_fstatat64
#undef SYS_ftruncate
#define SYS_ftruncate SYS_ftruncate64
#undef SYS_fcntl
#define SYS_fcntl SYS_fcntl64
#undef SYS_fstatfs
#define SYS_fstatfs SYS_fstatfs64
#define SYS_FSTATFS(fd, out) SYSCALL(SYS_fstatfs, fd, sizeof *(out), out)
#undef SYS_getegid
#define SYS_getegid SYS_getegid32
#undef SYS_geteuid
#define SYS_geteuid SYS_geteuid32

/* Older 32-bit kernels have one system call for several functions of sockets, and one for
 * semaphores. */
#ifndef SYS_accept
#define SYS_accept SYS_socketcall
#endif
#ifndef SYS_semop
#define SYS_semop SYS_ipc
#define SYS_semtimedop SYS_ipc
#define SYS_IPC_SEMTIMEDOP 4 /* value of the first argument of SYS_ipc that selects semtimedop */
#define SYS_SEMTIMEDOP_LIMIT 5
#endif
#endif

#ifndef SYS_SEMTIMEDOP_LIMIT /* number of the argument with the timeout */
#define SYS_SEMTIMEDOP_LIMIT 3
#endif

#endif
