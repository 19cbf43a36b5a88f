/* life.h - what the files of a pod's life share: the pod at one moment, and its containers. Private
 * to this folder. */
#pragma once

#include "node/simulated/pod_life.h"
#include "node/simulated/pod_wish.h"

enum { LIFE_KILLED = 137, LIFE_TERMINATED = 143 }; /* exit codes of SIGKILL and SIGTERM */

/* A pod that is being looked at. */
struct life {
    struct spn_arena *a;
    const struct spn_value *pod;
    const struct pod_place *place;
    struct pod_wish wish;
    struct spn_text now;    /* as statuses have it */
    struct spn_text policy; /* of restarts */
    int64_t wait_ms;        /* until something is due; negative: nothing is */
    bool has_changed;
    struct pod_event *events, **last_event;
};

enum container_role { CONTAINER_MAIN, CONTAINER_INIT, CONTAINER_SIDECAR, CONTAINER_EPHEMERAL };
enum container_state { CONTAINER_WAITS, CONTAINER_RUNS, CONTAINER_ENDED };

struct container {
    enum container_role role;
    const struct spn_value *spec;
    struct spn_text name;
    enum container_state state;
    struct spn_text reason, message; /* of one that waits */
    struct spn_text started_at;      /* of one that runs */
    const struct spn_value *end;     /* of one that has ended: `terminated` */
    const struct spn_value *last;    /* the same of the time before; NULL: there was none */
    int64_t restarts;
    bool is_started, is_ready; /* as its status says */
};

/* ---- life_time.c ---- */

bool life_read_time(const struct spn_value *v, int64_t *ret_ns);
/* Whether so much time has passed since then; if not, the life waits for it. */
bool life_is_due(struct life *l, const struct spn_value *since, int64_t ms);
bool life_is_due_text(struct life *l, struct spn_text since, int64_t ms);
void life_say(struct life *l, bool is_warning, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static inline bool life_text_is(struct spn_text t, const char *is)
{
    return spn_text_eq(t, spn_text_of(is));
}

/* ---- container.c ---- */

/* As its status says; without one it waits. */
struct container container_read(const struct life *l, const struct spn_value *spec,
                                enum container_role role);
/* What has become of it by now. One that may not start yet only waits. */
void container_live(struct life *l, struct container *c, bool may_start);
/* It ends now, if it has ever begun, and does not start again. */
void container_stop(struct life *l, struct container *c, int64_t code);
int64_t container_exit_code(const struct container *c); /* of one that has ended */
/* The status of it. */
struct spn_value *container_status(const struct life *l, const struct container *c);
/* How many seconds a probe says; `otherwise` if it does not. */
int64_t container_probe_number(const struct spn_value *probe, const char *key, int64_t otherwise);
