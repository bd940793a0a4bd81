/* system_calls_32.h - the system calls of a 32-bit kernel interface under the names of the 64-bit one,
 * where those of the same name take narrower numbers; sys.h includes it.
 *
 * A number of 64 bits is two arguments: SYS_WIDE(value). What is read by them is struct stat, struct
 * rlimit and struct statfs with _FILE_OFFSET_BITS=64, which all folders below the hooks are compiled
 * with. Times are those of 32 bits: all but the
 * clock's are relative.
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
#undef SYS_geteuid
#define SYS_geteuid SYS_geteuid32

/* What older kernels have behind one call with a number of its own. */
#ifndef SYS_accept
#define SYS_accept SYS_socketcall
#endif
#ifndef SYS_semop
#define SYS_semop SYS_ipc
#define SYS_semtimedop SYS_ipc
#define SYS_IPC_SEMTIMEDOP 4 /* its first argument, for that call */
#define SYS_SEMTIMEDOP_LIMIT 5
#endif
#endif

#ifndef SYS_SEMTIMEDOP_LIMIT /* which argument is the timeout */
#define SYS_SEMTIMEDOP_LIMIT 3
#endif

#endif
