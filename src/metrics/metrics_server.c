/* metrics_server.c - one thread looks at all nodes again and again; a listener answers. */
#include "metrics/metrics_server.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "metrics/metrics_internal.h"
#include "net/crypto/pki.h"
#include "base/banned.h"

enum {
    FIRST_MS = 3000, /* between the first looks, so that rates are known soon after a start */
    FIRST_LOOKS = 20,
    LOOK_MS = 15000,
    NODE_MS = 10000, /* one node may take so long */
    THREADS = 8,
    QUEUED = 256,
    STOP_MS = 5000,
    CERTIFICATE_DAYS = 3650,
};

/* ---- Looking ---- */

static struct metrics_node *node_named(struct metrics_server *m, struct str name)
{
    struct metrics_node *n;
    TAILQ_FOREACH(n, &m->nodes, link)
    if (str_eq(n->name, name))
        return n;
    n = mem_new(struct metrics_node);
    n->name = (struct str){ mem_dup(name.p, name.n), name.n };
    arena_init(&n->arenas[0]);
    arena_init(&n->arenas[1]);
    TAILQ_INSERT_TAIL(&m->nodes, n, link);
    return n;
}

static void node_free(struct metrics_server *m, struct metrics_node *n)
{
    TAILQ_REMOVE(&m->nodes, n, link);
    arena_done(&n->arenas[0]);
    arena_done(&n->arenas[1]);
    free((char *)(uintptr_t)n->name.p);
    free(n);
}

static void look_at(struct metrics_server *m, struct str name, struct arena *a)
{
    const struct spn_call how = { .stop = m->stop, .timeout_ms = NODE_MS };
    struct str path =
        arena_printf(a, "/api/v1/nodes/" STR_FMT "/proxy/metrics/resource", STR_ARG(name));
    struct spn_text text;
    struct spn_err why = { 0 };
    if (spn_client_raw(m->client, "GET", text_out(path), SPN_TEXT(""), SPN_TEXT(""), &how,
                       arena_out(a), &text, &why) < 0) {
        log_debug("a node does not tell what it uses", LOG_STR("node", name),
                  LOG_CSTR("err", why.message));
        return;
    }
    pthread_mutex_lock(&m->lock);
    struct metrics_node *n = node_named(m, name);
    const size_t next = !n->newest;
    arena_reset(&n->arenas[next]);
    n->rounds[next] = metrics_read(&n->arenas[next], arena_str(&n->arenas[next], str_in(text)),
                                   clock_wall_ns(&clock_system) / NS_PER_MS);
    n->newest = next;
    pthread_mutex_unlock(&m->lock);
}

static void mark_seen(struct metrics_server *m, const struct value *list)
{
    struct metrics_node *n, *next;
    pthread_mutex_lock(&m->lock);
    TAILQ_FOREACH(n, &m->nodes, link)
    n->is_seen = false;
    value_each_item (node, value_get(list, STR("items")))
        node_named(m, value_str(value_dig(node, "metadata", "name")))->is_seen = true;
    for (n = TAILQ_FIRST(&m->nodes); n; n = next) {
        next = TAILQ_NEXT(n, link);
        if (!n->is_seen)
            node_free(m, n);
    }
    pthread_mutex_unlock(&m->lock);
}

static void look_at_all(struct metrics_server *m, struct arena *a)
{
    const struct spn_target at = SPN_AT("", "v1", "nodes", "", "");
    const struct spn_call how = {
        .stop = m->stop, .timeout_ms = LOOK_MS, .metadata_only = true, .resource_version = "0"
    };
    struct spn_value *list;
    struct spn_err why = { 0 };
    if (spn_client_list(m->client, &at, NULL, &how, arena_out(a), &list, &why) < 0)
        return;
    mark_seen(m, value_in(list));
    value_each_item (node, value_get(value_in(list), STR("items")))
        if (!spn_stop_is_set(m->stop))
            look_at(m, value_str(value_dig(node, "metadata", "name")), a);
}

static void *run(void *arg)
{
    struct metrics_server *m = arg;
    struct arena a;
    unsigned looks = 0;
    arena_init(&a);
    do {
        arena_reset(&a);
        look_at_all(m, &a);
        looks++;
    } while (!spn_stop_wait(m->stop, looks < FIRST_LOOKS ? FIRST_MS : LOOK_MS));
    arena_done(&a);
    return NULL;
}

/* ---- Listening ---- */

static void on_request(void *arg, struct http_exchange *x)
{
    struct metrics_server *m = arg;
    (void)http_to_worker(x, m->workers, metrics__answer, m);
}

/* Whose certificate the API server shows when it passes a request on. */
static int front_proxy_ca(struct metrics_server *m, struct str *ret, struct err *err)
{
    const struct spn_target at =
        SPN_AT("", "v1", "configmaps", "kube-system", "extension-apiserver-authentication");
    const struct spn_call how = { .stop = m->stop };
    struct spn_err why = { 0 };
    struct spn_value *map;
    if (spn_client_get(m->client, &at, &how, arena_out(&m->arena), &map, &why) < 0)
        return err_set(err, ERR_UNAVAILABLE, "%s", why.message);
    *ret = value_str(value_dig(value_in(map), "data", "requestheader-client-ca-file"));
    if (!ret->n)
        return err_set(err, ERR_UNAVAILABLE, "the API server has no front proxy");
    return 0;
}

static int make_tls(struct metrics_server *m, struct str *ret_ca, struct tls_context **ret,
                    struct err *err)
{
    struct arena *a = &m->arena;
    const int64_t now_sec = clock_wall_ns(&clock_system) / NS_PER_SEC;
    const struct str name = STR(METRICS_SERVICE "." METRICS_NS ".svc");
    struct pki_pair ca, own;
    struct str proxy_ca;
    int r = front_proxy_ca(m, &proxy_ca, err);
    if (r < 0)
        return r;
    r = pki_make_ca(a, STR("sampan-metrics-ca"), now_sec, CERTIFICATE_DAYS, &ca, err);
    if (r < 0)
        return r;
    const struct pki_leaf leaf = { .common_name = name,
                                   .dns_names = &name,
                                   .n_dns_names = 1,
                                   .server = true,
                                   .now_sec = now_sec,
                                   .days = CERTIFICATE_DAYS };
    r = pki_issue(a, &ca, &leaf, &own, err);
    if (r < 0)
        return r;
    *ret_ca = ca.cert_pem;
    const struct tls_config cfg = { .cert_pem = own.cert_pem,
                                    .key_pem = own.key_pem,
                                    .ca_pem = proxy_ca,
                                    .server = true,
                                    .require_peer = true };
    return tls_context_new(&cfg, ret, err);
}

static int begin(struct metrics_server *m, struct err *err)
{
    const struct http_handler handler = { .arg = m, .on_request = on_request };
    struct tls_context *tls;
    struct str address, ca;
    uint64_t port = 0;
    int r = solo_init(&m->solo, &handler, NULL, NULL, err);
    if (r < 0)
        return r;
    r = make_tls(m, &ca, &tls, err);
    if (r < 0)
        return r;
    r = http_server_listen(m->solo.http, STR("127.0.0.1:0"), tls, &m->arena, &address, err);
    tls_context_unref(tls);
    if (r < 0)
        return r;
    (void)str_cut(&address, ':');
    (void)str_to_u64(address, &port);
    r = solo_run(&m->solo, err);
    if (r < 0)
        return r;
    r = metrics__install(m, ca, (unsigned)port, err);
    if (r < 0)
        return r;
    m->has_thread = pthread_create(&m->thread, NULL, run, m) == 0;
    return m->has_thread ? 0 : err_set(err, ERR_UNAVAILABLE, "the system has no thread left");
}

int metrics_server_start(struct spn_client *client, struct metrics_server **ret, struct err *err)
{
    struct metrics_server *m = mem_new(struct metrics_server);
    m->client = client;
    arena_init(&m->arena);
    TAILQ_INIT(&m->nodes);
    pthread_mutex_init(&m->lock, NULL);
    m->stop = spn_stop_new();
    m->workers = workers_new(THREADS, QUEUED);
    int r = begin(m, err);
    if (r < 0) {
        metrics_server_stop(m);
        return r;
    }
    *ret = m;
    return 0;
}

struct metrics_server *metrics_server_stop(struct metrics_server *m)
{
    if (!m)
        return NULL;
    spn_stop_set(m->stop);
    solo_stop(&m->solo);
    if (m->has_thread)
        (void)pthread_join(m->thread, NULL);
    (void)workers_stop(m->workers, clock_mono_ns(&clock_system) + STOP_MS * NS_PER_MS);
    workers_free(m->workers);
    solo_done(&m->solo);
    while (!TAILQ_EMPTY(&m->nodes))
        node_free(m, TAILQ_FIRST(&m->nodes));
    spn_stop_free(m->stop);
    pthread_mutex_destroy(&m->lock);
    arena_done(&m->arena);
    free(m);
    return NULL;
}
