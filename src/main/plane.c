#include "main/plane.h"

#include <limits.h>
#include <pthread.h>
#include <sampan/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "main/program_controllers.h"
#include "main/program_nodes.h"
#include "main/program_scheduler.h"
#include "metrics/metrics_server.h"
#include "net/crypto/cipher.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

struct plane {
    struct arena arena;
    const struct plane_options *opt;
    struct spn_stop *stop;
    struct spn_config cfg; /* without the token */
    struct program_manager manager;
    struct program_controllers controllers;
    struct program_scheduler scheduler;
    struct simulate_options nodes;
    struct spn_stop *is_running; /* set once they work */
    pthread_t thread;
    bool has_thread;

    /* Of one run. */
    struct spn_client *scheduler_client, *nodes_client; /* NULL: there are none */
    struct simulation *simulation;
    struct spn_client *metrics_client;
    struct metrics_server *metrics;
};

/* ---- Tokens ---- */

static struct str hex(struct arena *a, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *text = arena_array(a, char, 2 * n);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return (struct str){ text, 2 * n };
}

static int token_new(struct arena *a, struct str *ret, struct err *err)
{
    unsigned char bytes[32];
    int r = cipher_random(bytes, sizeof(bytes), err);
    if (r < 0)
        return r;
    *ret = hex(a, bytes, sizeof(bytes));
    return 0;
}

int plane_tokens_new(struct arena *a, struct plane_tokens *ret, struct err *err)
{
    struct str *const all[] = { &ret->controllers, &ret->scheduler, &ret->nodes, &ret->own_node };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        int r = token_new(a, all[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

struct str plane_tokens_text(struct arena *a, const struct plane_tokens *t)
{
    struct str own = STR("");
    if (t->own_node_name.n)
        own = arena_printf(a, STR_FMT ",system:node:" STR_FMT ",,system:nodes\n",
                           STR_ARG(t->own_node), STR_ARG(t->own_node_name));
    return arena_printf(a,
                        STR_FMT ",system:kube-controller-manager,,system:masters\n" STR_FMT
                                ",system:kube-scheduler,,system:masters\n" STR_FMT
                                ",system:simulated-nodes,,system:masters\n" STR_FMT,
                        STR_ARG(t->controllers), STR_ARG(t->scheduler), STR_ARG(t->nodes),
                        STR_ARG(own));
}

/* ---- One run: one manager, so that all of them share their caches ---- */

static int connect_as(const struct plane *p, struct str token, const char *agent,
                      struct spn_client **ret, struct spn_err *err)
{
    struct spn_config cfg = p->cfg;
    cfg.token = text_out(token);
    cfg.user_agent = spn_text_of(agent);
    return spn_client_new(&cfg, ret, err);
}

static int add_scheduler(struct plane *p, struct spn_manager *m, struct spn_err *err)
{
    if (p->opt->no_scheduler)
        return 0;
    int r = connect_as(p, p->opt->tokens.scheduler, "kube-scheduler", &p->scheduler_client, err);
    if (r < 0)
        return r;
    return p->scheduler.manager.add(&p->scheduler, m, p->scheduler_client, err);
}

static int add_nodes(struct plane *p, struct spn_manager *m, struct spn_err *err)
{
    if (!p->opt->simulated_nodes)
        return 0;
    int r = connect_as(p, p->opt->tokens.nodes, "kubelet", &p->nodes_client, err);
    if (r < 0)
        return r;
    return simulate_add(m, p->nodes_client, &p->nodes, &p->simulation, err);
}

/* What the cluster uses is told by whoever leads. That it cannot be told keeps nobody from work. */
static void start_metrics(struct plane *p)
{
    struct spn_err why = { 0 };
    struct err err = ERR_INIT(&p->arena);
    if (!p->opt->has_metrics || p->metrics)
        return;
    int r = connect_as(p, p->opt->tokens.controllers, "sampan-metrics", &p->metrics_client, &why);
    if (r < 0)
        return;
    r = metrics_server_start(p->metrics_client, &p->metrics, &err);
    if (r < 0 && r != -ERR_EXISTS)
        log_warn("metrics are not served", LOG_ERR(&err));
}

static void remove_all(void *self)
{
    struct plane *p = self;
    p->metrics = metrics_server_stop(p->metrics);
    p->metrics_client = spn_client_free(p->metrics_client);
    p->simulation = simulate_free(p->simulation);
    p->scheduler.manager.done(&p->scheduler);
    p->controllers.manager.done(&p->controllers);
    p->nodes_client = spn_client_free(p->nodes_client);
    p->scheduler_client = spn_client_free(p->scheduler_client);
}

static int add_parts(struct plane *p, struct spn_manager *m, struct spn_client *c,
                     struct spn_err *err)
{
    int r = p->controllers.manager.add(&p->controllers, m, c, err);
    if (r < 0)
        return r;
    r = add_scheduler(p, m, err);
    if (r < 0)
        return r;
    return add_nodes(p, m, err);
}

static int add_all(void *self, struct spn_manager *m, struct spn_client *c, struct spn_err *err)
{
    int r = add_parts(self, m, c, err);
    if (r < 0)
        remove_all(self);
    return r;
}

/* Nodes are made while everything works already: there may be many. */
static void on_running(void *self)
{
    struct plane *p = self;
    struct spn_err err = { 0 };
    spn_stop_set(p->is_running);
    start_metrics(p);
    if (p->simulation && simulate_make_nodes(p->simulation, p->stop, &err) < 0)
        log_warn("not all simulated nodes could be made", LOG_CSTR("err", err.message));
}

static void *run_until_stop(void *arg)
{
    enum { PAUSE_MS = 1000 };
    struct plane *p = arg;
    struct spn_config cfg = p->cfg;
    cfg.token = text_out(p->opt->tokens.controllers);
    while (!spn_stop_is_set(p->stop)) {
        struct spn_err err = { 0 };
        if (program_manage(&p->manager, p, &cfg, p->stop, &err) >= 0)
            return NULL;
        log_warn("the controllers begin anew", LOG_CSTR("err", err.message));
        (void)spn_stop_wait(p->stop, PAUSE_MS);
    }
    return NULL;
}

/* ---- Beginning and end ---- */

/* The same for every process that serves from a folder of a machine, and there is one at a time:
 * who starts after a crash need not wait until the lease of the one before is over. */
static const char *identity_of(struct arena *a, const char *dir)
{
    char host[HOST_NAME_MAX + 1] = "", full[PATH_MAX];
    unsigned char digest[DIGEST_SHA256_BYTES];
    (void)gethostname(host, sizeof(host) - 1);
    digest_sha256(str_of(realpath(dir, full) ? full : dir), digest);
    return arena_printf(a, "%s_" STR_FMT, host, STR_ARG(hex(a, digest, 16))).p;
}

static void log_line(void *arg, enum spn_log_level level, struct spn_text line)
{
    static const enum log_level levels[] = {
        [SPN_LOG_DEBUG] = LOG_DEBUG,
        [SPN_LOG_INFO] = LOG_INFO,
        [SPN_LOG_WARN] = LOG_WARN,
        [SPN_LOG_ERROR] = LOG_ERROR,
    };
    char text[1024];
    (void)arg;
    if (!log_enabled(levels[level]))
        return;
    (void)snprintf(text, sizeof(text), SPN_FMT, SPN_ARG(line));
    log_write(levels[level], text, NULL, 0);
}

static int configure(struct plane *p, const struct plane_options *opt, struct err *err)
{
    struct arena *a = &p->arena;
    p->cfg = (struct spn_config){
        .server = text_out(arena_printf(a, "https://" STR_FMT, STR_ARG(opt->address))),
        .tls_server_name = text_out(opt->server_name),
        .ca_data = text_out(opt->ca_cert),
        .qps = -1,
        .protobuf = true,
    };
    p->controllers = program_controllers_usual();
    p->controllers.opt = *opt->controllers;
    p->controllers.opt.root_ca = text_out(opt->root_ca);
    p->controllers.opt.ca_cert = text_out(opt->ca_cert);
    p->controllers.opt.ca_key = text_out(opt->ca_key);
    p->scheduler = program_scheduler_usual();
    p->manager = p->controllers.manager;
    p->manager.identity = identity_of(a, opt->dir);
    p->manager.lease_too = opt->no_scheduler ? NULL : p->scheduler.manager.lease;
    p->manager.add = add_all;
    p->manager.done = remove_all;
    p->manager.on_running = on_running;
    p->nodes = program_nodes_usual();
    p->nodes.count = opt->simulated_nodes;
    return signature_key_read(opt->account_key, &p->controllers.key, err);
}

static int start(struct plane *p, const struct plane_options *opt, struct err *err)
{
    int r = configure(p, opt, err);
    if (r < 0)
        return r;
    r = pthread_create(&p->thread, NULL, run_until_stop, p);
    if (r != 0)
        return err_errno(err, r, "start a thread of controllers");
    p->has_thread = true;
    return 0;
}

int plane_start(const struct plane_options *opt, struct plane **ret, struct err *err)
{
    struct plane *p = mem_new(struct plane);
    arena_init(&p->arena);
    p->opt = opt;
    p->stop = spn_stop_new();
    p->is_running = spn_stop_new();
    spn_log_to(log_line, NULL, log_enabled(LOG_DEBUG) ? SPN_LOG_DEBUG : SPN_LOG_INFO);
    int r = start(p, opt, err);
    if (r < 0)
        plane_stop(p);
    else
        *ret = p;
    return r;
}

bool plane_wait(struct plane *p, int64_t ms)
{
    return spn_stop_wait(p->is_running, ms);
}

struct plane *plane_stop(struct plane *p)
{
    if (!p)
        return NULL;
    spn_stop_set(p->stop);
    if (p->has_thread)
        (void)pthread_join(p->thread, NULL);
    spn_stop_free(p->stop);
    spn_stop_free(p->is_running);
    signature_key_free(p->controllers.key);
    arena_done(&p->arena);
    free(p);
    return NULL;
}
