/* machine.h - what this machine is: processors, memory, pages, names, addresses. Reads /proc, /sys
 * and the interfaces; the rules of what that means for the Node are elsewhere. */
#pragma once

#include "base/err.h"

enum { MACHINE_PAGE_SIZES = 8 };

struct machine_pages {
    uint64_t bytes; /* of one page */
    uint64_t count;
};

struct machine {
    unsigned cores;
    uint64_t memory_bytes, swap_bytes;
    struct machine_pages pages[MACHINE_PAGE_SIZES]; /* huge ones, the small ones first */
    size_t n_pages;
    uint64_t disk_bytes; /* of the file system that has the agent's folder; 0: not known */
    uint64_t max_pids;
    struct str machine_id, system_uuid, boot_id, kernel, os_image, architecture, hostname;
    int64_t boot_ns; /* wall: when the machine started */
    bool in_user_namespace;
};

/* Texts lie in the arena. `root_dir` need not be there yet: its nearest parent counts then. */
int machine_read(struct arena *a, struct str root_dir, struct machine *ret, struct err *err);

/* The number behind "NAME:" in a text like /proc/meminfo, times 1024. False: it has none. */
bool machine_meminfo(struct str text, struct str name, uint64_t *ret_bytes);
/* What a line KEY=VALUE or KEY="VALUE" of a text like /etc/os-release has; else empty. */
struct str machine_os_release(struct str text, struct str key);
/* The address that packets to the world would have: of the interface with the default route, of
 * IPv4 if there is any. Nothing is sent. Without a default route: the first address of this machine
 * that is neither loopback nor link-local. ERR_NOT_FOUND: it has none. */
int machine_own_ip(struct arena *a, struct str *ret, struct err *err);
