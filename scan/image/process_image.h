/* process_image.h - the image of a running process: /proc/PID/maps, process_vm_readv, and ptrace
 * for the registers.
 *
 * process_image_stop stops all threads (PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent), reads
 * maps and registers, and keeps the stacks; process_image_resume lets them run again. A call that
 * the stop would end with EINTR, though no signal came, is made again (x86_64). A process that is
 * stopped by job control stays so. When this program dies in between, the kernel resumes them.
 */
#ifndef SCAN_PROCESS_IMAGE_H
#define SCAN_PROCESS_IMAGE_H

#include "scan/image/image.h"

struct process_image;

/* Whether the process can be read; NULL, and *trouble says why not: "REASON: WHAT TO DO". */
struct process_image *process_image_open(struct image *image, pid_t pid, const char **trouble);
void process_image_close(struct process_image *process); /* resumes it; NULL is allowed */

/* Stops the process and reads its mappings and threads, in place of those of an earlier stop.
 * keep_all: also keeps all writable private memory, so that it is of one moment, with a longer
 * pause. False: *trouble says why. */
bool process_image_stop(struct process_image *process, bool keep_all, const char **trouble);
/* Returns for how many nanoseconds the threads stood still. */
uint64_t process_image_resume(struct process_image *process);

/* Threads that could not be stopped: their registers are unknown, and their stacks are read whole. */
unsigned process_image_missed(const struct process_image *process);

#endif
