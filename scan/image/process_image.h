/* process_image.h - the image of a running process: mappings from /proc/PID/maps, memory by
 * process_vm_readv, and registers by ptrace.
 *
 * process_image_stop stops all threads (PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent),
 * reads maps and registers, and keeps the stacks; process_image_resume lets them run again. A
 * system call that the stop ends with EINTR, without a signal, is repeated (x86_64). A process
 * that job control has stopped stays stopped. If this program dies meanwhile, the kernel resumes
 * the threads. */
#ifndef SCAN_PROCESS_IMAGE_H
#define SCAN_PROCESS_IMAGE_H

#include "scan/image/image.h"

struct process_image;

/* Opens a process for reading. NULL: it cannot be read; *trouble says why and what to do. */
struct process_image *process_image_open(struct image *image, pid_t pid, const char **trouble);
/* Resumes a process and closes it; NULL is allowed. */
void process_image_close(struct process_image *process);

/* Stops the process and reads its mappings and threads, which replace those of an earlier stop.
 * keep_all: also copies all writable private memory, so that it is of one moment; the pause is
 * longer. False: *trouble says why. */
bool process_image_stop(struct process_image *process, bool keep_all, const char **trouble);
/* Resumes the threads. Returns how many nanoseconds they were stopped. */
uint64_t process_image_resume(struct process_image *process);

/* Returns the number of threads that could not be stopped: their registers are unknown, so their
 * whole stacks count as roots. */
unsigned process_image_missed(const struct process_image *process);

#endif
