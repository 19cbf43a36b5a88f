/* load_process.h - memory and processor time of the server, where it runs on this machine.
 *
 * The process is the one that listens on the server's port (/proc/net/tcp, then /proc/PID/fd).
 * "Own" memory is what is not backed by a file: a server that maps its database is otherwise
 * charged for the page cache. The peak of all memory is the kernel's (VmHWM, set back through
 * /proc/PID/clear_refs) where we may, and sampled elsewhere; the peak of own memory is sampled. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { LOAD_SAMPLE_MS = 20 };

struct load_usage {
    double cpu_seconds; /* user and system, of all threads */
    long rss_kb, own_kb;
};

struct load_meter {
    pid_t pid; /* 0: unknown, nothing is measured */
    bool kernel_peak;
    int64_t next_sample_ns;
    struct load_usage before, peak, after;
};

/* The process that listens at `at`, a loopback address; 0 if it cannot be seen. */
pid_t load_process_find(const struct sockaddr *at);

void load_meter_begin(struct load_meter *m, pid_t pid);
/* The warm-up is over: processor time counts from now on. Memory goes on from where it was, since
 * what the first requests make the server take is what one wants to see. */
void load_meter_warm(struct load_meter *m);
/* Cheap unless LOAD_SAMPLE_MS have passed. */
void load_meter_sample(struct load_meter *m, int64_t now_ns);
void load_meter_end(struct load_meter *m);
/* Another round of the same scenario on the same server. */
void load_meter_merge(struct load_meter *m, const struct load_meter *other);

double load_own_cpu_seconds(void);
