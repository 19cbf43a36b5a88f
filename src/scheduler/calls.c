#include "scheduler/calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "scheduler/pod_event.h"
#include "select/volume_match.h"
#include <sampan/log.h>
#include "base/banned.h"

/* A bind waits for its answer, so there are many; they need little stack. */
enum { N_THREADS = 16, STACK_BYTES = 512 * 1024 };
static const int64_t volume_pause = 50 * NS_PER_MS;

struct calls {
    struct calls_options opt;
    struct pod_event_writer *events;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t more;
    struct call *first, *last;
    struct call *running[N_THREADS]; /* or NULL */
    bool ends;
    pthread_t threads[N_THREADS];
    size_t n_threads;
};

/* ---- Making calls ---- */

struct call *call_new(enum call_kind kind, const struct pod_facts *f)
{
    struct call *c = mem_new(struct call);
    arena_init(&c->mem);
    c->kind = kind;
    c->pod.ns = arena_str(&c->mem, f->ns);
    c->pod.name = arena_str(&c->mem, f->name);
    c->pod.uid = arena_str(&c->mem, f->uid);
    c->pod.version = arena_str(&c->mem, f->version);
    c->pod.generation = f->generation;
    c->scheduler = arena_str(&c->mem, f->scheduler);
    return c;
}

static void free_call(struct call *c)
{
    arena_done(&c->mem);
    free(c);
}

/* With the lock. */
static void post(struct calls *all, struct call *c)
{
    c->next = NULL;
    if (all->last)
        all->last->next = c;
    else
        all->first = c;
    all->last = c;
    pthread_cond_signal(&all->more);
}

void calls_post(struct calls *all, struct call *c)
{
    pthread_mutex_lock(&all->lock);
    post(all, c);
    pthread_mutex_unlock(&all->lock);
}

/* ---- Talking to the server ---- */

static const struct spn_target pods_at = SPN_AT("", "v1", "pods", "", "");

static struct spn_target pod_target(const struct call_pod *p, struct spn_text sub)
{
    struct spn_target at = pods_at;
    at.ns = text_out(p->ns);
    at.name = text_out(p->name);
    at.sub = sub;
    return at;
}

static struct spn_call how(struct calls *all)
{
    return (struct spn_call){ .stop = all->opt.stop, .manager = "kube-scheduler" };
}

static int send_binding(struct calls *all, const struct call *c, struct spn_arena *a,
                        struct spn_err *err)
{
    struct spn_value *b = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, b, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, b, "kind", SPN_TEXT("Binding"));
    struct spn_value *meta = spn_value_ensure(a, b, "metadata");
    spn_value_set_text(a, meta, "name", text_out(c->pod.name));
    spn_value_set_text(a, meta, "namespace", text_out(c->pod.ns));
    spn_value_set_text(a, meta, "uid", text_out(c->pod.uid));
    struct spn_value *target = spn_value_ensure(a, b, "target");
    spn_value_set_text(a, target, "kind", SPN_TEXT("Node"));
    spn_value_set_text(a, target, "name", text_out(c->node));
    struct spn_target at = pod_target(&c->pod, SPN_TEXT("binding"));
    struct spn_call call = how(all);
    return spn_client_create(all->opt.client, &at, b, &call, a, NULL, err);
}

static int64_t version_of(const struct spn_value *obj)
{
    int64_t version = 0;
    (void)str_to_i64(str_in(spn_value_text(spn_value_dig(obj, "metadata", "resourceVersion"))),
                     &version);
    return version;
}

/* Says to which claim a volume belongs; the volume controller does the rest. */
static int promise_volume(struct calls *all, const struct call *c, struct volume_choice *v,
                          struct spn_arena *a, struct spn_err *err)
{
    struct spn_call call = how(all);
    struct spn_target claim_at = SPN_AT("", "v1", "persistentvolumeclaims", "", "");
    struct spn_target at = SPN_AT("", "v1", "persistentvolumes", "", "");
    struct spn_value *claim, *volume;
    claim_at.ns = text_out(c->pod.ns);
    claim_at.name = text_out(v->claim);
    at.name = text_out(v->volume);
    int r = spn_client_get(all->opt.client, &claim_at, &call, a, &claim, err);
    if (r < 0)
        return r;
    r = spn_client_get(all->opt.client, &at, &call, a, &volume, err);
    if (r < 0)
        return r;
    if (spn_value_dig(volume, "spec", "claimRef") &&
        !volume_is_for(value_in(volume), value_in(claim)))
        return spn_err_set(err, SPN_CONFLICT, "the volume \"" STR_FMT "\" is another claim's now",
                           STR_ARG(v->volume));
    (void)volume_set_claim(arena_in(a), value_in_edit(volume), value_in(claim));
    r = spn_client_update(all->opt.client, &at, volume, &call, a, &volume, err);
    if (r == 0)
        v->version = version_of(volume);
    return r;
}

/* Says on which node a volume is to be made. */
static int ask_for_volume(struct calls *all, const struct call *c, struct volume_choice *v,
                          struct spn_arena *a, struct spn_err *err)
{
    struct spn_target at = SPN_AT("", "v1", "persistentvolumeclaims", "", "");
    struct spn_call call = how(all);
    struct spn_value *claim;
    at.ns = text_out(c->pod.ns);
    at.name = text_out(v->claim);
    struct spn_text patch = spn_arena_printf(
        a,
        "{\"metadata\":{\"annotations\":{\"volume.kubernetes.io/selected-node\":\"" STR_FMT "\"}}}",
        STR_ARG(c->node));
    int r = spn_client_patch(all->opt.client, &at, SPN_MERGE_PATCH, patch, &call, a, &claim, err);
    if (r == 0)
        v->version = version_of(claim);
    return r;
}

static int ask_for_volumes(struct calls *all, struct call *c, struct spn_arena *a,
                           struct spn_err *err)
{
    for (size_t i = 0; i < c->n_volumes; i++) {
        int r = c->volumes[i].volume.n ? promise_volume(all, c, &c->volumes[i], a, err)
                                       : ask_for_volume(all, c, &c->volumes[i], a, err);
        if (r < 0)
            return r;
    }
    c->volumes_asked = true;
    c->give_up_ns = clock_mono_ns(&clock_system) + c->volume_limit_ns;
    return 0;
}

/* True: it has to wait a little more. */
static bool waits_for_volumes(struct calls *all, struct call *c, struct spn_arena *a, int *ret,
                              struct spn_err *err)
{
    *ret = c->volumes_asked ? 0 : ask_for_volumes(all, c, a, err);
    if (*ret < 0)
        return false;
    int64_t now = clock_mono_ns(&clock_system);
    int has = all->opt.check_volumes(all->opt.arg, c, err);
    if (!has && now > c->give_up_ns)
        has = spn_err_set(err, SPN_TIMEOUT, "context deadline exceeded");
    if (has < 0)
        *ret = spn_err_wrap(err, "binding volumes");
    c->not_before_ns = now + volume_pause;
    return !has;
}

/* ---- The kinds of calls; true: the call is done with ---- */

static void say_bound(struct calls *all, const struct call *c, struct spn_arena *a)
{
    struct spn_text message =
        spn_arena_printf(a, "Successfully assigned " STR_FMT "/" STR_FMT " to " STR_FMT,
                         STR_ARG(c->pod.ns), STR_ARG(c->pod.name), STR_ARG(c->node));
    pod_event_write(all->events, a,
                    &(struct pod_event){ .about = c->pod,
                                         .component = c->scheduler,
                                         .reason = "Scheduled",
                                         .action = "Binding",
                                         .message = str_in(message) });
}

static struct spn_text now_text(struct spn_arena *a)
{
    char text[CLOCK_TEXT_BYTES];
    return spn_arena_text(a, text_out(clock_format(clock_wall_ns(&clock_system), false, text)));
}

static void add_condition(const struct call *c, struct spn_value *status, struct spn_arena *a)
{
    struct spn_value *list = spn_value_new(a, SPN_ARRAY);
    struct spn_value *cond = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, cond, "type", SPN_TEXT("PodScheduled"));
    spn_value_set_text(a, cond, "status", SPN_TEXT("False"));
    spn_value_set_int(a, cond, "observedGeneration", c->pod.generation);
    spn_value_set_text(a, cond, "reason", text_out(c->reason));
    spn_value_set_text(a, cond, "message", text_out(c->message));
    if (c->is_transition)
        spn_value_set_text(a, cond, "lastTransitionTime", now_text(a));
    spn_value_push(a, list, cond);
    spn_value_set(a, status, "conditions", list);
}

static int patch_status(struct calls *all, const struct call_pod *p, struct spn_value *status,
                        struct spn_arena *a, struct spn_err *err)
{
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, spn_value_ensure(a, patch, "metadata"), "uid", text_out(p->uid));
    spn_value_set(a, patch, "status", status);
    struct spn_target at = pod_target(p, SPN_TEXT("status"));
    struct spn_call call = how(all);
    return spn_client_patch(all->opt.client, &at, SPN_STRATEGIC_PATCH, spn_value_json(a, patch),
                            &call, a, NULL, err);
}

/* Volumes take their time. Others are to see where the pod will be. */
static void nominate(struct calls *all, const struct call *c, struct spn_arena *a)
{
    struct spn_value *status = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, status, "nominatedNodeName", text_out(c->node));
    (void)patch_status(all, &c->pod, status, a, NULL); /* it is bound all the same */
}

static bool run_bind(struct calls *all, struct call *c, struct spn_arena *a)
{
    struct spn_err err = { 0 };
    int volumes = 0;
    if (c->n_volumes && !c->volumes_asked && !c->is_nominated)
        nominate(all, c, a);
    if (c->n_volumes && waits_for_volumes(all, c, a, &volumes, &err))
        return false;
    if (volumes < 0)
        (void)spn_err_wrap(&err, "running PreBind plugin \"VolumeBinding\"");
    else if (send_binding(all, c, a, &err) < 0)
        (void)spn_err_wrap(&err, "binding rejected: running Bind plugin \"DefaultBinder\"");
    if (err.code) {
        all->opt.on_bound(all->opt.arg, c, &err);
        return true;
    }
    all->opt.on_bound(all->opt.arg, c, NULL);
    say_bound(all, c, a);
    return true;
}

static bool run_failed(struct calls *all, struct call *c, struct spn_arena *a)
{
    struct spn_err err = { 0 };
    if (c->message.n)
        pod_event_write(all->events, a,
                        &(struct pod_event){ .about = c->pod,
                                             .component = c->scheduler,
                                             .reason = "FailedScheduling",
                                             .action = "Scheduling",
                                             .message = c->message,
                                             .is_warning = true });
    if (!c->writes_condition && !c->writes_nominated)
        return true;
    struct spn_value *status = spn_value_new(a, SPN_OBJECT);
    if (c->writes_condition)
        add_condition(c, status, a);
    if (c->writes_nominated && c->nominated.n)
        spn_value_set_text(a, status, "nominatedNodeName", text_out(c->nominated));
    else if (c->writes_nominated)
        spn_value_set(a, status, "nominatedNodeName", spn_value_new(a, SPN_NULL));
    int r = patch_status(all, &c->pod, status, a, &err);
    if (r < 0 && r != -SPN_NOT_FOUND && r != -SPN_CONFLICT && r != -SPN_CANCELLED)
        spn_log(SPN_LOG_WARN,
                "cannot write the status of a pod pod=" STR_FMT "/" STR_FMT " error=\"%s\"",
                STR_ARG(c->pod.ns), STR_ARG(c->pod.name), err.message);
    return true;
}

static int preempt_victim(struct calls *all, const struct call *c, const struct call_pod *v,
                          struct spn_arena *a, struct spn_err *err)
{
    struct spn_value *list = spn_value_new(a, SPN_ARRAY), *cond = spn_value_new(a, SPN_OBJECT);
    struct spn_value *status = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, cond, "type", SPN_TEXT("DisruptionTarget"));
    spn_value_set_text(a, cond, "status", SPN_TEXT("True"));
    spn_value_set_int(a, cond, "observedGeneration", v->generation);
    spn_value_set_text(a, cond, "reason", SPN_TEXT("PreemptionByScheduler"));
    spn_value_set_text(a, cond, "message",
                       spn_arena_printf(a,
                                        STR_FMT ": preempting to accommodate a higher priority pod",
                                        STR_ARG(c->scheduler)));
    spn_value_set_text(a, cond, "lastTransitionTime", now_text(a));
    spn_value_push(a, list, cond);
    spn_value_set(a, status, "conditions", list);
    int r = patch_status(all, v, status, a, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? 0 : r;
    struct spn_target at = pod_target(v, SPN_TEXT(""));
    struct spn_call call = how(all);
    const struct spn_delete what = { .uid = text_out(v->uid) };
    r = spn_client_delete(all->opt.client, &at, &what, &call, a, NULL, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? 0 : r;
    pod_event_write(all->events, a,
                    &(struct pod_event){ .about = *v,
                                         .related = &c->pod,
                                         .component = c->scheduler,
                                         .reason = "Preempted",
                                         .action = "Preempting",
                                         .message = str_in(spn_arena_printf(
                                             a, "Preempted by pod " STR_FMT " on node " STR_FMT,
                                             STR_ARG(c->pod.uid), STR_ARG(c->node))) });
    return 0;
}

static bool run_preempt(struct calls *all, struct call *c, struct spn_arena *a)
{
    struct spn_err err = { 0 };
    bool failed = false;
    for (size_t i = 0; i < c->n_victims; i++)
        if (preempt_victim(all, c, &c->victims[i], a, &err) < 0) {
            failed = true;
            spn_log(SPN_LOG_WARN, "cannot preempt a pod pod=" STR_FMT "/" STR_FMT " error=\"%s\"",
                    STR_ARG(c->victims[i].ns), STR_ARG(c->victims[i].name), err.message);
        }
    all->opt.on_preempted(all->opt.arg, c, failed);
    return true;
}

/* ---- Threads ---- */

static bool run_one(struct calls *all, struct call *c, struct spn_arena *a)
{
    switch (c->kind) {
    case CALL_BIND:
        return run_bind(all, c, a);
    case CALL_FAILED:
        return run_failed(all, c, a);
    case CALL_PREEMPT:
        return run_preempt(all, c, a);
    }
    return true;
}

/* What is said of one pod is said in order: an old failure must not come after the binding. */
static bool is_busy(const struct calls *all, const struct call *c)
{
    for (size_t i = 0; i < N_THREADS; i++)
        if (all->running[i] && str_eq(all->running[i]->pod.uid, c->pod.uid))
            return true;
    return false;
}

static void note_running(struct calls *all, const struct call *was, struct call *is)
{
    size_t i = 0;
    while (all->running[i] != was)
        i++;
    all->running[i] = is;
}

/* The first that may run now; NULL: none may. With the lock. */
static struct call *take_ready(struct calls *all, int64_t now)
{
    struct call *before = NULL;
    for (struct call *c = all->first; c; before = c, c = c->next) {
        if (c->not_before_ns > now || is_busy(all, c))
            continue;
        if (before)
            before->next = c->next;
        else
            all->first = c->next;
        if (all->last == c)
            all->last = before;
        note_running(all, NULL, c);
        return c;
    }
    return NULL;
}

static void pause_for(struct calls *all, int64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t at = until.tv_sec * NS_PER_SEC + until.tv_nsec + ns;
    until = (struct timespec){ .tv_sec = at / NS_PER_SEC, .tv_nsec = at % NS_PER_SEC };
    pthread_cond_timedwait(&all->more, &all->lock, &until);
}

static void *work(void *arg)
{
    struct calls *all = arg;
    struct spn_arena *a = spn_arena_new();
    pthread_mutex_lock(&all->lock);
    while (!all->ends) {
        struct call *c = take_ready(all, clock_mono_ns(&clock_system));
        if (!c && all->first) {
            pause_for(all, volume_pause);
            continue;
        }
        if (!c) {
            pthread_cond_wait(&all->more, &all->lock);
            continue;
        }
        pthread_mutex_unlock(&all->lock);
        bool is_done = run_one(all, c, a);
        spn_arena_reset(a);
        pthread_mutex_lock(&all->lock);
        note_running(all, c, NULL);
        if (is_done)
            free_call(c);
        else
            post(all, c);
    }
    pthread_mutex_unlock(&all->lock);
    spn_arena_free(a);
    return NULL;
}

static int start_threads(struct calls *all, struct spn_err *err)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (all->n_threads < N_THREADS &&
           pthread_create(&all->threads[all->n_threads], &attr, work, all) == 0)
        all->n_threads++;
    pthread_attr_destroy(&attr);
    return all->n_threads ? 0 : spn_err_set(err, SPN_UNAVAILABLE, "no thread to call the server");
}

int calls_new(const struct calls_options *opt, struct calls **ret, struct spn_err *err)
{
    struct calls *all = mem_new(struct calls);
    pthread_condattr_t attr;
    all->opt = *opt;
    all->events = pod_event_writer_new(opt->client, opt->stop);
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&all->more, &attr);
    pthread_condattr_destroy(&attr);
    int r = start_threads(all, err);
    if (r < 0) {
        calls_free(all);
        return r;
    }
    *ret = all;
    return 0;
}

struct calls *calls_free(struct calls *all)
{
    if (!all)
        return NULL;
    pthread_mutex_lock(&all->lock);
    all->ends = true;
    pthread_cond_broadcast(&all->more);
    pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < all->n_threads; i++)
        pthread_join(all->threads[i], NULL);
    for (struct call *c = all->first, *next; c; c = next) {
        next = c->next;
        free_call(c);
    }
    pod_event_writer_free(all->events);
    pthread_cond_destroy(&all->more);
    pthread_mutex_destroy(&all->lock);
    free(all);
    return NULL;
}
