/* scheduler_internal.h - the parts of a scheduler. Private to this folder. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "scheduler/calls.h"
#include "scheduler/owners.h"
#include "scheduler/profile.h"
#include "scheduler/scheduler.h"
#include "scheduler/wait_queue.h"

enum { SCHEDULER_INFORMERS_MAX = 16 };

struct scheduler {
    struct spn_manager *manager;
    struct spn_stop *stop;
    struct spn_arena *config_mem; /* of the profiles' texts */
    struct profiles profiles;
    struct spn_cache *claims, *volumes, *classes, *budgets;
    struct spn_cache *device_claims, *device_classes, *drivers, *capacities;
    struct spn_cache *csi_nodes, *attachments;
    struct spn_informer *needed[SCHEDULER_INFORMERS_MAX]; /* before anything is decided */
    size_t n_needed;
    struct calls *calls;
    struct cycle_env env;
    pthread_t thread;
    bool has_thread;

    atomic_uint visitors; /* informers that wait for the lock: they go first */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct world world;
    struct owners owners;
    struct wait_queue queue;
    struct map promised; /* volume -> struct promise */
    struct cursor cursor;
    bool ends;
};

/* For informers and calls. */
void scheduler__enter(struct scheduler *s);
void scheduler__leave(struct scheduler *s);
bool scheduler__is_ours(const struct scheduler *s, const struct pod_facts *f);
/* Something happened that these plugins care about. With the lock. */
void scheduler__wake(struct scheduler *s, uint32_t plugins, wait_hint_fn *hint, void *arg);

/* scheduler_watch.c: fills the world from informers. */
void scheduler__watch(struct scheduler *s);
/* scheduler_lookup.c: what a cycle asks for beside the world. */
void scheduler__init_env(struct scheduler *s);
void scheduler__index_volumes(struct scheduler *s); /* before informers start */
void scheduler__index_attachments(struct scheduler *s);
int scheduler__check_volumes(void *arg, const struct call *c, struct spn_err *err);
void scheduler__promise(struct scheduler *s, struct str volume, struct str ns, struct str claim);
void scheduler__forget_promise(struct scheduler *s, struct str volume);
void scheduler__forget_promises(struct scheduler *s); /* all of them */
