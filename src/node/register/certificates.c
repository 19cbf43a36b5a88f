/* certificates.c - the thread that has certificates replaced before they end. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/crypto/pki.h"
#include "node/register/bootstrap.h"
#include "node/register/certificate_ask.h"
#include "base/banned.h"

enum {
    SELF_SIGNED_DAYS = 365,
    WAIT_MS = 15 * 60 * 1000, /* for an approval; then it is asked anew */
    LOOK_MS = 60000,
    AGAIN_MS = 10000,
    PEM_MAX = 1 << 20,
};

struct certificates {
    struct certificates_options opt;
    struct spn_stop *stop;
    pthread_t thread;
    bool has_thread;
};

static int64_t now_sec(void)
{
    return clock_wall_ns(&clock_system) / NS_PER_SEC;
}

/* ---- Self-signed ---- */

static int read_pair(struct arena *a, const char *dir, struct str *ret_cert, struct str *ret_key,
                     struct err *err)
{
    autobuf cert = { 0 }, key = { 0 };
    int64_t until;
    int r = file_read(str_cstr(a, arena_printf(a, "%s/kubelet.crt", dir)), PEM_MAX, &cert, err);
    if (r < 0)
        return r;
    r = file_read(str_cstr(a, arena_printf(a, "%s/kubelet.key", dir)), PEM_MAX, &key, err);
    if (r < 0)
        return r;
    r = pki_not_after(buf_str(&cert), &until, err);
    if (r < 0)
        return r;
    if (until <= now_sec())
        return err_set(err, ERR_NOT_FOUND, "the certificate has ended");
    *ret_cert = arena_str(a, buf_str(&cert));
    *ret_key = arena_str(a, buf_str(&key));
    return 0;
}

static int make_pair(struct arena *a, const struct certificates_options *opt, struct pki_pair *ret,
                     struct err *err)
{
    struct pki_pair ca;
    struct str name = arena_printf(a, STR_FMT "-ca", STR_ARG(str_take(opt->node, 50)));
    int r = pki_make_ca(a, name, now_sec(), SELF_SIGNED_DAYS, &ca, err);
    if (r < 0)
        return r;
    const struct pki_leaf leaf = {
        .common_name = str_take(opt->node, 64),
        .dns_names = &opt->node,
        .n_dns_names = 1,
        .ips = opt->ips,
        .n_ips = opt->n_ips,
        .server = true,
        .now_sec = now_sec(),
        .days = SELF_SIGNED_DAYS,
    };
    r = pki_issue(a, &ca, &leaf, ret, err);
    if (r < 0)
        return r;
    ret->cert_pem = arena_printf(a, STR_FMT STR_FMT, STR_ARG(ret->cert_pem), STR_ARG(ca.cert_pem));
    return 0;
}

static int serve_self_signed(struct arena *a, const struct certificates_options *opt,
                             struct err *err)
{
    struct pki_pair pair;
    if (read_pair(a, opt->cert_dir, &pair.cert_pem, &pair.key_pem, err) < 0) {
        err_clear(err);
        int r = make_pair(a, opt, &pair, err);
        if (r < 0)
            return r;
        r = file_write_atomic(str_cstr(a, arena_printf(a, "%s/kubelet.key", opt->cert_dir)),
                              pair.key_pem, 0600, FILE_KEPT, err);
        if (r < 0)
            return r;
        r = file_write_atomic(str_cstr(a, arena_printf(a, "%s/kubelet.crt", opt->cert_dir)),
                              pair.cert_pem, 0644, FILE_KEPT, err);
        if (r < 0)
            return r;
    }
    opt->on_serving(opt->arg, pair.cert_pem, pair.key_pem);
    return 0;
}

/* ---- Asked for ---- */

/* Seconds since 1970 when the pair of this name should be replaced; 0: there is none. */
static int64_t due(struct arena *a, const struct certificates *c, const char *prefix,
                   struct str *ret_pem)
{
    struct err why = ERR_INIT(a);
    int64_t from, until;
    if (certificate_find(a, c->opt.cert_dir, prefix, now_sec(), ret_pem, &why) < 0 ||
        pki_not_before(*ret_pem, &from, &why) < 0 || pki_not_after(*ret_pem, &until, &why) < 0)
        return 0;
    /* The same for one certificate at every look, and another for another node. */
    const double chance = (double)((uint64_t)(from * 31 + (int64_t)c->opt.node.n * 7) % 100) / 100;
    return certificate_renewal(from, until, chance);
}

/* Asks, keeps what comes and serves with it. */
static int replace(struct arena *a, const struct certificates *c, bool is_serving, struct err *err)
{
    const struct certificate_wish wish = {
        .client = c->opt.client,
        .stop = c->stop,
        .node = c->opt.node,
        .signer = is_serving ? "kubernetes.io/kubelet-serving"
                             : "kubernetes.io/kube-apiserver-client-kubelet",
        .usage = is_serving ? "server auth" : "client auth",
        .dns_names = &c->opt.node,
        .n_dns_names = is_serving ? 1 : 0,
        .ips = c->opt.ips,
        .n_ips = is_serving ? c->opt.n_ips : 0,
        .wait_ms = WAIT_MS,
    };
    struct str cert, key;
    int r = certificate_ask(&wish, a, &cert, &key, err);
    if (r < 0)
        return r;
    r = certificate_keep(c->opt.cert_dir, is_serving ? "kubelet-server" : "kubelet-client", cert,
                         key, err);
    if (r < 0)
        return r;
    if (is_serving)
        c->opt.on_serving(c->opt.arg, cert, key);
    return 0;
}

/* True: what is there will do for now. */
static bool look(struct arena *a, const struct certificates *c, bool is_serving)
{
    struct str pem;
    const int64_t when = due(a, c, is_serving ? "kubelet-server" : "kubelet-client", &pem);
    if (when > now_sec() || (!when && !is_serving))
        return true;
    struct err why = ERR_INIT(a);
    const int r = replace(a, c, is_serving, &why);
    if (r < 0 && r != -ERR_GONE)
        log_warn("a certificate was not replaced", LOG_ERR(&why));
    return r == 0;
}

static void *run(void *arg)
{
    struct certificates *c = arg;
    struct arena a;
    bool is_well = true;
    arena_init(&a);
    do {
        is_well = !c->opt.asks_for_serving || look(&a, c, true);
        is_well = (!c->opt.rotates_client || look(&a, c, false)) && is_well;
        arena_reset(&a);
    } while (!spn_stop_wait(c->stop, is_well ? LOOK_MS : AGAIN_MS));
    arena_done(&a);
    return NULL;
}

/* ---- Beginning and end ---- */

static int begin(struct certificates *c, struct arena *a, struct err *err)
{
    struct str pem;
    int r = certificate_folder(c->opt.cert_dir, err);
    if (r < 0)
        return r;
    if (c->opt.on_serving && !c->opt.asks_for_serving) {
        r = serve_self_signed(a, &c->opt, err);
        if (r < 0)
            return err_wrap(err, "serving certificate: ");
    } else if (c->opt.on_serving && due(a, c, "kubelet-server", &pem)) {
        c->opt.on_serving(c->opt.arg, pem, pem);
    }
    if (!c->opt.asks_for_serving && !c->opt.rotates_client)
        return 0;
    if (pthread_create(&c->thread, NULL, run, c))
        return err_set(err, ERR_UNAVAILABLE, "the system has no thread left");
    c->has_thread = true;
    return 0;
}

int certificates_start(const struct certificates_options *opt, struct certificates **ret,
                       struct err *err)
{
    struct certificates *c = mem_new(struct certificates);
    struct arena a;
    arena_init(&a);
    c->opt = *opt;
    c->stop = spn_stop_new();
    int r = begin(c, &a, err);
    arena_done(&a);
    if (r < 0) {
        certificates_stop(c);
        return r;
    }
    *ret = c;
    return 0;
}

struct certificates *certificates_stop(struct certificates *c)
{
    if (!c)
        return NULL;
    spn_stop_set(c->stop);
    if (c->has_thread)
        (void)pthread_join(c->thread, NULL);
    spn_stop_free(c->stop);
    free(c);
    return NULL;
}
