/* remote.c - opening and closing. */
#include "remote/remote.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "remote/remote_internal.h"

#include "base/banned.h"

static void init_locks(struct remote *r)
{
    pthread_condattr_t mono;
    (void)pthread_condattr_init(&mono);
    (void)pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&r->token_lock, NULL);
    (void)pthread_mutex_init(&r->lease_lock, NULL);
    (void)pthread_mutex_init(&r->sent_lock, NULL);
    (void)pthread_cond_init(&r->sent_moved, &mono);
    (void)pthread_mutex_init(&r->wait_lock, NULL);
    (void)pthread_cond_init(&r->wait_moved, &mono);
    (void)pthread_cond_init(&r->sync_idle, &mono);
    (void)pthread_mutex_init(&r->stream_lock, NULL);
    (void)pthread_cond_init(&r->watch_moved, &mono);
    (void)pthread_mutex_init(&r->queue_lock, NULL);
    (void)pthread_cond_init(&r->queue_moved, &mono);
    (void)pthread_condattr_destroy(&mono);
}

static void remote_free(struct store_source *src)
{
    struct remote *r = (struct remote *)src;
    remote__disconnect(r);
    (void)pthread_cond_destroy(&r->queue_moved);
    (void)pthread_mutex_destroy(&r->queue_lock);
    (void)pthread_cond_destroy(&r->watch_moved);
    (void)pthread_mutex_destroy(&r->stream_lock);
    (void)pthread_cond_destroy(&r->sync_idle);
    (void)pthread_cond_destroy(&r->wait_moved);
    (void)pthread_mutex_destroy(&r->wait_lock);
    (void)pthread_cond_destroy(&r->sent_moved);
    (void)pthread_mutex_destroy(&r->sent_lock);
    (void)pthread_mutex_destroy(&r->lease_lock);
    (void)pthread_mutex_destroy(&r->token_lock);
    buf_done(&r->token);
    arena_done(&r->arena);
    free(r);
}

static void stop(struct remote *r, pthread_mutex_t *lock, pthread_cond_t *moved, bool *flag,
                 pthread_t thread)
{
    (void)pthread_mutex_lock(lock);
    *flag = true;
    (void)pthread_cond_broadcast(moved);
    (void)pthread_mutex_unlock(lock);
    if (r->has_threads)
        (void)pthread_join(thread, NULL);
}

/* No transaction is left, says store_close(); but someone may still wait for the mirror. */
static void remote_close(struct store_source *src)
{
    struct remote *r = (struct remote *)src;
    r->is_closed = true;
    stop(r, &r->sent_lock, &r->sent_moved, &r->answers_stop, r->answers_thread);
    stop(r, &r->stream_lock, &r->watch_moved, &r->watch_stops, r->watch_thread);
    stop(r, &r->wait_lock, &r->wait_moved, &r->sync_stops, r->sync_thread);
    remote__end_waiters(r);
}

static int remote_failing(struct store_source *src)
{
    return ((struct remote *)src)->failing;
}

static struct remote *remote_new(const struct remote_options *opt)
{
    struct remote *r = mem_new(struct remote);
    autobuf text = { 0 };
    arena_init(&r->arena);
    init_locks(r);
    r->source = (struct store_source){
        .codec = opt->codec,
        .fill = remote__fill,
        .submit = remote__submit,
        .prepare = remote__prepare,
        .sync = remote__sync,
        .quit = remote__quit,
        .compact = remote__compact,
        .published = remote__published,
        .failing = remote_failing,
        .close = remote_close,
        .free = remote_free,
    };
    r->codec = opt->codec;
    r->keep = opt->keep;
    r->sent_last = &r->sent;
    r->tick_ns = (opt->tick_ms ? opt->tick_ms : 20) * NS_PER_MS;
    r->compact_ns = opt->compact_ms ? opt->compact_ms * NS_PER_MS : INT64_C(5) * 60 * NS_PER_SEC;
    r->user = arena_str(&r->arena, opt->user);
    r->password = arena_str(&r->arena, opt->password);
    r->prefix = arena_str(&r->arena, opt->prefix);
    while (str_ends(r->prefix, STR("/")))
        r->prefix.n--;
    r->range_key = arena_printf(&r->arena, STR_FMT "/", STR_ARG(r->prefix));
    remote_key_end(&text, r->range_key);
    r->range_end = arena_str(&r->arena, buf_str(&text));
    r->tick_key =
        arena_printf(&r->arena, STR_FMT STR_FMT, STR_ARG(r->prefix), STR_ARG(REMOTE_TICK));
    return r;
}

static int start_threads(struct remote *r, struct err *err)
{
    static void *(*const mains[])(void *) = { remote__answers_main, remote__watch_main,
                                              remote__sync_main };
    pthread_t *const threads[] = { &r->answers_thread, &r->watch_thread, &r->sync_thread };
    static const char *const names[] = { "etcd-answers", "etcd-watch", "etcd-sync" };
    for (size_t i = 0; i < 3; i++) {
        int rc = pthread_create(threads[i], NULL, mains[i], r);
        assert(rc == 0 || i == 0); /* some without others could not be ended */
        if (rc)
            return err_errno(err, rc, "start a thread");
        (void)pthread_setname_np(*threads[i], names[i]);
    }
    r->has_threads = true;
    return 0;
}

static int start(struct remote *r, struct err *err)
{
    int res = start_threads(r, err);
    if (res < 0)
        return res;
    return store_sync_wait(r->store, err);
}

static int open_mirror(struct remote *r, const struct remote_options *opt, struct err *err)
{
    int res = remote__connect(r, opt, err);
    if (res < 0)
        return res;
    res = remote__find_start(r, err);
    if (res < 0)
        return res;
    return store_open(&(struct store_options){ .engine = STORE_MIRROR,
                                               .source = &r->source,
                                               .clock = opt->clock,
                                               .history_bytes = opt->history_bytes,
                                               .history_ns = opt->history_ns },
                      &r->store, err);
}

int remote_open(const struct remote_options *opt, struct store **ret, struct err *err)
{
    struct remote *r = remote_new(opt);
    int res = open_mirror(r, opt, err);
    if (res < 0) {
        remote_free(&r->source);
        return err_wrap(err, "open the store in etcd");
    }
    struct store *s = r->store;
    res = start(r, err);
    if (res < 0) {
        store_close(s);
        return err_wrap(err, "open the store in etcd");
    }
    *ret = s;
    return 0;
}
