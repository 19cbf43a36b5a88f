#include "client/config/exec_source.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

struct exec_source {
    struct exec_source *next;
    struct buf key;
    size_t refs; /* under sources_lock, as is `next` */

    pthread_mutex_t lock; /* of what follows; held while the plugin runs, so that it runs once */
    struct spn_arena *arena;
    struct exec_credential known;
    uint64_t serial; /* 0: nothing is known */
};

static pthread_mutex_t sources_lock = PTHREAD_MUTEX_INITIALIZER;
static struct exec_source *sources;

/* ---- Which one ---- */

/* Its length first, so that no two lists of texts look alike. */
static void key_add(struct buf *key, struct spn_text t)
{
    buf_printf(key, "%zu:" SPN_FMT, t.n, SPN_ARG(t));
}

static void key_add_exec(struct buf *key, const struct spn_exec *exec)
{
    key_add(key, exec->command);
    key_add(key, exec->api_version);
    key_add(key, exec->interactive_mode);
    buf_printf(key, "%zu,%zu,%d;", exec->args.n, exec->n_env, exec->provide_cluster_info);
    for (size_t i = 0; i < exec->args.n; i++)
        key_add(key, exec->args.items[i]);
    for (size_t i = 0; i < exec->n_env; i++) {
        key_add(key, exec->env[i].name);
        key_add(key, exec->env[i].value);
    }
}

static void key_add_cluster(struct buf *key, const struct spn_config *cfg)
{
    key_add(key, cfg->server);
    key_add(key, cfg->tls_server_name);
    key_add(key, cfg->ca_data);
    key_add(key, cfg->ca_file);
    key_add(key, cfg->proxy_url);
    buf_printf(key, "%d,%d;", cfg->insecure, cfg->disable_compression);
    struct spn_arena *a = spn_arena_new();
    if (cfg->exec->cluster_config)
        key_add(key, spn_value_json(a, cfg->exec->cluster_config));
    spn_arena_free(a);
}

static struct exec_source *find_source(struct str key)
{
    for (struct exec_source *s = sources; s; s = s->next)
        if (str_eq(buf_str(&s->key), key))
            return s;
    return NULL;
}

static struct exec_source *new_source(struct str key)
{
    struct exec_source *s = mem_new(struct exec_source);
    buf_str_add(&s->key, key);
    s->arena = spn_arena_new();
    (void)pthread_mutex_init(&s->lock, NULL);
    s->next = sources;
    sources = s;
    return s;
}

struct exec_source *exec_source_ref(const struct spn_config *cfg)
{
    autobuf key = { 0 };
    key_add_exec(&key, cfg->exec);
    key_add_cluster(&key, cfg);
    (void)pthread_mutex_lock(&sources_lock);
    struct exec_source *s = find_source(buf_str(&key));
    s = s ? s : new_source(buf_str(&key));
    s->refs++;
    (void)pthread_mutex_unlock(&sources_lock);
    return s;
}

static void forget_source(struct exec_source *s)
{
    struct exec_source **at = &sources;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
}

struct exec_source *exec_source_unref(struct exec_source *s)
{
    if (!s)
        return NULL;
    (void)pthread_mutex_lock(&sources_lock);
    bool is_last = --s->refs == 0;
    if (is_last)
        forget_source(s);
    (void)pthread_mutex_unlock(&sources_lock);
    if (!is_last)
        return NULL;
    buf_done(&s->key);
    spn_arena_free(s->arena);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}

/* ---- What it says ---- */

static bool is_fresh(const struct exec_source *s, const struct exec_question *q)
{
    return s->serial && s->serial != q->refused && q->now_ns <= s->known.expires_ns;
}

static int run(struct exec_source *s, const struct exec_question *q, struct spn_err *err)
{
    struct spn_arena *a = spn_arena_new();
    struct exec_credential said;
    int r = exec_plugin_run(q->cfg, q->ca, a, &said, err);
    if (r < 0) {
        spn_arena_free(a);
        return r;
    }
    spn_arena_free(s->arena);
    s->arena = a;
    s->known = said;
    s->serial++;
    return 0;
}

static int get(struct exec_source *s, const struct exec_question *q, struct spn_arena *a,
               struct exec_credential *ret, uint64_t *ret_serial, struct spn_err *err)
{
    int r = is_fresh(s, q) ? 0 : run(s, q, err);
    if (r < 0)
        return r;
    *ret = (struct exec_credential){
        .token = spn_arena_text(a, s->known.token),
        .cert = spn_arena_text(a, s->known.cert),
        .key = spn_arena_text(a, s->known.key),
        .expires_ns = s->known.expires_ns,
    };
    *ret_serial = s->serial;
    return 0;
}

int exec_source_get(struct exec_source *s, const struct exec_question *q, struct spn_arena *a,
                    struct exec_credential *ret, uint64_t *ret_serial, struct spn_err *err)
{
    (void)pthread_mutex_lock(&s->lock);
    int r = get(s, q, a, ret, ret_serial, err);
    (void)pthread_mutex_unlock(&s->lock);
    return r;
}
