#include "server/guard/authorization.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "auth/authorization_config.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/core/reloads.h"
#include "server/guard/access_webhook.h"
#include "base/banned.h"

enum { LOOK_SECONDS = 60 };

struct authorization {
    const struct authorization_options *opt;
    const struct clock *clock;
    const atomic_bool *cancel;
    struct guard *guard;
    unsigned required;    /* types of the first configuration: they must stay */
    struct buf last_text; /* of the file; its thread's own once that runs */

    struct reloads reloads;

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t woken;
    bool stops, looks;
};

static void use_text(struct authorization *z, struct str text)
{
    char hash[RELOADS_HASH_TEXT];
    reloads_hash(text, hash);
    reloads_use(&z->reloads, hash);
}

/* ---- Making a chain ---- */

static int add_webhook(struct authorization *z, struct guard_chain *chain,
                       const struct authorizer_config *c, struct err *err)
{
    struct guard_hook *hook;
    if (!c->webhook.kubeconfig.n)
        return err_set(err, ERR_INVALID,
                       "authorizer " STR_FMT ": this server runs in no cluster whose "
                       "InClusterConfig it could use",
                       STR_ARG(c->name));
    int r = access_webhook_new(&c->webhook, z->clock, z->cancel, &hook, err);
    if (r < 0)
        return r;
    guard_chain_add(chain, GUARD_WEBHOOK, c->name, hook);
    return 0;
}

static int add_authorizer(struct authorization *z, struct guard_chain *chain,
                          const struct authorizer_config *c, struct err *err)
{
    static const enum guard_mode modes[AUTHORIZER_TYPES] = {
        [AUTHORIZER_ALWAYS_ALLOW] = GUARD_ALWAYS_ALLOW,
        [AUTHORIZER_ALWAYS_DENY] = GUARD_ALWAYS_DENY,
        [AUTHORIZER_NODE] = GUARD_NODE,
        [AUTHORIZER_RBAC] = GUARD_RBAC,
    };
    struct str type = authorizer_type_names[c->type];
    bool must_be_old = c->type == AUTHORIZER_NODE || c->type == AUTHORIZER_RBAC;
    if (c->type == AUTHORIZER_WEBHOOK)
        return add_webhook(z, chain, c, err);
    if (c->type == AUTHORIZER_ABAC)
        return err_set(err, ERR_INVALID, "authorizer type ABAC is not supported");
    if (must_be_old && z->guard && !(z->required >> c->type & 1))
        return err_set(err, ERR_INVALID,
                       "authorizer type " STR_FMT
                       " is not allowed if it was not enabled at initial server startup",
                       STR_ARG(type));
    guard_chain_add(chain, modes[c->type], c->name, NULL);
    return 0;
}

static int add_all(struct authorization *z, struct guard_chain *chain,
                   const struct authorization_config *config, struct err *err)
{
    for (size_t i = 0; i < config->n; i++) {
        int r = add_authorizer(z, chain, &config->at[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* By the flags, as upstream makes a configuration of them. */
static void config_by_flags(struct arena *a, const struct authorization_options *opt,
                            struct authorization_config *ret)
{
    static const struct {
        enum authorizer_type type;
        struct str name;
    } rows[GUARD_MODES_MAX] = {
        [GUARD_NODE] = { AUTHORIZER_NODE, STR("node") },
        [GUARD_RBAC] = { AUTHORIZER_RBAC, STR("rbac") },
        [GUARD_ALWAYS_ALLOW] = { AUTHORIZER_ALWAYS_ALLOW, STR("alwaysallow") },
        [GUARD_ALWAYS_DENY] = { AUTHORIZER_ALWAYS_DENY, STR("alwaysdeny") },
        [GUARD_WEBHOOK] = { AUTHORIZER_WEBHOOK, STR("default") },
    };
    static const struct guard_modes usual = { .at = { GUARD_NODE, GUARD_RBAC }, .n = 2 };
    const struct guard_modes *modes = opt->modes.n ? &opt->modes : &usual;
    struct authorizer_config *all = arena_array(a, struct authorizer_config, modes->n);
    for (size_t i = 0; i < modes->n; i++) {
        all[i].type = rows[modes->at[i]].type;
        all[i].name = rows[modes->at[i]].name;
        all[i].webhook = (struct authorization_webhook){
            .allowed_ttl_ns = opt->webhook_allowed_ttl_ns,
            .refused_ttl_ns = opt->webhook_refused_ttl_ns,
            .timeout_ns = 30 * NS_PER_SEC,
            .is_v1 = opt->webhook_is_v1,
            .kubeconfig = str_of(opt->webhook_kubeconfig ? opt->webhook_kubeconfig : ""),
        };
    }
    *ret = (struct authorization_config){ all, modes->n };
}

static struct str file_fault(struct arena *a, struct str path)
{
    struct stat st;
    if (stat(str_cstr(a, path), &st) < 0)
        return arena_printf(a, "error loading file: stat " STR_FMT ": %s", STR_ARG(path),
                            errno == ENOENT ? "no such file or directory" : strerror(errno));
    return S_ISREG(st.st_mode) ? STR("") : STR("must be a regular file");
}

/* The configuration lies in the chain's arena, and so do the names in it. */
static int fill_chain(struct authorization *z, struct guard_chain *chain, struct str text,
                      struct err *err)
{
    const struct authorization_reading reading = { .file_fault = file_fault,
                                                   .required = z->guard ? z->required : 0 };
    struct authorization_config config;
    struct err own = ERR_INIT(&chain->arena);
    int r = 0;
    if (z->opt->config_file)
        r = authorization_config_read(&chain->arena, text, &reading, &config, &own);
    else
        config_by_flags(&chain->arena, z->opt, &config);
    if (r < 0)
        return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(own.msg));
    for (size_t i = 0; !z->guard && i < config.n; i++)
        if (config.at[i].type != AUTHORIZER_WEBHOOK)
            z->required |= 1U << config.at[i].type;
    return add_all(z, chain, &config, err);
}

static int make_chain(struct authorization *z, struct str text, struct guard_chain **ret,
                      struct err *err)
{
    struct guard_chain *chain = guard_chain_new();
    int r = fill_chain(z, chain, text, err);
    if (r < 0) {
        guard_chain_unref(chain);
        return r;
    }
    *ret = chain;
    return 0;
}

/* ---- Following the file ---- */

/* 1: there is a new chain; 0: nothing has changed. */
static int reload(struct authorization *z, struct err *err)
{
    struct guard_chain *chain;
    autobuf text = { 0 };
    int r = file_read(z->opt->config_file, AUTHORIZATION_FILE_BYTES, &text, err);
    if (r < 0)
        return r;
    if (str_eq(buf_str(&text), buf_str(&z->last_text)))
        return 0;
    buf_reset(&z->last_text);
    buf_str_add(&z->last_text, buf_str(&text));
    r = make_chain(z, buf_str(&text), &chain, err);
    if (r < 0)
        return r;
    guard_set_chain(z->guard, chain);
    use_text(z, buf_str(&text));
    return 1;
}

static void reload_and_tell(struct authorization *z)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    reloads_note(&z->reloads, reload(z, &err), &err);
    arena_done(&a);
}

/* False: it is over. */
static bool wait_for_look(struct authorization *z)
{
    int64_t due = clock_mono_ns(&clock_system) + LOOK_SECONDS * NS_PER_SEC;
    const struct timespec until = { .tv_sec = due / NS_PER_SEC, .tv_nsec = due % NS_PER_SEC };
    int rc = 0;
    (void)pthread_mutex_lock(&z->lock);
    while (!z->stops && !z->looks && rc == 0)
        rc = pthread_cond_timedwait(&z->woken, &z->lock, &until);
    z->looks = false;
    bool goes_on = !z->stops;
    (void)pthread_mutex_unlock(&z->lock);
    return goes_on;
}

static void *run(void *arg)
{
    while (wait_for_look(arg))
        reload_and_tell(arg);
    return NULL;
}

int authorization_follow(struct authorization *z, struct guard *guard, struct err *err)
{
    z->guard = guard;
    if (!z->opt->config_file)
        return 0;
    int rc = pthread_create(&z->thread, NULL, run, z);
    if (rc)
        return err_errno(err, rc, "start a thread");
    (void)pthread_setname_np(z->thread, "authorization");
    z->has_thread = true;
    return 0;
}

static void wake(struct authorization *z, bool *what)
{
    (void)pthread_mutex_lock(&z->lock);
    *what = true;
    (void)pthread_cond_signal(&z->woken);
    (void)pthread_mutex_unlock(&z->lock);
}

void authorization_look(struct authorization *z)
{
    if (z)
        wake(z, &z->looks);
}

/* ---- Beginning and end ---- */

static struct authorization *authorization_alloc(const struct authorization_options *opt,
                                                 const struct clock *clock,
                                                 const atomic_bool *cancel)
{
    struct authorization *z = mem_new(struct authorization);
    z->opt = opt;
    z->clock = clock;
    z->cancel = cancel;
    reloads_init(&z->reloads, "authorization", opt->config_file);
    pthread_condattr_t mono;
    (void)pthread_condattr_init(&mono);
    (void)pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&z->woken, &mono);
    (void)pthread_condattr_destroy(&mono);
    (void)pthread_mutex_init(&z->lock, NULL);
    return z;
}

static int load(struct authorization *z, struct guard_chain **ret, struct err *err)
{
    int r = z->opt->config_file
                ? file_read(z->opt->config_file, AUTHORIZATION_FILE_BYTES, &z->last_text, err)
                : 0;
    if (r < 0)
        return r;
    use_text(z, buf_str(&z->last_text));
    r = make_chain(z, buf_str(&z->last_text), ret, err);
    if (r < 0)
        return err_wrap(err, "%s",
                        z->opt->config_file ? z->opt->config_file
                                            : "--authorization-webhook-config-file");
    return 0;
}

int authorization_new(const struct authorization_options *opt, const struct clock *clock,
                      const atomic_bool *cancel, struct authorization **ret,
                      struct guard_chain **ret_chain, struct err *err)
{
    struct authorization *z = authorization_alloc(opt, clock, cancel);
    int r = load(z, ret_chain, err);
    if (r < 0) {
        authorization_free(z);
        return r;
    }
    *ret = z;
    return 0;
}

struct authorization *authorization_free(struct authorization *z)
{
    if (!z)
        return NULL;
    if (z->has_thread) {
        wake(z, &z->stops);
        (void)pthread_join(z->thread, NULL);
    }
    buf_done(&z->last_text);
    reloads_done(&z->reloads);
    (void)pthread_cond_destroy(&z->woken);
    (void)pthread_mutex_destroy(&z->lock);
    free(z);
    return NULL;
}

/* ---- Metrics ---- */

void authorization_write_metrics(struct authorization *z, struct buf *out)
{
    char id[RELOADS_HASH_TEXT];
    if (!z || !z->opt->config_file)
        return;
    reloads_server_id(id);
    reloads_write_counts(&z->reloads, id, out);
    reloads_write_hash(&z->reloads, id, out);
}
