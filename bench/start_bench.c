/* start_bench SAMPAN - how long from exec to serving, and how much memory then. Ready is what the
 * server tells its service manager (sd_notify); the clock starts before fork. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { ROUNDS = 11, READY_TIMEOUT_MS = 10000 };

struct result {
    double ms;
    long rss_kb, anon_kb;
};

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static long status_kb(pid_t pid, const char *name)
{
    char path[64], line[256];
    long kb = -1;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtol(line + strlen(name), NULL, 10);
    if (f)
        (void)fclose(f);
    return kb;
}

static pid_t spawn(const char *sampan, const char *dir, const char *store, const char *notify)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(null, STDERR_FILENO);
    (void)setenv("NOTIFY_SOCKET", notify, 1);
    (void)execl(sampan, sampan, "up", "--data-dir", dir, "--listen", "127.0.0.1:0", "--store",
                store, (char *)NULL);
    _exit(127);
}

static int start_once(const char *sampan, const char *dir, const char *store, int notify_fd,
                      const char *notify, struct result *ret)
{
    int64_t began = clock_mono_ns(&clock_system);
    pid_t pid = spawn(sampan, dir, store, notify);
    struct pollfd p = { .fd = notify_fd, .events = POLLIN };
    char text[64];
    if (poll(&p, 1, READY_TIMEOUT_MS) != 1 || recv(notify_fd, text, sizeof(text), 0) < 7) {
        fprintf(stderr, "start_bench: %s was not ready in time\n", sampan);
        (void)kill(pid, SIGKILL);
        return -1;
    }
    ret->ms = (double)(clock_mono_ns(&clock_system) - began) / 1e6;
    ret->rss_kb = status_kb(pid, "VmRSS:");
    ret->anon_kb = status_kb(pid, "RssAnon:");
    (void)kill(pid, SIGTERM);
    (void)waitpid(pid, NULL, 0);
    return 0;
}

static int by_ms(const void *a, const void *b)
{
    double x = ((const struct result *)a)->ms, y = ((const struct result *)b)->ms;
    return x < y ? -1 : x > y;
}

static void report(const char *what, struct result *rows)
{
    qsort(rows, ROUNDS, sizeof(*rows), by_ms);
    struct result *mid = &rows[ROUNDS / 2];
    printf("  %-28s %6.1f ms (worst %.1f)   RSS %.1f MB, of which own %.1f MB\n", what, mid->ms,
           rows[ROUNDS - 1].ms, (double)mid->rss_kb / 1024, (double)mid->anon_kb / 1024);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "Usage: start_bench SAMPAN\n");
        return 2;
    }
    char top[] = "/tmp/sampan-start.XXXXXX";
    if (!mkdtemp(top))
        return 1;
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    (void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/notify", top);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
        return 1;

    struct result fresh[ROUNDS], again[ROUNDS], memory[ROUNDS];
    int r = 0;
    for (int i = 0; i < ROUNDS && r == 0; i++) {
        char dir[64], mem_dir[64];
        (void)snprintf(dir, sizeof(dir), "%s/d%d", top, i);
        (void)snprintf(mem_dir, sizeof(mem_dir), "%s/m%d", top, i);
        r = start_once(argv[1], dir, "lmdb", fd, at.sun_path, &fresh[i]);
        if (r == 0)
            r = start_once(argv[1], dir, "lmdb", fd, at.sun_path, &again[i]);
        if (r == 0)
            r = start_once(argv[1], mem_dir, "memory", fd, at.sun_path, &memory[i]);
    }
    if (r == 0) {
        printf("start: from exec to ready, median of %d\n", ROUNDS);
        report("empty folder, certificates too", fresh);
        report("the same folder again", again);
        report("memory store", memory);
    }
    close(fd);
    (void)nftw(top, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return r == 0 ? 0 : 1;
}
