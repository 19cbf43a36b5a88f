#include "server/watch/awaited.h"

#include "admission/xray.h"
#include "api/go/goduration.h"
#include "api/validate/initializers.h"
#include "base/idiom.h"
#include "server/filter/filter.h"
#include "server/object/stored.h"
#include "server/watch/watch_internal.h"
#include "base/banned.h"

enum { AWAITED_MS = 30000 };

/* Lies in the call's arena. */
struct awaited {
    struct watch_hub *hub;
    struct store_watch watch;
    struct watch_waiter waiter;
    struct loop_timer timer;
    struct call *call;
    struct str key, name;
    uint64_t rev; /* that was stored */
    struct value obj;
    const struct value *refusal; /* a Status; NULL: nobody has refused it */
    struct err err;
};

/* ---- The end: on the loop, then on a worker, since an answer may have to be converted ---- */

static void answer(struct http_exchange *x, void *arg)
{
    (void)x;
    struct awaited *w = arg;
    struct value status;
    if (w->err.code) {
        call_fail(w->call, &w->err);
    } else if (w->refusal) {
        status = value_borrow(w->refusal);
        call_status(w->call, &status);
    } else {
        call_object(w->call, 201, w->call->stored->type, &w->obj);
    }
}

static void end(struct awaited *w)
{
    store_watch_stop(&w->watch);
    loop_timer_cancel(&w->timer);
    watch_hub_forget(&w->waiter);
    http_listen_to(w->call->x, &(struct http_events){ 0 });
    (void)http_to_worker(w->call->x, call_workers(w->call), answer, w);
}

static void end_late(struct awaited *w, const char *words)
{
    (void)err_set(&w->err, ERR_TIMEOUT, "Timeout: %s", words);
    end(w);
}

static void on_timer(struct loop_timer *t)
{
    end_late(container_of(t, struct awaited, timer),
             "request did not complete within requested timeout");
}

static void on_gone(void *arg, struct http_exchange *x)
{
    (void)x;
    end_late(arg, "the client has gone");
}

static void on_close(struct watch_waiter *waiter)
{
    struct awaited *w = container_of(waiter, struct awaited, waiter);
    const struct kind_resource *r = w->call->req.resource;
    (void)err_set(&w->err, ERR_TIMEOUT,
                  "Timeout: server has timed out waiting for the initialization of " STR_FMT
                  "%s" STR_FMT " " STR_FMT,
                  STR_ARG(r->plural), r->group.n ? "." : "", STR_ARG(r->group), STR_ARG(w->name));
    end(w);
}

/* ---- What happens to the object ---- */

static int read(struct awaited *w, const struct store_entry *e)
{
    struct store_entry kept = *e;
    kept.value = arena_str(w->call->arena, e->value);
    kept.key = w->key;
    return stored_read(w->call->arena, w->call->stored->type, &kept, &w->obj, &w->err);
}

/* The next one's stage begins. */
static void show(struct awaited *w)
{
    const struct value *pending = value_get(initializers_of(&w->obj), STR("pending"));
    xray_stage(w->call->xray, "initializer", value_text(value_at(pending, 0), "name"), &w->obj);
}

static void see_deleted(struct awaited *w, const struct store_event *ev)
{
    if (read(w, &ev->prev) < 0)
        return;
    w->refusal = initializers_result(&w->obj);
    if (!w->refusal)
        (void)err_set(&w->err, ERR_INTERNAL,
                      "Internal error occurred: object deleted while waiting for creation");
}

/* Whether others are still at work on it. Only an end, and what an x-ray shows, is kept. */
static bool is_under_way(struct awaited *w, const struct store_entry *e)
{
    struct arena a;
    struct value meta;
    if (!stored_is_uninitialized(e))
        return false;
    arena_init(&a);
    bool ret = stored_read_meta(&a, e, &meta, NULL) == 0 && !initializers_result(&meta);
    arena_done(&a);
    if (ret && w->call->xray && read(w, e) == 0)
        show(w);
    return ret;
}

static enum store_watch_verdict on_event(struct store_watch *watch, const struct store_event *ev)
{
    struct awaited *w = container_of(watch, struct awaited, watch);
    if (!str_eq(ev->now.key, w->key)) /* another one, whose name begins like it */
        return STORE_WATCH_ON;
    if (ev->type == STORE_DELETE) {
        see_deleted(w, ev);
        end(w);
        return STORE_WATCH_ON;
    }
    if (is_under_way(w, &ev->now))
        return STORE_WATCH_ON;
    if (read(w, &ev->now) == 0)
        w->refusal = initializers_result(&w->obj);
    end(w);
    return STORE_WATCH_ON;
}

static void on_expired(struct store_watch *watch)
{
    on_close(&container_of(watch, struct awaited, watch)->waiter);
}

/* ---- The beginning ---- */

static int64_t patience_ns(const struct call *c)
{
    struct err ignored = ERR_INIT(c->arena);
    int64_t ns = 0;
    struct str text = request_param(&c->req, STR("timeout"));
    bool is_said = text.n && goduration_parse(text, &ns, &ignored) == 0 && ns > 0;
    return is_said ? ns : AWAITED_MS * NS_PER_MS;
}

static void begin(struct http_exchange *x, void *arg)
{
    struct awaited *w = arg;
    struct call *c = w->call;
    w->hub = c->api->hubs[api_loop_index(c->api, http_loop(x))];
    w->waiter.on_close = on_close;
    w->watch.on_event = on_event;
    w->watch.on_expired = on_expired;
    w->timer.on_fire = on_timer;
    filter_watch_began(x);
    show(w);
    watch_hub_remember(w->hub, &w->waiter);
    loop_timer_set(w->hub->loop, &w->timer, loop_now_ns(w->hub->loop) + patience_ns(c));
    http_listen_to(x, &(struct http_events){ .arg = w, .on_gone = on_gone });
    if (w->hub->is_closing)
        on_close(&w->waiter);
    else if (initializers_result(&w->obj)) {
        w->refusal = initializers_result(&w->obj);
        end(w);
    } else if (store_watch_start(w->hub->feed, &w->watch, w->key, w->rev, &w->err) < 0)
        end(w);
}

void awaited_begin(struct call *c, const struct value *obj)
{
    struct awaited *w = arena_new(c->arena, struct awaited);
    w->call = c;
    w->obj = value_borrow(obj);
    w->err = ERR_INIT(c->arena);
    w->name = value_str(value_dig(obj, "metadata", "name"));
    w->key = stored_key(c->arena, c->stored, c->req.ns, w->name);
    (void)str_to_u64(value_str(value_dig(obj, "metadata", "resourceVersion")), &w->rev);
    http_to_loop(c->x, begin, w);
}
