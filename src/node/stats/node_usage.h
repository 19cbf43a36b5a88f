/* node_usage.h - what the machine as a whole uses, from /proc. The texts are arguments: rules only,
 * but for node_usage_read(). */
#pragma once

#include "base/err.h"

struct node_psi {
    double avg10, avg60, avg300;
    uint64_t total; /* nanoseconds */
};

struct node_pressures {
    struct node_psi some, full;
};

struct node_usage {
    uint64_t cpu_ns; /* of all processors, since the machine started */
    uint64_t memory_total, memory_usage, working_set, rss, faults, major_faults;
    uint64_t swap_usage, swap_free;
    uint64_t rx_bytes, tx_bytes, rx_errors, tx_errors; /* of the interface with the default route */
    char interface[32];
    struct node_pressures cpu, memory, io;
    uint64_t processes, max_pids;
    uint64_t fs_capacity, fs_available, fs_used, inodes, inodes_free; /* of the agent's folder */
    int64_t at_ns;                                                    /* wall */
};

/* "cpu  12 0 3 ..." of /proc/stat, in ticks of a hundredth of a second. */
bool node_usage_cpu(struct str proc_stat, struct node_usage *ret);
bool node_usage_memory(struct str meminfo, struct str vmstat, struct node_usage *ret);
/* /proc/pressure/WHAT; all zero where the kernel does not tell. */
struct node_pressures node_usage_pressure(struct str text);
/* Lines of /proc/net/dev: the interface of that name. */
bool node_usage_network(struct str net_dev, struct str interface, struct node_usage *ret);

int node_usage_read(struct arena *a, struct str root_dir, struct node_usage *ret, struct err *err);
