/* agent_internal.h - what the files of the agent share: the table of pods, and who does what.
 *
 * A pod is known by its uid. Its work is the key "p/UID" of the queue, so one thread has it at a
 * time; that thread alone frees it. Everybody else looks at a pod with the lock held, and takes
 * copies. */
#pragma once

#include <pthread.h>
#include <sampan/events.h>
#include <sampan/informer.h>
#include <sampan/queue.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/map.h"
#include "api/pod_resources.h"
#include "api/quantity.h"
#include "node/agent/agent.h"
#include "node/agent/back_off.h"
#include "node/agent/crew.h"
#include "node/agent/exec.h"
#include "node/agent/plan.h"
#include "node/agent/pod_status.h"
#include "net/outgoing/fetch.h"

enum pod_stage {
    STAGE_RUNS,        /* it is to run */
    STAGE_TERMINATING, /* its containers are being ended */
    STAGE_TERMINATED,  /* nothing of it runs: volumes and groups go */
    STAGE_FINISHED,    /* there is nothing left to do */
};

struct agent_pod {
    char *uid;              /* owned; the key of the table */
    struct spn_object *obj; /* as its source has it; NULL: only the runtime knows it */
    bool is_static;
    bool is_removed; /* its source does not have it any more */
    enum pod_stage stage;
    bool is_admitted;                   /* the node has let it in, or never will be asked */
    char *seen;                         /* when we first saw it: kubernetes.io/config.seen */
    char *evict_reason, *evict_message; /* it must go; NULL: it need not */
    int64_t evict_grace;                /* seconds at most; negative: as it likes */
    bool is_disrupted;                  /* with condition DisruptionTarget */
    struct buf status;                  /* the one made last, as JSON; empty: none yet */
    uint64_t status_version, status_written;
    bool is_finished;    /* the status is the last one: the pod may be removed from the API */
    struct buf reasons;  /* why containers could not be started, as JSON */
    struct buf resize;   /* conditions of a resize, as JSON */
    struct str first_ip; /* of its sandbox, for probes; in ip_text */
    char ip_text[64];
};

struct mirror {
    char *key; /* "NS/NAME" */
    struct spn_object *obj;
};

struct probes;
struct images;

struct agent {
    struct agent_parts parts;
    struct agent_options opt; /* texts in the arena */
    struct arena arena;       /* for what lives as long as the agent */
    struct str scheme;        /* of containers' ids; set before pods are run */
    int64_t start_ns;         /* wall */

    struct spn_queue *queue;
    struct crew *crew;
    struct spn_recorder *events;
    struct spn_informer *pod_informer, *node_informer;
    struct back_off *restarts, *pulls, *mounts;
    struct fetcher *fetcher; /* of probes and hooks */
    struct probes *probes;
    struct images *images;
    struct spn_stop *stop; /* of agent_run() */

    pthread_mutex_t admit_lock; /* one pod is admitted at a time */

    pthread_mutex_t lock; /* of all that follows */
    struct map pods;      /* uid to struct agent_pod */
    struct map mirrors;   /* "NS/NAME" to struct mirror */
    struct map seen;      /* uid to struct seen of relist.c */
    struct agent_pressure pressure;
    int64_t last_relist_ns; /* monotonic */
    bool has_files;         /* the folder was read once */
};

/* ---- pods.c: the table ---- */

/* With the lock. */
struct agent_pod *pods_find(struct agent *ag, struct str uid);
struct agent_pod *pods_add(struct agent *ag, struct str uid);
/* The pod as it is run: with our annotations and the resources it was given, and the API's status
 * (a static one has that of its mirror). NULL: there is none. Takes the lock. */
const struct value *pods_value(struct agent *ag, struct str uid, struct arena *a);
/* All pods that may use resources, but for that one. Takes the lock. */
const struct value **pods_active(struct agent *ag, struct str but_uid, struct arena *a,
                                 size_t *ret_n);
/* Copies of all uids. Takes the lock. */
struct str *pods_uids(struct agent *ag, struct arena *a, size_t *ret_n);
void pods_free_one(struct agent *ag, struct agent_pod *p); /* with the lock; also from the table */
struct spn_handler pods_handler(struct agent *ag);         /* of the informer */
/* A static pod that was read from a file, or is there no more (NULL). */
void pods_set_static(struct agent *ag, struct str uid, const struct value *pod);
/* Whether an older static pod of the same name has not ended yet. Takes the lock. */
bool pods_must_wait(struct agent *ag, struct str uid);
/* Its mirror in the API; the caller owns the reference. With the lock. NULL: none. */
struct spn_object *pods_mirror(struct agent *ag, struct str ns, struct str name);

/* ---- agent.c: keys ---- */

void agent_wake(struct agent *ag, struct str uid);
/* The status of the pod is to be written, after so long. */
void agent_wake_writer(struct agent *ag, struct str uid, int64_t ms);
void agent_wake_after(struct agent *ag, struct str uid, int64_t ms);
void agent_wake_task(struct agent *ag, const char *task, int64_t ms);
int64_t agent_wall_ns(void);
int64_t agent_mono_ns(void);
int64_t agent_jitter(int64_t ms, double by); /* up to so much longer, by chance */

/* ---- tell.c: events of a pod, or of one of its containers ---- */

void tell_pod(struct agent *ag, const struct value *pod, enum spn_severity severity,
              const char *reason, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void tell_container(struct agent *ag, const struct value *pod, struct str container,
                    enum spn_severity severity, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* ---- status_writer.c ---- */

/* The status made last, in the arena; NULL: none yet. Takes the lock. */
const struct value *status_get(struct agent *ag, struct str uid, struct arena *a);
/* A new status of a pod; it is written soon unless it says what the last one said. */
void status_set(struct agent *ag, const struct value *pod, struct value *status, bool finished,
                struct arena *a);
/* Changes one condition, or readiness of a container, in the status made last. */
void status_note_condition(struct agent *ag, const struct value *pod, struct str type,
                           struct arena *a);
void status_note_probe(struct agent *ag, struct str uid, struct str container_id,
                       enum probe_kind kind, bool is_good);
void status_write(struct agent *ag, struct str uid); /* the key "s/UID" */

/* ---- worker.c ---- */

void worker_run(struct agent *ag, struct str uid); /* the key "p/UID" */
/* Why a container could not be started; an empty reason: it was. */
void worker_note_reason(struct agent *ag, struct str uid, struct str container, struct str reason,
                        struct str message);
/* It must go. `grace` in seconds; negative: as it likes. */
void worker_evict(struct agent *ag, struct str uid, const char *reason, struct str message,
                  int64_t grace, bool is_disrupted);

/* ---- sync.c: makes the runtime have what the pod wants ---- */

struct sync_result {
    bool has_acted;   /* something was made or ended */
    bool has_failed;  /* something could not be done: try again later */
    int64_t retry_ms; /* when it makes sense to try again; 0: as usual */
};
struct sync_result sync_pod(struct agent *ag, const struct value *pod, struct runtime_pod *have,
                            bool restarts_all, struct arena *a);
/* Volumes, sandbox configuration and what containers need besides. */
struct start_failure;
struct sync_place {
    struct pod_place place;
    struct value sandbox_config;
    bool has_config;
    struct pod_volume *volumes;            /* the place's own */
    bool has_images;                       /* those of volumes were looked for */
    struct start_failure *volume_failures; /* as many as volumes */
};

/* ---- start.c ---- */

/* An empty reason: it runs. Else why not, for waiting.reason and waiting.message. */
struct start_failure {
    struct str reason, message;
    int64_t retry_ms;
    bool has_made; /* a container is there all the same */
};
bool start_container(struct agent *ag, struct sync_place *at, const struct value *spec,
                     const struct runtime_pod *have, struct str sandbox_id, struct arena *a,
                     struct start_failure *ret);

/* ---- kill.c ---- */

/* Ends one container: its preStop hook, then its signal. `grace` in seconds; negative: the pod's.
 */
int kill_container(struct agent *ag, const struct value *pod, const struct runtime_container *c,
                   struct str message, enum kill_reason reason, int64_t grace, struct err *err);
/* Ends all containers at once, sidecars after the others, then the sandboxes. */
int kill_pod(struct agent *ag, const struct value *pod, const struct runtime_pod *have,
             int64_t grace, struct arena *a, struct err *err);
int remove_container(struct agent *ag, const struct runtime_container *c, bool keep_log,
                     struct arena *a, struct err *err);

/* ---- hook.c ---- */

/* A lifecycle handler. Waits for its end, at most so long (negative: for ever). */
int hook_run(struct agent *ag, const struct value *pod, const struct value *spec, struct str id,
             const struct value *handler, int64_t timeout_ms, struct arena *a, struct err *err);

/* ---- image.c ---- */

struct images *images_new(struct agent *ag);
struct images *images_free(struct images *i);
/* Has the image, pulled if the policy says so. `ret_ref` is what the runtime calls it. */
bool image_ensure(struct agent *ag, const struct value *pod, struct str container, struct str image,
                  struct str policy, const struct value *sandbox_config, struct arena *a,
                  struct str *ret_ref, struct value *ret_image, struct start_failure *ret);

/* ---- probe.c ---- */

struct probes *probes_new(struct agent *ag);
struct probes *probes_free(struct probes *p);
void probes_add(struct agent *ag, const struct value *pod); /* those that are not there yet */
void probes_stop(struct agent *ag, struct str uid, bool but_readiness);
void probes_run(struct agent *ag, struct str key); /* the key "b/UID/CONTAINER/KIND" */
enum probe_result probes_result(void *ag, enum probe_kind kind, struct str container_id);
bool probes_has(struct agent *ag, struct str uid, enum probe_kind kind, struct str container);
/* Asks once. PROBE_UNKNOWN: it could not be asked. `ret_says` goes into an event. */
enum probe_result probe_once(struct agent *ag, const struct value *probe, const struct value *spec,
                             struct str id, struct str pod_ip, struct arena *a,
                             struct str *ret_says, bool *ret_is_warning);

/* ---- resize.c ---- */

/* What the node has given the pod, on disk; NULL: nothing is known. */
const struct value *allocation_get(struct agent *ag, struct str uid, struct arena *a);
bool allocation_put(struct agent *ag, const struct value *pod, struct arena *a);
void allocation_forget(struct agent *ag, struct str uid, struct arena *a);
/* The pod's spec with the resources that were allocated. */
void allocation_apply(struct agent *ag, struct value *pod, struct arena *a);
const struct value *actuated_get(struct agent *ag, struct str uid, struct arena *a);
void actuated_put(struct agent *ag, const struct value *pod, const struct value *spec,
                  struct arena *a);
/* Sees whether the pod wants other resources than it has, and gives them if the node can. True: it
 * has got them, so the pod is another now. */
bool resize_consider(struct agent *ag, const struct value *pod, const struct value *node,
                     struct arena *a);
int resize_do(struct agent *ag, const struct value *pod, const struct plan *plan, struct arena *a,
              struct err *err);
void resize_note(struct agent *ag, const struct value *pod, const struct runtime_pod *have,
                 struct arena *a);
const struct value *resize_conditions(struct agent *ag, struct str uid, struct arena *a);

/* ---- Tasks, by time ---- */

void relist_run(struct agent *ag); /* relist.c: what has changed in the runtime */
/* That was seen just now: it is no news. */
void relist_note(struct agent *ag, const struct runtime_pod *have, struct arena *a);
void relist_forget(void *seen);          /* frees one of agent.seen */
void static_pods_read(struct agent *ag); /* static_pods.c: the folder */
/* Makes the mirror, or makes it anew. True: something was done. */
bool mirror_reconcile(struct agent *ag, const struct value *pod, struct arena *a);
void mirror_remove(struct agent *ag, struct str ns, struct str name, struct arena *a);
void housekeeping_run(struct agent *ag); /* housekeeping.c: pods that are gone */
void garbage_run(struct agent *ag);      /* garbage.c: dead containers, sandboxes, logs */
void garbage_pod(struct agent *ag, struct str uid, bool all, struct arena *a);
void garbage_containers(struct agent *ag, struct str uid, struct arena *a); /* all that are dead */
void image_gc_run(struct agent *ag);                                        /* image_gc.c */
uint64_t image_gc_free(struct agent *ag, uint64_t wanted, struct arena *a); /* how much it was */
void log_rotate_run(struct agent *ag);                                      /* log_rotate.c */
void evict_run(struct agent *ag);                                           /* evict.c */
