#include "client/config/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/banned.h"

enum { READ_BYTES = 16384, POLL_EXIT_MS = 5 };

/* Own signals and, without a terminal, an own group: what it starts is killed with it. */
static void set_attributes(posix_spawnattr_t *attr, bool has_terminal)
{
    sigset_t none, usual;
    (void)sigemptyset(&none);
    (void)sigemptyset(&usual);
    (void)sigaddset(&usual, SIGPIPE);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (!has_terminal)
        flags |= POSIX_SPAWN_SETPGROUP;
    (void)posix_spawnattr_init(attr);
    (void)posix_spawnattr_setsigmask(attr, &none);
    (void)posix_spawnattr_setsigdefault(attr, &usual);
    (void)posix_spawnattr_setpgroup(attr, 0);
    (void)posix_spawnattr_setflags(attr, flags);
}

/* Returns an errno. */
static int start(const struct process *p, int out_fd, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    (void)posix_spawn_file_actions_init(&actions);
    if (!p->has_terminal)
        (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
    set_attributes(&attr, p->has_terminal);
    int r = posix_spawnp(ret, p->argv[0], &actions, &attr, (char *const *)p->argv,
                         (char *const *)p->envp);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&actions);
    return r;
}

static int ms_until(int64_t deadline_ns)
{
    int64_t left = (deadline_ns - clock_mono_ns(&clock_system)) / NS_PER_MS;
    if (left <= 0)
        return 0;
    return left < INT32_MAX ? (int)left : INT32_MAX;
}

/* PROCESS_EXITED at the end of the output. */
static enum process_end collect(const struct process *p, int fd, int64_t deadline_ns,
                                struct buf *out)
{
    for (;;) {
        struct pollfd pfd = { .fd = fd, .events = POLLIN };
        int r = poll(&pfd, 1, ms_until(deadline_ns));
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return PROCESS_TOO_LONG;
        buf_reserve(out, READ_BYTES);
        ssize_t n = read(fd, out->p + out->n, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return PROCESS_EXITED;
        out->n += (size_t)n;
        if (out->n > p->max_bytes)
            return PROCESS_TOO_MUCH;
    }
}

static void end_by_force(const struct process *p, pid_t pid)
{
    (void)kill(p->has_terminal ? pid : -pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* It may run on for a while after it has closed its output. Where the program has somebody else who
 * waits for its children, nothing is known of the end: then its output must do. */
static bool wait_for_exit(pid_t pid, int64_t deadline_ns, int *ret_status)
{
    for (;;) {
        pid_t ended = waitpid(pid, ret_status, WNOHANG);
        if (ended == pid)
            return true;
        if (ended < 0 && errno == ECHILD) {
            *ret_status = 0;
            return true;
        }
        int left = ms_until(deadline_ns);
        if (!left)
            return false;
        (void)poll(NULL, 0, left < POLL_EXIT_MS ? left : POLL_EXIT_MS);
    }
}

static enum process_end follow(const struct process *p, pid_t pid, int fd, struct buf *out,
                               int *ret_code)
{
    int64_t deadline_ns = clock_mono_ns(&clock_system) + p->max_ms * NS_PER_MS;
    int status = 0;
    enum process_end end = collect(p, fd, deadline_ns, out);
    if (end == PROCESS_EXITED && !wait_for_exit(pid, deadline_ns, &status))
        end = PROCESS_TOO_LONG;
    if (end != PROCESS_EXITED) {
        end_by_force(p, pid);
        return end;
    }
    *ret_code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return WIFSIGNALED(status) ? PROCESS_SIGNALLED : PROCESS_EXITED;
}

enum process_end process_run(const struct process *p, struct buf *out, int *ret_code)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0) {
        *ret_code = errno;
        return PROCESS_NOT_STARTED;
    }
    autoclose int read_fd = fds[0];
    pid_t pid;
    *ret_code = start(p, fds[1], &pid);
    (void)close(fds[1]);
    return *ret_code ? PROCESS_NOT_STARTED : follow(p, pid, read_fd, out, ret_code);
}
