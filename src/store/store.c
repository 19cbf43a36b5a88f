/* store.c - opening, closing, and the small questions. */
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/internal.h"

#include "base/banned.h"

/* ---- Layers ---- */

struct store__layers *store__layers_new(struct memtable *active, struct memtable *sealed)
{
    struct store__layers *l = mem_new(struct store__layers);
    l->refs = 1;
    l->active = memtable_ref(active);
    l->sealed = memtable_ref(sealed);
    return l;
}

struct store__layers *store__layers_unref(struct store__layers *l)
{
    if (l && atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) == 1) {
        memtable_unref(l->active);
        memtable_unref(l->sealed);
        free(l);
    }
    return NULL;
}

struct store__layers *store__layers_get(struct store *s)
{
    (void)pthread_mutex_lock(&s->layers_lock);
    struct store__layers *l = s->layers;
    atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
    (void)pthread_mutex_unlock(&s->layers_lock);
    return l;
}

void store__layers_set(struct store *s, struct memtable *active, struct memtable *sealed)
{
    struct store__layers *l = store__layers_new(active, sealed);
    (void)pthread_mutex_lock(&s->layers_lock);
    struct store__layers *old = s->layers;
    s->layers = l;
    (void)pthread_mutex_unlock(&s->layers_lock);
    store__layers_unref(old);
}

/* ---- Opening ---- */

int store__lock_dir(const char *dir, struct err *err)
{
    autofree char *path = NULL;
    if (asprintf(&path, "%s/lock", dir) < 0)
        mem_exhausted(strlen(dir));
    autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "open %s", path);
    char text[32] = { 0 };
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return err_errno(err, errno, "lock %s", path);
        ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
        struct str pid = str_trim((struct str){ text, n > 0 ? (size_t)n : 0 });
        return err_set(err, ERR_CONFLICT, "%s is in use by process " STR_FMT, dir, STR_ARG(pid));
    }
    int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return err_errno(err, errno, "write %s", path);
    return take_fd(&fd);
}

static int open_dirs(struct store *s, const struct store_options *opt, struct err *err)
{
    if (opt->engine != STORE_LMDB) {
        s->dir = mem_dup("memory", sizeof("memory"));
        s->log_dir = mem_dup("memory", sizeof("memory"));
        return 0;
    }
    s->dir = mem_dup(opt->dir, strlen(opt->dir) + 1);
    if (asprintf(&s->log_dir, "%s/log", opt->dir) < 0)
        mem_exhausted(strlen(opt->dir));
    int r = file_private_dir(s->dir, err);
    if (r < 0)
        return r;
    s->lock_fd = store__lock_dir(s->dir, err);
    if (s->lock_fd < 0)
        return s->lock_fd;
    return file_private_dir(s->log_dir, err);
}

static void init_locks(struct store *s)
{
    pthread_condattr_t mono;
    (void)pthread_condattr_init(&mono);
    (void)pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&s->layers_lock, NULL);
    (void)pthread_mutex_init(&s->queue_lock, NULL);
    (void)pthread_cond_init(&s->queue_moved, NULL);
    (void)pthread_mutex_init(&s->keeper_lock, NULL);
    (void)pthread_cond_init(&s->keeper_moved, &mono);
    (void)pthread_mutex_init(&s->waiters_lock, NULL);
    (void)pthread_cond_init(&s->rev_moved, &mono);
    (void)pthread_mutex_init(&s->feeds_lock, NULL);
    (void)pthread_mutex_init(&s->snaps_lock, NULL);
    (void)pthread_mutex_init(&s->damaged_lock, NULL);
    (void)pthread_condattr_destroy(&mono);
}

static struct store *store_new(const struct store_options *opt)
{
    struct store *s = mem_new(struct store);
    s->clock = opt->clock ? opt->clock : &clock_system;
    s->medium = opt->engine == STORE_LMDB ? &medium_disk : &medium_memory;
    s->source = opt->engine == STORE_MIRROR ? opt->source : NULL;
    assert(s->source || opt->engine != STORE_MIRROR);
    s->codec = s->source ? opt->source->codec : NULL;
    s->history_bytes = opt->history_bytes ? opt->history_bytes : STORE_HISTORY_BYTES;
    s->history_ns = opt->history_ns ? opt->history_ns : STORE_HISTORY_NS;
    s->table_bytes = STORE__TABLE_BYTES;
    /* A short history must not wait long for the checkpoint that shortens it. */
    if (s->table_bytes > s->history_bytes / 4)
        s->table_bytes = s->history_bytes / 4 < (64 << 10) ? 64 << 10 : s->history_bytes / 4;
    s->lock_fd = s->wal.prepared_fd = -1;
    s->queue_last = &s->queue;
    s->commit = store__commit_new();
    init_locks(s);
    return s;
}

static void store_free(struct store *s)
{
    store__snap_drop_idle(s);
    store__layers_unref(s->layers);
    if (s->wal.medium)
        wal_done(&s->wal);
    view_close(s->view);
    mem_cleanup_close(&s->lock_fd);
    store__commit_free(s->commit);
    store__damage_done(s);
    (void)pthread_mutex_destroy(&s->damaged_lock);
    (void)pthread_mutex_destroy(&s->snaps_lock);
    (void)pthread_mutex_destroy(&s->feeds_lock);
    (void)pthread_cond_destroy(&s->rev_moved);
    (void)pthread_mutex_destroy(&s->waiters_lock);
    (void)pthread_cond_destroy(&s->keeper_moved);
    (void)pthread_mutex_destroy(&s->keeper_lock);
    (void)pthread_cond_destroy(&s->queue_moved);
    (void)pthread_mutex_destroy(&s->queue_lock);
    (void)pthread_mutex_destroy(&s->layers_lock);
    free(s->log_dir);
    free(s->dir);
    free(s);
}

static void stop_commit(struct store *s)
{
    (void)pthread_mutex_lock(&s->queue_lock);
    s->commit_stops = true;
    (void)pthread_cond_signal(&s->queue_moved);
    (void)pthread_mutex_unlock(&s->queue_lock);
    (void)pthread_join(s->commit_thread, NULL);
}

static int start_threads(struct store *s, struct err *err)
{
    int rc = pthread_create(&s->commit_thread, NULL, store__commit_main, s);
    if (rc)
        return err_errno(err, rc, "start a thread");
    rc = pthread_create(&s->keeper_thread, NULL, store__keeper_main, s);
    if (rc) {
        stop_commit(s);
        return err_errno(err, rc, "start a thread");
    }
    (void)pthread_setname_np(s->commit_thread, "store-commit");
    (void)pthread_setname_np(s->keeper_thread, "store-keeper");
    return 0;
}

static int start(struct store *s, const struct store_options *opt, struct err *err)
{
    int r = open_dirs(s, opt, err);
    if (r < 0)
        return r;
    r = store__recover(s, opt, err);
    if (r < 0)
        return r;
    return start_threads(s, err);
}

static int try_open(const struct store_options *opt, bool is_tight, struct store **ret,
                    struct err *err)
{
    struct store *s = store_new(opt);
    s->is_tight = is_tight;
    int r = start(s, opt, err);
    if (r < 0) {
        store_free(s);
        return err_wrap(err, "open the store");
    }
    *ret = s;
    return 0;
}

int store_open(const struct store_options *opt, struct store **ret, struct err *err)
{
    int r = try_open(opt, false, ret, err);
    if (r != -ERR_NO_SPACE || opt->engine != STORE_LMDB || !store__drop_reserve(opt->dir))
        return r;
    if (err)
        err_clear(err);
    return try_open(opt, true, ret, err);
}

struct store *store_close(struct store *s)
{
    if (!s)
        return NULL;
    if (s->source)
        s->source->close(s->source); /* nothing arrives any more */
    /* What cannot be moved into the view now is in the log and will be at the next start. */
    if (s->medium->durable)
        (void)store__checkpoint(s, 0, NULL);
    (void)pthread_mutex_lock(&s->keeper_lock);
    s->keeper_stops = true;
    (void)pthread_cond_broadcast(&s->keeper_moved);
    (void)pthread_mutex_unlock(&s->keeper_lock);
    (void)pthread_join(s->keeper_thread, NULL);
    stop_commit(s);
    struct store_source *source = s->source;
    store_free(s);
    if (source)
        source->free(source);
    return NULL;
}

void store_set_codec(struct store *s, struct store_codec *c)
{
    s->codec = c;
}

/* ---- Small questions ---- */

uint64_t store_rev(struct store *s)
{
    return atomic_load_explicit(&s->rev, memory_order_acquire);
}

uint64_t store_floor(struct store *s)
{
    uint64_t floor = atomic_load_explicit(&s->floor, memory_order_acquire);
    uint64_t break_rev = atomic_load_explicit(&s->break_rev, memory_order_acquire);
    return floor > break_rev ? floor : break_rev;
}

int store_wait(struct store *s, uint64_t rev, int64_t timeout_ns, struct err *err)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ns / NS_PER_SEC;
    until.tv_nsec += timeout_ns % NS_PER_SEC;
    if (until.tv_nsec >= NS_PER_SEC) {
        until.tv_nsec -= NS_PER_SEC;
        until.tv_sec++;
    }
    (void)pthread_mutex_lock(&s->waiters_lock);
    s->n_waiters++;
    int rc = 0;
    while (store_rev(s) < rev && rc == 0)
        rc = pthread_cond_timedwait(&s->rev_moved, &s->waiters_lock, &until);
    s->n_waiters--;
    (void)pthread_mutex_unlock(&s->waiters_lock);
    if (store_rev(s) >= rev)
        return 0;
    return err_set(err, ERR_TIMEOUT, "revision %" PRIu64 " is not there yet (newest: %" PRIu64 ")",
                   rev, store_rev(s));
}

int store_compact(struct store *s, uint64_t rev, struct err *err)
{
    if (rev > store_rev(s))
        return err_set(err, ERR_INVALID,
                       "cannot compact to revision %" PRIu64 ", the newest is %" PRIu64, rev,
                       store_rev(s));
    if (s->source && rev > store_floor(s)) {
        int r = s->source->compact(s->source, rev, err);
        if (r < 0)
            return r;
    }
    return store__checkpoint(s, rev, err);
}

void store_stats(struct store *s, struct store_stats *ret)
{
    struct store__layers *l = store__layers_get(s);
    *ret = (struct store_stats){
        .rev = store_rev(s),
        .floor = store_floor(s),
        .keys = s->keys,
        .commits = s->n_commits,
        .groups = s->n_groups,
        .checkpoints = s->n_checkpoints,
        .log_bytes = wal_bytes(&s->wal),
        .view_bytes = view_bytes(s->view),
        .memory_bytes = memtable_bytes(l->active) + (l->sealed ? memtable_bytes(l->sealed) : 0),
        .damaged = s->n_damaged,
        .is_tight = s->is_tight,
        .failing = s->is_lost ? -ERR_IO : s->failing,
    };
    if (s->source && !ret->failing)
        ret->failing = s->source->failing(s->source);
    store__layers_unref(l);
}
