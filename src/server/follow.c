#include "server/follow.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "admission/memory.h"
#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/apiservice/apiservice.h"
#include "server/core/uninitialized.h"
#include "server/custom/custom.h"
#include "server/custom/custom_definition.h"
#include "server/flow/flow.h"
#include "server/guard/guard.h"
#include "server/object/stored.h"
#include "base/banned.h"

struct follow {
    struct api *api;
    struct store_feed *feed;
    struct store_watch watch;
    sem_t woken;
    atomic_bool stops;
    pthread_t thread;
    struct arena arena; /* of one event */
};

static bool is_of(const struct kind_resource *r, struct str group, struct str plural)
{
    return str_eq(r->group, group) && str_eq(r->plural, plural);
}

static void follow_definition(struct follow *f, struct str name)
{
    struct api *api = f->api;
    struct err err = ERR_INIT(&f->arena);
    custom_kinds_begin(api->custom);
    int r = custom_kinds_refresh(api->custom, name, &err);
    custom_kinds_end(api->custom);
    if (r < 0)
        log_error("a definition could not take effect", LOG_STR("name", name), LOG_ERR(&err));
    if (api->on_kinds_changed)
        api->on_kinds_changed(api);
    if (api->on_definition_changed)
        api->on_definition_changed(api);
}

static void follow_apiservice(struct follow *f, struct str name)
{
    struct api *api = f->api;
    struct err err = ERR_INIT(&f->arena);
    if (apiservices_refresh(api->apiservices, name, &err) < 0)
        log_error("an APIService could not take effect", LOG_STR("name", name), LOG_ERR(&err));
    if (api->on_apiservice_changed)
        api->on_apiservice_changed(api, name);
}

static void follow_object(struct follow *f, const struct kind_resource *r, struct str ns,
                          struct str name)
{
    struct api *api = f->api;
    guard_changed(api->guard, r, ns, name);
    admission_forget(api->admission_memory, r);
    if (flow_changed(api->flow, r) && api->on_flow_changed)
        api->on_flow_changed(api);
    if (is_of(r, STR(""), STR("resourcequotas")))
        atomic_store(&api->has_quotas, true);
    if (custom_definition_is(r))
        follow_definition(f, name);
    if (r == apiservices_resource())
        follow_apiservice(f, name);
    bool is_service = is_of(r, STR(""), STR("services")) ||
                      is_of(r, STR("discovery.k8s.io"), STR("endpointslices"));
    if (is_service && api->on_service_changed && apiservices_has_foreign(api->apiservices))
        api->on_service_changed(api, ns);
}

static enum store_watch_verdict on_event(struct store_watch *w, const struct store_event *ev)
{
    struct follow *f = container_of(w, struct follow, watch);
    struct str ns, name;
    const struct kind_resource *r = stored_resource(ev->now.key);
    uninitialized_saw(f->api->uninitialized, ev->now.key);
    if (!r)
        return STORE_WATCH_ON;
    stored_key_parts(r, ev->now.key, &ns, &name);
    follow_object(f, r, ns, name);
    arena_reset(&f->arena);
    return STORE_WATCH_ON;
}

/* What is remembered may now say what is not true any more, also of who may do what: nobody can go
 * on with that. */
static void on_expired(struct store_watch *w)
{
    (void)w;
    log_error("changes of others were missed, so the server ends; it is to be started again");
    (void)kill(getpid(), SIGTERM);
}

/* What cannot be read has changed all the same. */
static void on_unreadable(struct store_watch *w, const struct store_event *ev,
                          const struct err *why);

static int start_watch(struct follow *f, uint64_t rev, struct err *err)
{
    f->watch = (struct store_watch){ .on_event = on_event,
                                     .on_expired = on_expired,
                                     .on_unreadable = on_unreadable,
                                     .takes_breaks = true };
    return store_watch_start(f->feed, &f->watch, STR(""), rev, err);
}

static void on_unreadable(struct store_watch *w, const struct store_event *ev,
                          const struct err *why)
{
    struct follow *f = container_of(w, struct follow, watch);
    struct err err = ERR_INIT(&f->arena);
    (void)why;
    (void)on_event(w, ev);
    if (start_watch(f, ev->now.mod_rev, &err) < 0)
        on_expired(w);
}

/* ---- The thread ---- */

static void wake(void *arg)
{
    (void)sem_post(&((struct follow *)arg)->woken);
}

static void *run(void *arg)
{
    struct follow *f = arg;
    while (!atomic_load(&f->stops)) {
        if (store_feed_poll(f->feed))
            continue;
        while (sem_wait(&f->woken) < 0)
            ; /* EINTR */
    }
    store_watch_stop(&f->watch);
    return NULL;
}

static int start(struct follow *f, struct err *err)
{
    int r = start_watch(f, store_rev(f->api->store), err);
    if (r < 0)
        return r;
    int e = pthread_create(&f->thread, NULL, run, f);
    if (e) {
        store_watch_stop(&f->watch);
        return err_errno(err, e, "start a thread");
    }
    (void)pthread_setname_np(f->thread, "follow");
    return 0;
}

static struct follow *follow_done(struct follow *f)
{
    store_feed_free(f->feed);
    (void)sem_destroy(&f->woken);
    arena_done(&f->arena);
    free(f);
    return NULL;
}

int follow_new(struct api *api, struct follow **ret, struct err *err)
{
    *ret = NULL;
    if (!store_is_mirror(api->store))
        return 0;
    struct follow *f = mem_new(struct follow);
    f->api = api;
    arena_init(&f->arena);
    (void)sem_init(&f->woken, 0, 0);
    f->feed = store_feed_new(api->store, wake, f);
    int r = start(f, err);
    *ret = r < 0 ? follow_done(f) : f;
    return r;
}

struct follow *follow_free(struct follow *f)
{
    if (!f)
        return NULL;
    atomic_store(&f->stops, true);
    (void)sem_post(&f->woken);
    (void)pthread_join(f->thread, NULL);
    return follow_done(f);
}
