/* preflight.c - checks whether leakctl can attach to a process. */
#include "attach/preflight.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/refusal.h"
#include "common/base/proc.h"
#include "common/processes/ptrace_right.h"

/* ---- The process and its program ------------------------------------------------------------- */

static bool refuse_traced(pid_t pid, pid_t tracer)
{
    char name[PROC_NAME_SIZE];

    if (proc_read_name(tracer, name) && strcmp(name, "leakctl") == 0)
        return attach_refuse(pid, ATTACH_OTHERS, (int)tracer);
    return attach_refuse(pid, ATTACH_TRACED, attach_process_name(tracer));
}

static bool check_state(pid_t pid, const char *status)
{
    char state = *proc_status_value(status, "State");
    int tgid = atoi(proc_status_value(status, "Tgid"));
    int tracer = atoi(proc_status_value(status, "TracerPid"));

    if (tgid != pid)
        return attach_refuse(pid, ATTACH_NOT_FIRST, tgid);
    if (proc_status_ended(status))
        return attach_refuse(pid, ATTACH_ZOMBIE);
    if (!*proc_status_value(status, "VmSize"))
        return attach_refuse(pid, ATTACH_KERNEL);
    if (tracer)
        return refuse_traced(pid, tracer);
    if (state == 'T' || state == 't')
        return attach_refuse(pid, ATTACH_STOPPED, (int)pid);
    return true;
}

static bool refuse_right(pid_t pid, enum ptrace_refusal refusal)
{
    return attach_refuse(pid, ATTACH_NO_RIGHT, ptrace_refusal_reason(refusal),
                         ptrace_refusal_next(refusal));
}

bool preflight_refuse_right(pid_t pid)
{
    char status[PROC_STATUS_SIZE];
    int tracer;

    proc_read_text(pid, "status", status, sizeof(status));
    tracer = atoi(proc_status_value(status, "TracerPid"));
    if (tracer) /* a tracer that seized the process after check_state() looked */
        return refuse_traced(pid, tracer);
    return refuse_right(pid, ptrace_right_explain(pid));
}

/* Opens the memory of the process. The kernel checks the right to ptrace, as for PTRACE_SEIZE,
 * but without Yama's rule. */
static bool open_memory(struct tracee *tracee)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)tracee->pid);
    tracee->memory = open(path, O_RDWR | O_CLOEXEC);
    if (tracee->memory >= 0)
        return true;
    return errno == ENOENT ? attach_refuse(tracee->pid, ATTACH_NO_PROCESS)
                           : preflight_refuse_right(tracee->pid);
}

static bool is_in_maps(pid_t pid, const char *words)
{
    char path[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *stream;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    stream = fopen(path, "re");
    while (stream && !found && getline(&line, &room, stream) > 0)
        found = strstr(line, words) != NULL;
    if (stream)
        fclose(stream);
    free(line);
    return found;
}

/* Checks the ELF header of the program through /proc/PID/exe, which works in any mount
 * namespace. */
static bool check_program(pid_t pid)
{
    unsigned char header[20] = {0};
    char path[64];
    int fd;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return preflight_refuse_right(pid);
    n = read(fd, header, sizeof(header));
    close(fd);
    if (n != sizeof(header) || header[EI_CLASS] != ELFCLASS64 || header[18] != EM_X86_64)
        return attach_refuse(pid, ATTACH_OTHER_CPU);
    if (is_in_maps(pid, "ld-musl-"))
        return attach_refuse(pid, ATTACH_MUSL);
    if (is_in_maps(pid, "/vgpreload_"))
        return attach_refuse(pid, ATTACH_VALGRIND);
    return true;
}

/* ---- Can a library be loaded? ---------------------------------------------------------------- */

static bool has_sanitizer(const struct objects *objects)
{
    static const char *const names[] = {"__asan_init", "__tsan_init", "__msan_init", "__lsan_init",
                                        "__hwasan_init"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (loaded_objects_symbol(objects, names[i]))
            return true;
    return false;
}

static bool check_objects(pid_t pid, const struct objects *objects)
{
    if (has_sanitizer(objects))
        return attach_refuse(pid, ATTACH_SANITIZER);
    if (!objects->loader)
        return attach_refuse(pid, ATTACH_STATIC);
    if (!objects->libc)
        return attach_refuse(pid, ATTACH_NO_LIBC);
    return true;
}

bool preflight_process(struct tracee *tracee, struct objects *objects, pid_t pid)
{
    enum ptrace_refusal proc = ptrace_right_check_proc();
    char status[PROC_STATUS_SIZE];

    *tracee = (struct tracee){.pid = pid, .memory = -1};
    *objects = (struct objects){0};
    if (proc)
        return refuse_right(pid, proc);
    if (!proc_read_text(pid, "status", status, sizeof(status)))
        return attach_refuse(pid, ATTACH_NO_PROCESS);
    if (!check_state(pid, status) || !open_memory(tracee))
        return false;
    if (check_program(pid) &&
        (loaded_objects_read(objects, tracee) || preflight_refuse_right(pid)) &&
        check_objects(pid, objects))
        return true;
    preflight_end(tracee, objects);
    return false;
}

void preflight_end(struct tracee *tracee, struct objects *objects)
{
    loaded_objects_end(objects);
    close(tracee->memory);
}

/* Says whether a process shares the memory of its parent, as a vfork child does until its exec. */
static bool is_vfork_child(pid_t pid, const char *status)
{
    int parent = atoi(proc_status_value(status, "PPid"));

    return parent && syscall(SYS_kcmp, (long)pid, (long)parent, (long)KCMP_VM, 0, 0) == 0;
}

pid_t preflight_vfork_child(pid_t pid)
{
    char file[64], text[PROC_STATUS_SIZE], *at = text;
    pid_t child = 0, next;

    snprintf(file, sizeof(file), "task/%d/children", (int)pid);
    proc_read_text(pid, file, text, sizeof(text));
    while ((next = (pid_t)strtol(at, &at, 10)) > 0)
        child = next; /* takes the last child of the list, the newest: the thread started no other
                       * one while it waits */
    return child && proc_read_text(child, "status", text, sizeof(text)) &&
                   is_vfork_child(child, text)
               ? child
               : 0;
}

/* ---- Seccomp filters ------------------------------------------------------------------------- */

struct filters {
    int mode, count; /* count: number of filters; 0 before Linux 5.9 */
};

static struct filters filters_of(const char *status)
{
    return (struct filters){atoi(proc_status_value(status, "Seccomp")),
                            atoi(proc_status_value(status, "Seccomp_filters"))};
}

static bool are_equal(struct filters one, struct filters other)
{
    return one.mode == other.mode && one.count == other.count;
}

bool preflight_is_filtered(pid_t pid)
{
    char status[PROC_STATUS_SIZE];

    return proc_read_text(pid, "status", status, sizeof(status)) && filters_of(status).mode;
}

/* Returns the number of nested pid namespaces that the process is in. */
static int count_namespaces(const char *status)
{
    const char *numbers = proc_status_value(status, "NSpid");
    int count = 1;

    for (size_t i = strcspn(numbers, "\n"); i--;)
        count += numbers[i] == '\t';
    return count;
}

/* Says whether the process was created under the seccomp filters that it has: its parent has the
 * same, or it is the first process of a container. These filters then allowed the parent to create
 * a child, so leakctl may make a child that tries calls. */
static bool was_made_under(const char *status)
{
    int parent = atoi(proc_status_value(status, "PPid"));
    char other[PROC_STATUS_SIZE];

    if (!parent)
        return true;
    return proc_read_text(parent, "status", other, sizeof(other)) &&
           (are_equal(filters_of(status), filters_of(other)) ||
            count_namespaces(status) > count_namespaces(other));
}

/* Says whether all threads have the same seccomp filters as the first one. */
static bool threads_agree(pid_t pid, struct filters filters)
{
    char path[64], file[64], status[PROC_STATUS_SIZE];
    struct dirent *entry;
    bool agree = true;
    DIR *stream;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    stream = opendir(path);
    while (stream && agree && (entry = readdir(stream))) {
        snprintf(file, sizeof(file), "task/%d/status", atoi(entry->d_name));
        agree = *entry->d_name == '.' || !proc_read_text(pid, file, status, sizeof(status)) ||
                are_equal(filters, filters_of(status));
    }
    if (stream)
        closedir(stream);
    return agree;
}

static bool has_known_filters(pid_t pid, const char *status)
{
    struct filters filters = filters_of(status);

    return !filters.mode || (filters.mode == SECCOMP_MODE_FILTER && was_made_under(status) &&
                             threads_agree(pid, filters));
}

bool preflight_loading(const struct tracee *tracee, const struct objects *objects)
{
    pid_t pid = tracee->pid;
    char status[PROC_STATUS_SIZE];

    proc_read_text(pid, "status", status, sizeof(status));
    if (!has_known_filters(pid, status))
        return attach_refuse(pid, ATTACH_SECCOMP);
    if (strncmp(proc_status_value(status, "x86_Thread_features"), "shstk", 5) == 0)
        return attach_refuse(pid, ATTACH_SHADOW_STACK);
    if (is_vfork_child(pid, status))
        return attach_refuse(pid, ATTACH_VFORK);
    if (objects->program && object_symbol(objects->program, "malloc"))
        return attach_refuse(pid, ATTACH_OWN_MALLOC);
    return true;
}
