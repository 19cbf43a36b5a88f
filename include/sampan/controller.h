/* sampan/controller.h - programs that bring the world to what objects say.
 *
 *     static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
 *     {
 *         struct spn_value *obj = spn_work_object(w);
 *         if (!obj)
 *             return spn_done();
 *         ...
 *     }
 *
 *     struct spn_controller *c = spn_manager_add(m, &(struct spn_controller_options){
 *         .name = "hello", .what = hellos, .kind = "Hello", .reconcile = reconcile });
 *     spn_controller_owns(c, &config_maps);
 *     r = spn_manager_run(m, &err);
 *
 * A reconcile is told which object to look at, not what has happened to it. It looks at what should
 * be and at what is, and takes the next step from one to the other. It is called again if something
 * has changed, if it has failed, or if it wants to be. No two of one object run at once. */
#pragma once

#include <limits.h>

#include <sampan/election.h>
#include <sampan/events.h>
#include <sampan/informer.h>
#include <sampan/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_manager;
struct spn_controller;

/* ---- What is done for one object ---- */

/* Which object a call is about, and what it may use. Its memory is emptied after the call. */
struct spn_work {
    struct spn_text key, ns, name; /* "NS/NAME" or "NAME"; ns is empty without a namespace */
    struct spn_target at;          /* the object on the server */
    struct spn_arena *arena;       /* emptied after the call */
    struct spn_client *client;
    struct spn_call how; /* for calls of the client: they end when the manager must */
    struct spn_recorder *events;
    unsigned retries; /* so many calls for this object have failed in a row */
    struct spn_controller *controller;
    struct spn_work_state *state; /* private */
};

/* What is known of the object, as a tree that may be changed; NULL: it is gone. From the cache, so
 * perhaps a moment old. Each call makes a new tree. */
SPN_API struct spn_value *spn_work_object(struct spn_work *w);
/* Any object that this controller follows: its own, those that it owns or watches; `at` has its
 * namespace and name. Lent until the reconcile returns. NULL: it is not there. */
SPN_API const struct spn_object *spn_work_cached(struct spn_work *w, const struct spn_target *at);
/* What the object controls of a resource that was named to spn_controller_owns(), in the order of
 * keys; how many there are is returned. Lent likewise. */
SPN_API size_t spn_work_owned(struct spn_work *w, const struct spn_target *what,
                              const struct spn_object *const **ret);

/* Returns what is to follow: spn_done(), spn_again(), spn_again_after(), or a negative code with
 * `err` filled, as the calls of the library do. After an error, and after spn_again(), it is called
 * again, later each time (5 ms, 10 ms, ... up to 1000 s); the error is logged (sampan/log.h) and
 * counted. */
typedef int spn_reconcile_fn(void *arg, struct spn_work *w, struct spn_err *err);

static inline int spn_done(void)
{
    return 0;
}

static inline int spn_again(void)
{
    return INT_MAX;
}

static inline int spn_again_after(int64_t ms)
{
    return ms < 1 ? 1 : ms < INT_MAX ? (int)ms : INT_MAX - 1;
}

/* ---- Which changes matter ---- */

/* True: this change is worth a look. Without an old object it is new, without a new one it is
 * gone. On a thread of the informer, so it is quick. */
typedef bool spn_when_fn(void *arg, const struct spn_object *old_o, const struct spn_object *new_o);

/* The wanted state has changed, not only the status or metadata. Of kinds that have a generation:
 * custom resources, workloads. */
SPN_API bool spn_when_generation_changes(void *arg, const struct spn_object *old_o,
                                         const struct spn_object *new_o);
/* It is not only seen again by a resync. */
SPN_API bool spn_when_version_changes(void *arg, const struct spn_object *old_o,
                                      const struct spn_object *new_o);

/* Says which objects of ours a change of another object is about, by any number of calls of
 * spn_keys_put(). Of a change it is called with the old and with the new one. Text may lie in the
 * arena, which is emptied after the call. On a thread of the informer. */
struct spn_keys;
typedef void spn_map_fn(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_keys *out);
SPN_API void spn_keys_put(struct spn_keys *out, struct spn_text ns, struct spn_text name);

/* ---- Controllers ---- */

/* Zero means the usual. */
struct spn_controller_options {
    const char *name; /* in logs, metrics and events; needed */
    /* Its objects: group, version, plural; ns: empty for all. */
    struct spn_target what;
    const char *kind;            /* of these, as owner references name it: "Hello" */
    bool has_no_namespace;       /* objects of the kind are in none */
    const char *labels, *fields; /* selectors: only these objects */
    int64_t resync_ms;           /* all objects are looked at again so often; 0: never */
    unsigned workers;            /* calls at once; 1 */
    spn_reconcile_fn *reconcile; /* needed */
    void *arg;
    spn_when_fn *when; /* NULL: every change */
    void *when_arg;
    struct spn_queue_options queue; /* how retries are spread; the name is the controller's */
    const char *component;          /* of its events; NULL: the manager's name */
};

/* Before spn_manager_run(). Texts are copied. The manager owns the controller. */
SPN_API struct spn_controller *spn_manager_add(struct spn_manager *m,
                                               const struct spn_controller_options *opt);

/* A change of such an object is one of the object of ours that controls it (its owner reference
 * with controller: true, see spn_set_controller()). Needs the controller's kind. */
SPN_API void spn_controller_owns(struct spn_controller *c, const struct spn_target *what);
/* A change of such an object is one of those that `map` names. */
SPN_API void spn_controller_watches(struct spn_controller *c, const struct spn_target *what,
                                    spn_map_fn *map, void *arg);

/* Either of them, with all choices. */
struct spn_source {
    struct spn_informer_options of;
    spn_map_fn *map; /* NULL: the owner */
    void *map_arg;
    spn_when_fn *when; /* NULL: every change */
    void *when_arg;
};
SPN_API void spn_controller_source(struct spn_controller *c, const struct spn_source *s);

/* Makes it look at an object, for reasons that no informer knows. Any thread. */
SPN_API void spn_controller_enqueue(struct spn_controller *c, struct spn_text ns,
                                    struct spn_text name);

/* ---- The manager: what controllers of a program share ---- */

/* Zero means the usual. */
struct spn_manager_options {
    struct spn_client *client; /* needed; must outlive the manager */
    struct spn_stop *stop;     /* ends it; NULL: only spn_manager_stop() does */
    const char *name;          /* of the program, as the component of events; "sampan" */
    /* Only the leader reconciles. Others keep their caches up to date meanwhile. */
    const struct spn_election_options *election; /* NULL: this one always does */
    unsigned n_elections; /* it leads when it holds so many leases, taken in order; 0: one */
    /* Where /healthz, /readyz and /metrics are, for whoever asks: "127.0.0.1:8081", "unix:/run/x";
     * or "0.0.0.0:8081" for others, who get TLS with a certificate that we make at the start. A
     * probe has scheme: HTTPS then. NULL: nowhere. */
    const char *health_address;
    int64_t grace_ms; /* for what is under way at the stop; 10 s */
    /* It leads, knows everything, and its workers have started. On the thread that runs it. */
    void (*on_running)(void *arg);
    void *arg;
};

SPN_API int spn_manager_new(const struct spn_manager_options *opt, struct spn_manager **ret,
                            struct spn_err *err);
SPN_API struct spn_manager *spn_manager_free(struct spn_manager *m); /* it does not run */

/* Runs until the stop, once. Then queues take nothing more, workers finish what is there, within
 * the grace, informers end, events are written, and the Lease is given up; nothing of it runs any
 * more when this returns. 0: it was stopped. SPN_EXPIRED: it is not the leader any more; end the
 * program then, and start it anew. SPN_INVALID: a controller makes no sense. SPN_UNAVAILABLE: no
 * threads, or no such address. */
SPN_API int spn_manager_run(struct spn_manager *m, struct spn_err *err);
SPN_API void spn_manager_stop(struct spn_manager *m); /* any thread, also from a reconcile */

SPN_API struct spn_informers *spn_manager_informers(struct spn_manager *m);
SPN_API struct spn_recorder *spn_manager_recorder(struct spn_manager *m);
SPN_API bool spn_manager_is_leader(struct spn_manager *m); /* true without an election */
/* Where health is served, with the port that was chosen for ":0"; empty before it runs. */
SPN_API struct spn_text spn_manager_health_address(struct spn_manager *m, struct spn_arena *a);

/* A check of /healthz (is it alive?) or /readyz (can it work?). True: it is well. It runs on the
 * thread that serves health, so it is quick. Before spn_manager_run(). */
enum spn_check { SPN_CHECK_HEALTHY, SPN_CHECK_READY };
typedef bool spn_check_fn(void *arg);
SPN_API void spn_manager_check(struct spn_manager *m, enum spn_check which, const char *name,
                               spn_check_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
