/* machine.h - makes, changes and removes networks on this machine: observe, plan, act.
 *
 * What is done is always the difference between what is wanted and what is there. So everything may
 * be called again at any time, also by another process after a crash. One thread. */
#pragma once

#include "cni.h"
#include "link.h"
#include "nat.h"

struct machine {
    struct link *link;
    struct nat *nat;
    const char *cni_folder; /* NULL: no files are written */
};

/* The text must live as long as the machine. */
int machine_open(struct machine *m, const char *cni_folder, struct spn_err *err);
void machine_close(struct machine *m);

/* What had to be done, as bits of 1 << enum plan_step_kind, and this one for the file of CNI. */
enum { MACHINE_CNI_WRITTEN = 1 << 30 };

/* 1: it is as it is wanted; 0: it cannot be, `why` says why; else an error. */
int machine_make(struct machine *m, struct spn_text key, const struct plan_want *want,
                 struct spn_arena *a, unsigned *ret_done, struct plan_refusal *why,
                 struct spn_err *err);
/* Removes all that is ours under that name. */
int machine_remove(struct machine *m, const char *bridge, unsigned *ret_done, struct spn_err *err);

/* Each name under which something of ours is there; perhaps more than once. */
int machine_each_bridge(struct machine *m, void (*fn)(void *arg, const char *bridge), void *arg,
                        struct spn_err *err);
