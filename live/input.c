/* input.c - keeps the standard input for another run; described in input.h. */
#include "live/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/terminal.h"

/* ---- The process that copies a pipe ---------------------------------------------------------- */

static ssize_t read_some(int from, char *bytes, size_t size)
{
    for (;;) {
        ssize_t n = read(from, bytes, size);
        if (n >= 0 || (errno != EINTR && errno != EAGAIN))
            return n;
        poll(&(struct pollfd){.fd = from, .events = POLLIN}, 1, -1);
    }
}

static bool write_all(int to, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(to, bytes, size);
        if (n < 0 && errno != EINTR)
            return false;
        bytes += n < 0 ? 0 : n;
        size -= n < 0 ? 0 : (size_t)n;
    }
    return true;
}

/* Copies the input until the input or its reader ends. If the input is too long to be kept, the
 * copy is emptied. */
static void copy_input(int from, int kept, int to)
{
    static char bytes[64 << 10];
    unsigned long long size = 0;
    ssize_t n;
    while ((n = read_some(from, bytes, sizeof bytes)) > 0) {
        size += (size_t)n;
        if (kept >= 0 && (size > INPUT_KEPT_MOST || !write_all(kept, bytes, (size_t)n))) {
            (void)!ftruncate(kept, 0);
            kept = -1;
        }
        if (!write_all(to, bytes, (size_t)n))
            return;
    }
}

/* Starts the process that copies. All signals stay blocked in it: signals from the terminal are for
 * the program, and must not end its input. False: it cannot be started. */
static bool start_copier(struct input *input, int from, int kept)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    input->copier = fork();
    if (input->copier == 0) {
        close(ends[0]);
        copy_input(from, kept, ends[1]);
        _exit(0);
    }
    bool started = input->copier > 0 && dup2(ends[0], STDIN_FILENO) >= 0;
    close(ends[0]);
    close(ends[1]);
    if (!started)
        input_stop(input);
    return started;
}

/* ---- Beginning and repeating the input ------------------------------------------------------- */

void input_begin(struct input *input)
{
    struct stat kind;
    *input = (struct input){.offset = -1, .kept = -1};
    terminal_begin(&input->typed);
    if (fstat(STDIN_FILENO, &kind) != 0)
        return;
    if (S_ISREG(kind.st_mode))
        input->offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (!S_ISFIFO(kind.st_mode))
        return;
    input->kept = memfd_create("leakrun-input", MFD_CLOEXEC);
    if (input->kept >= 0 && !start_copier(input, STDIN_FILENO, input->kept))
        input_end(input);
}

void input_stop(struct input *input)
{
    typed_end(&input->typed);
    if (input->copier <= 0)
        return;
    kill(input->copier, SIGKILL);
    while (waitpid(input->copier, NULL, 0) < 0 && errno == EINTR)
        continue;
    input->copier = 0;
}

bool input_is_known(const struct input *input)
{
    return input->offset >= 0 || input->kept >= 0 || input_is_typed(input);
}

bool input_is_typed(const struct input *input)
{
    return input->typed.file >= 0 && input->typed.size <= TYPED_MOST;
}

bool input_rewind(struct input *input, int *terminal)
{
    if (input_is_typed(input))
        return (input->copier = typed_start_again(&input->typed, terminal)) > 0;
    if (input->offset >= 0)
        return lseek(STDIN_FILENO, input->offset, SEEK_SET) >= 0;
    return input->kept >= 0 && lseek(input->kept, 0, SEEK_SET) == 0 &&
           start_copier(input, input->kept, -1);
}

void input_end(struct input *input)
{
    input_stop(input);
    if (input->kept >= 0)
        close(input->kept);
    if (input->typed.file >= 0)
        close(input->typed.file);
    input->kept = input->typed.file = -1;
}
