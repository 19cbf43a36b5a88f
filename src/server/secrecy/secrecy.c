#include "server/secrecy/secrecy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/core/reloads.h"
#include "server/secrecy/secrecy_kms.h"
#include "server/secrecy/secrecy_set.h"
#include "base/banned.h"

#define FILE_EVERY_NS     (60 * NS_PER_SEC)
#define KMS_WELL_EVERY_NS (60 * NS_PER_SEC)
#define KMS_ILL_EVERY_NS  (10 * NS_PER_SEC)

enum { PREPARE_ROUNDS = 8, PREPARE_OBJECTS = 1000 };

/* A configuration that is in use or was. */
struct state {
    struct state *older;
    struct arena arena;
    struct secrecy_config config;
    struct secrecy_set set;
    char hash[RELOADS_HASH_TEXT];
};

/* A key management service; lives to the end, because states that were in use point to it. */
struct plugin {
    struct plugin *next;
    struct secrecy_kms *kms;
    bool is_used; /* by the configuration in use; the thread's own */
    int64_t due_ns;
};

struct secrecy {
    struct store_codec codec;
    char *file;
    bool reloads;
    struct state *_Atomic now;
    struct plugin *plugins; /* the thread's own, once it runs */
    _Atomic bool is_ill;
    struct reloads tries;

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t woken;
    bool stops, looks, fetches;
};

/* ---- The codec ---- */

static const struct secrecy_set *set_of(struct store_codec *c)
{
    struct secrecy *s = container_of(c, struct secrecy, codec);
    return &atomic_load_explicit(&s->now, memory_order_acquire)->set;
}

static int codec_open(struct store_codec *c, struct arena *a, struct store_entry *e,
                      struct err *err)
{
    return secrecy_set_open(set_of(c), a, e, err);
}

static int codec_seal(struct store_codec *c, struct str key, struct str value, struct buf *out,
                      struct err *err)
{
    return secrecy_set_seal(set_of(c), key, value, out, err);
}

struct store_codec *secrecy_codec(struct secrecy *s)
{
    return &s->codec;
}

/* ---- States ---- */

static struct state *state_free(struct state *st)
{
    if (!st)
        return NULL;
    secrecy_set_done(&st->set);
    arena_done(&st->arena);
    free(st);
    return NULL;
}

static int read_file(const char *file, struct buf *ret, struct err *err)
{
    int r = file_read(file, SECRECY_FILE_BYTES, ret, err);
    if (r < 0)
        return err_wrap(err,
                        "error while parsing file: error while loading file: error reading "
                        "encryption provider configuration file \"%s\"",
                        file);
    return 0;
}

static void on_wanted(void *arg) /* any thread */
{
    struct secrecy *s = arg;
    (void)pthread_mutex_lock(&s->lock);
    s->fetches = true;
    (void)pthread_cond_signal(&s->woken);
    (void)pthread_mutex_unlock(&s->lock);
}

/* The one that is there already, or a new one. */
static int find_plugin(struct secrecy *s, struct secrecy_provider *p, struct err *err)
{
    for (struct plugin *at = s->plugins; at; at = at->next) {
        if (secrecy_kms_is(at->kms, p->name, p->endpoint, p->timeout_ns)) {
            p->kms = at->kms;
            return 0;
        }
    }
    const struct secrecy_kms_options opt = { p->name, p->endpoint, p->timeout_ns, on_wanted, s };
    int r = secrecy_kms_new(&opt, &p->kms, err);
    if (r < 0)
        return r;
    struct plugin *plugin = mem_new(struct plugin);
    *plugin = (struct plugin){ .next = s->plugins, .kms = p->kms };
    s->plugins = plugin;
    return 0;
}

static int for_each_kms(struct secrecy *s, struct state *st,
                        int (*each)(struct secrecy *s, struct secrecy_provider *p, struct err *err),
                        struct err *err)
{
    for (size_t i = 0; i < st->config.n_rules; i++) {
        for (size_t j = 0; j < st->config.rules[i].n_providers; j++) {
            struct secrecy_provider *p = &st->config.rules[i].providers[j];
            int r = p->type == SECRECY_KMS ? each(s, p, err) : 0;
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int state_fill(struct secrecy *s, struct state *st, struct str text, struct err *err)
{
    struct err why = ERR_INIT(&st->arena);
    int r = secrecy_config_read(&st->arena, s->file, text, &st->config, &why);
    if (r < 0)
        return err_set(err, why.code, STR_FMT, STR_ARG(why.msg));
    r = for_each_kms(s, st, find_plugin, err);
    if (r < 0)
        return r;
    secrecy_set_init(&st->set, &st->arena, &st->config);
    return 0;
}

static int state_new(struct secrecy *s, struct str text, struct state **ret, struct err *err)
{
    struct state *st = mem_new(struct state);
    arena_init(&st->arena);
    reloads_hash(text, st->hash);
    int r = state_fill(s, st, text, err);
    if (r < 0) {
        state_free(st);
        return r;
    }
    *ret = st;
    return 0;
}

static int mark_used(struct secrecy *s, struct secrecy_provider *p, struct err *err)
{
    (void)err;
    for (struct plugin *at = s->plugins; at; at = at->next)
        at->is_used |= at->kms == p->kms;
    return 0;
}

static void use(struct secrecy *s, struct state *st)
{
    for (struct plugin *at = s->plugins; at; at = at->next)
        at->is_used = false;
    (void)for_each_kms(s, st, mark_used, NULL);
    st->older = s->now;
    atomic_store_explicit(&s->now, st, memory_order_release);
    reloads_use(&s->tries, st->hash);
}

/* ---- Looking ---- */

static int64_t now_ns(void)
{
    return clock_mono_ns(&clock_system);
}

/* Asks one that is due, and says when it is again. */
static void check_plugin(struct plugin *p)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    bool was_well = secrecy_kms_is_well(p->kms);
    bool is_well = secrecy_kms_check(p->kms, &err) == 0;
    if (!is_well)
        log_warn("a key management service is not well", LOG_ERR(&err));
    else if (!was_well)
        log_info("a key management service is well");
    p->due_ns = now_ns() + (is_well ? KMS_WELL_EVERY_NS : KMS_ILL_EVERY_NS);
    arena_done(&a);
}

/* Those that are due, or all. */
static void check_plugins(struct secrecy *s, bool all)
{
    bool is_ill = false;
    for (struct plugin *p = s->plugins; p; p = p->next) {
        if (!p->is_used)
            continue;
        if (all || p->due_ns <= now_ns())
            check_plugin(p);
        is_ill |= !secrecy_kms_is_well(p->kms);
    }
    atomic_store(&s->is_ill, is_ill);
}

static size_t fetch_seeds(struct secrecy *s)
{
    size_t n = 0;
    for (struct plugin *p = s->plugins; p; p = p->next)
        n += secrecy_kms_fetch(p->kms);
    return n;
}

/* A new configuration is only used if all that it names can be reached. */
static int check_new(struct secrecy *s, struct secrecy_provider *p, struct err *err)
{
    (void)s;
    int r = secrecy_kms_is_well(p->kms) ? 0 : secrecy_kms_check(p->kms, err);
    return r < 0 ? err_wrap(err, "health check for new transformers failed") : 0;
}

/* 1 if the file has changed and is in use now, 0 if it has not. */
static int reload(struct secrecy *s, struct err *err)
{
    autobuf text = { 0 };
    char hash[RELOADS_HASH_TEXT];
    struct state *st;
    int r = read_file(s->file, &text, err);
    if (r < 0)
        return r;
    reloads_hash(buf_str(&text), hash);
    if (strcmp(hash, s->now->hash) == 0)
        return 0;
    r = state_new(s, buf_str(&text), &st, err);
    if (text.n)
        explicit_bzero(text.p, text.n);
    if (r < 0)
        return r;
    r = for_each_kms(s, st, check_new, err);
    if (r < 0) {
        state_free(st);
        return r;
    }
    use(s, st);
    return 1;
}

static void reload_and_tell(struct secrecy *s)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    reloads_note(&s->tries, reload(s, &err), &err);
    arena_done(&a);
}

/* ---- The thread ---- */

static int64_t next_due(const struct secrecy *s, int64_t file_ns)
{
    int64_t due = file_ns;
    for (const struct plugin *p = s->plugins; p; p = p->next)
        if (p->is_used && p->due_ns < due)
            due = p->due_ns;
    return due;
}

/* Sleeps until something is due or somebody calls; whether the file is to be looked at. */
static bool wait_for_work(struct secrecy *s, int64_t due_ns, bool *ret_looks)
{
    struct timespec until = { .tv_sec = due_ns / NS_PER_SEC, .tv_nsec = due_ns % NS_PER_SEC };
    (void)pthread_mutex_lock(&s->lock);
    int rc = 0;
    while (!s->stops && !s->looks && !s->fetches && rc == 0)
        rc = pthread_cond_timedwait(&s->woken, &s->lock, &until);
    bool goes_on = !s->stops;
    *ret_looks = s->looks;
    s->looks = s->fetches = false;
    (void)pthread_mutex_unlock(&s->lock);
    return goes_on;
}

static void *run(void *arg)
{
    struct secrecy *s = arg;
    int64_t file_ns = now_ns() + FILE_EVERY_NS;
    bool looks;
    while (wait_for_work(s, next_due(s, file_ns), &looks)) {
        if (looks || now_ns() >= file_ns) {
            if (s->reloads)
                reload_and_tell(s);
            file_ns = now_ns() + FILE_EVERY_NS;
        }
        check_plugins(s, looks);
        (void)fetch_seeds(s);
    }
    return NULL;
}

static int start_thread(struct secrecy *s, struct err *err)
{
    if (!s->reloads && !s->plugins)
        return 0;
    int rc = pthread_create(&s->thread, NULL, run, s);
    if (rc)
        return err_errno(err, rc, "start a thread");
    (void)pthread_setname_np(s->thread, "secrecy");
    s->has_thread = true;
    return 0;
}

void secrecy_look(struct secrecy *s)
{
    if (!s)
        return;
    (void)pthread_mutex_lock(&s->lock);
    s->looks = true;
    (void)pthread_cond_signal(&s->woken);
    (void)pthread_mutex_unlock(&s->lock);
}

/* ---- Life ---- */

static struct secrecy *secrecy_alloc(const struct secrecy_options *opt)
{
    struct secrecy *s = mem_new(struct secrecy);
    s->codec = (struct store_codec){ codec_open, codec_seal };
    s->file = mem_dup(opt->file, strlen(opt->file) + 1);
    s->reloads = opt->reloads;
    reloads_init(&s->tries, "encryption", s->file);
    pthread_condattr_t mono;
    (void)pthread_condattr_init(&mono);
    (void)pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&s->woken, &mono);
    (void)pthread_condattr_destroy(&mono);
    (void)pthread_mutex_init(&s->lock, NULL);
    return s;
}

static int load(struct secrecy *s, struct err *err)
{
    autobuf text = { 0 };
    struct state *st;
    int r = read_file(s->file, &text, err);
    if (r < 0)
        return r;
    r = state_new(s, buf_str(&text), &st, err);
    if (text.n)
        explicit_bzero(text.p, text.n);
    if (r < 0)
        return r;
    use(s, st);
    check_plugins(s, true);
    return 0;
}

int secrecy_new(const struct secrecy_options *opt, struct secrecy **ret, struct err *err)
{
    struct secrecy *s = secrecy_alloc(opt);
    int r = load(s, err);
    if (r < 0) {
        secrecy_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

static void stop_thread(struct secrecy *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->stops = true;
    (void)pthread_cond_signal(&s->woken);
    (void)pthread_mutex_unlock(&s->lock);
    (void)pthread_join(s->thread, NULL);
}

struct secrecy *secrecy_free(struct secrecy *s)
{
    if (!s)
        return NULL;
    if (s->has_thread)
        stop_thread(s);
    for (struct state *st = s->now, *older; st; st = older) {
        older = st->older;
        state_free(st);
    }
    for (struct plugin *p = s->plugins, *next; p; p = next) {
        next = p->next;
        secrecy_kms_free(p->kms);
        free(p);
    }
    reloads_done(&s->tries);
    (void)pthread_cond_destroy(&s->woken);
    (void)pthread_mutex_destroy(&s->lock);
    free(s->file);
    free(s);
    return NULL;
}

/* Reads some objects and moves `start` behind them; false at the end. What a snapshot has opened it
 * holds until it ends, so it must not be too much. */
static bool read_page(struct store *store, struct buf *start)
{
    struct store_snap *snap;
    struct store_entry e = { 0 };
    int r = store_snap_begin(store, 0, &snap, NULL);
    if (r < 0)
        return false;
    store_range_begin(snap, STR("/registry/"), buf_str(start));
    for (int i = 0; i < PREPARE_OBJECTS; i++) {
        r = store_range_next(snap, &e, NULL);
        if (r <= 0 && r != -ERR_DAMAGED)
            break;
    }
    buf_reset(start);
    buf_str_add(start, e.key);
    buf_byte(start, '\0');
    store_snap_end(snap);
    return r > 0 || r == -ERR_DAMAGED;
}

/* What lacks its seed puts it on the list. */
static void read_all(struct store *store)
{
    autobuf start = { 0 };
    while (read_page(store, &start))
        ;
}

int secrecy_start(struct secrecy *s, struct store *store, struct err *err)
{
    for (int i = 0; i < PREPARE_ROUNDS && s->now->set.has_kms; i++) {
        read_all(store);
        if (fetch_seeds(s) == 0)
            break;
    }
    return start_thread(s, err);
}

/* ---- What others ask ---- */

bool secrecy_is_checked(const struct secrecy *s)
{
    return s && (s->reloads || s->now->set.has_kms);
}

bool secrecy_is_well(const struct secrecy *s)
{
    return !s || !atomic_load(&s->is_ill);
}

void secrecy_metrics(struct secrecy *s, struct buf *out)
{
    if (!s)
        return;
    char id[RELOADS_HASH_TEXT];
    reloads_server_id(id);
    if (s->reloads)
        reloads_write_counts(&s->tries, id, out);
    reloads_write_hash(&s->tries, id, out);
}
