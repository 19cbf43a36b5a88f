#include "bench/load_process.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#include "base/banned.h"

enum { TCP_STATE_LISTEN = 0x0a, INODE_TEXT = 64 };

/* ---- Whose port it is ---- */

/* A row of /proc/net/tcp or tcp6: "0: 0100007F:192B 00000000:0000 0A ... uid timeout INODE". */
static bool listens(const char *row, unsigned port, unsigned long *ret_inode)
{
    unsigned at_port, state;
    unsigned long inode;
    if (sscanf(row, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu",
               &at_port, &state, &inode) != 3)
        return false;
    if (at_port != port || state != TCP_STATE_LISTEN)
        return false;
    *ret_inode = inode;
    return true;
}

static unsigned long listening_inode(const char *table, unsigned port)
{
    char row[512];
    unsigned long inode = 0;
    FILE *f = fopen(table, "re");
    while (f && inode == 0 && fgets(row, sizeof(row), f))
        if (!listens(row, port, &inode))
            inode = 0;
    if (f)
        (void)fclose(f);
    return inode;
}

static bool has_socket(const char *pid, const char *wanted)
{
    char path[300], target[INODE_TEXT];
    (void)snprintf(path, sizeof(path), "/proc/%s/fd", pid);
    DIR *dir = opendir(path);
    bool found = false;
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
        if (n > 0) {
            target[n] = 0;
            found = strcmp(target, wanted) == 0;
        }
    }
    if (dir)
        (void)closedir(dir);
    return found;
}

static pid_t owner_of(unsigned long inode)
{
    char wanted[INODE_TEXT];
    (void)snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
    DIR *dir = opendir("/proc");
    pid_t pid = 0;
    for (struct dirent *e; dir && pid == 0 && (e = readdir(dir));)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && has_socket(e->d_name, wanted))
            pid = (pid_t)strtol(e->d_name, NULL, 10);
    if (dir)
        (void)closedir(dir);
    return pid;
}

pid_t load_process_find(const struct sockaddr *at)
{
    unsigned port = at->sa_family == AF_INET6
                        ? ntohs(((const struct sockaddr_in6 *)(const void *)at)->sin6_port)
                        : ntohs(((const struct sockaddr_in *)(const void *)at)->sin_port);
    unsigned long inode = at->sa_family == AF_INET ? listening_inode("/proc/net/tcp", port) : 0;
    if (inode == 0)
        inode = listening_inode("/proc/net/tcp6", port); /* may take both families */
    return inode ? owner_of(inode) : 0;
}

/* ---- What it uses ---- */

static bool read_small(pid_t pid, const char *name, char *text, size_t room)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
    if (n < 0)
        return false;
    text[n] = 0;
    return true;
}

static void read_memory(pid_t pid, struct load_usage *u)
{
    char text[128];
    unsigned long all, shared;
    if (!read_small(pid, "statm", text, sizeof(text)) ||
        sscanf(text, "%*u %lu %lu", &all, &shared) != 2)
        return;
    long page_kb = sysconf(_SC_PAGESIZE) / 1024;
    u->rss_kb = (long)all * page_kb;
    u->own_kb = all > shared ? (long)(all - shared) * page_kb : 0;
}

static double read_cpu(pid_t pid)
{
    char text[1024];
    unsigned long user, system_time;
    /* The name may hold spaces and brackets; the last bracket ends it. */
    const char *rest = read_small(pid, "stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;
    if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                        &system_time) != 2)
        return 0;
    return (double)(user + system_time) / (double)sysconf(_SC_CLK_TCK);
}

static long kernel_peak_kb(pid_t pid)
{
    char text[4096];
    if (!read_small(pid, "status", text, sizeof(text)))
        return 0;
    const char *line = strstr(text, "VmHWM:");
    return line ? strtol(line + 6, NULL, 10) : 0;
}

static bool reset_kernel_peak(pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/clear_refs", (int)pid);
    autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, "5", 1) == 1;
}

static struct load_usage read_usage(pid_t pid)
{
    struct load_usage u = { .cpu_seconds = read_cpu(pid) };
    read_memory(pid, &u);
    return u;
}

static long longest(long a, long b)
{
    return a > b ? a : b;
}

static void raise_peak(struct load_meter *m, const struct load_usage *u)
{
    m->peak.rss_kb = longest(m->peak.rss_kb, u->rss_kb);
    m->peak.own_kb = longest(m->peak.own_kb, u->own_kb);
}

void load_meter_begin(struct load_meter *m, pid_t pid)
{
    *m = (struct load_meter){ .pid = pid };
    if (pid == 0)
        return;
    m->kernel_peak = reset_kernel_peak(pid);
    m->before = read_usage(pid);
    m->peak = m->before;
}

void load_meter_warm(struct load_meter *m)
{
    if (m->pid)
        m->before.cpu_seconds = read_cpu(m->pid);
}

void load_meter_sample(struct load_meter *m, int64_t now_ns)
{
    if (m->pid == 0 || now_ns < m->next_sample_ns)
        return;
    m->next_sample_ns = now_ns + LOAD_SAMPLE_MS * NS_PER_MS;
    struct load_usage u = { 0 };
    read_memory(m->pid, &u);
    raise_peak(m, &u);
}

void load_meter_end(struct load_meter *m)
{
    if (m->pid == 0)
        return;
    m->after = read_usage(m->pid);
    raise_peak(m, &m->after);
    if (m->kernel_peak)
        m->peak.rss_kb = longest(m->peak.rss_kb, kernel_peak_kb(m->pid));
}

void load_meter_merge(struct load_meter *m, const struct load_meter *other)
{
    double cpu = m->after.cpu_seconds - m->before.cpu_seconds;
    if (m->pid == 0) {
        *m = *other;
        return;
    }
    raise_peak(m, &other->peak);
    m->after = other->after;
    /* What other work it did between the rounds is not counted. */
    m->before.cpu_seconds = other->before.cpu_seconds - cpu;
}

double load_own_cpu_seconds(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}
