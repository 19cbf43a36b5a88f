/* remote_members.c - the servers of a cluster: which of them is asked, and as whom. */
#include "remote/remote_internal.h"

#include <errno.h>
#include <time.h>

#include "base/mem.h"
#include "base/wire.h"
#include "net/grpc/grpc_wire.h"
#include "net/tls.h"

#include "base/banned.h"

#define COMPACTED "etcdserver: mvcc: required revision has been compacted"

int64_t remote__now(void)
{
    return clock_mono_ns(&clock_system);
}

void remote__sleep(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns)
{
    struct timespec until = { until_ns / NS_PER_SEC, until_ns % NS_PER_SEC };
    (void)pthread_cond_timedwait(c, lock, &until);
}

/* ---- Addresses ---- */

static int parse_server(struct str url, struct str *ret_address, bool *ret_tls, struct err *err)
{
    *ret_tls = str_starts(url, STR("https://"));
    struct str rest = url;
    if (*ret_tls)
        rest = str_skip(url, STR("https://").n);
    else if (str_starts(url, STR("http://")))
        rest = str_skip(url, STR("http://").n);
    else if (!str_starts(url, STR("unix:")))
        return err_set(err, ERR_INVALID,
                       "\"" STR_FMT "\" is not the address of an etcd server: it must start with "
                       "http:// or https://",
                       STR_ARG(url));
    while (str_ends(rest, STR("/")))
        rest.n--;
    if (!rest.n)
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" has no host", STR_ARG(url));
    *ret_address = rest;
    return 0;
}

static int connect_one(struct remote *r, struct str url, struct err *err)
{
    struct str address;
    bool has_tls;
    int res = parse_server(url, &address, &has_tls, err);
    if (res < 0)
        return res;
    address = arena_str(&r->arena, address);
    struct grpc_client *c = grpc_client_new(&(struct grpc_client_options){
        .address = address, .tls = has_tls ? r->tls : NULL, .connect_ms = REMOTE_TRY_MS / 2 });
    if (!c)
        return err_set(err, ERR_UNAVAILABLE, "no thread is left for a connection to etcd");
    r->addresses[r->n_members] = address;
    r->members[r->n_members++] = c;
    return 0;
}

int remote__connect(struct remote *r, const struct remote_options *opt, struct err *err)
{
    if (!opt->n_servers)
        return err_set(err, ERR_INVALID, "no etcd server is given");
    if (opt->ca_pem.n || opt->cert_pem.n) {
        int res = tls_context_new(&(struct tls_config){ .cert_pem = opt->cert_pem,
                                                        .key_pem = opt->key_pem,
                                                        .ca_pem = opt->ca_pem },
                                  &r->tls, err);
        if (res < 0)
            return res;
    }
    r->members = mem_array(opt->n_servers, sizeof(struct grpc_client *));
    r->addresses = mem_array(opt->n_servers, sizeof(*r->addresses));
    for (size_t i = 0; i < opt->n_servers; i++) {
        if (str_starts(opt->servers[i], STR("https:")) && !r->tls)
            return err_set(err, ERR_INVALID, "etcd by https needs --etcd-cafile");
        int res = connect_one(r, opt->servers[i], err);
        if (res < 0)
            return res;
    }
    return r->user.n ? remote__authenticate(r, err) : 0;
}

void remote__disconnect(struct remote *r)
{
    for (size_t i = 0; i < r->n_members; i++)
        r->members[i] = grpc_client_free(r->members[i]);
    mem_cleanup_free(&r->members);
    mem_cleanup_free(&r->addresses);
    r->tls = tls_context_unref(r->tls);
}

void remote__rotate(struct remote *r, size_t member)
{
    size_t next = (member + 1) % r->n_members;
    (void)atomic_compare_exchange_strong(&r->current, &member, next);
}

/* ---- Calls ---- */

size_t remote__metadata(struct remote *r, struct buf *text, struct http_header ret[static 2])
{
    (void)pthread_mutex_lock(&r->token_lock);
    buf_str_add(text, buf_str(&r->token));
    (void)pthread_mutex_unlock(&r->token_lock);
    ret[0] = (struct http_header){ STR("hasleader"), STR("true") };
    ret[1] = (struct http_header){ STR("token"), buf_str(text) };
    return text->n ? 2 : 1;
}

/* One attempt. */
static int ask_one(struct remote *r, size_t member, struct str path, struct str request,
                   int64_t timeout_ms, struct arena *a, struct str *ret, struct grpc_result *result,
                   struct err *err)
{
    autobuf token = { 0 };
    struct http_header metadata[2];
    size_t n = remote__metadata(r, &token, metadata);
    int res = grpc_call_unary(r->members[member], path, request, metadata, n, timeout_ms, a, ret,
                              result, err);
    if (res == 0)
        r->heard_ns = remote__now();
    return res;
}

int remote__say(const struct grpc_result *result, struct err *err)
{
    enum err_code code = grpc_status_err(result->status);
    struct str name = grpc_status_name(result->status);
    if (err)
        err_clear(err);
    if (result->status == GRPC_DEADLINE_EXCEEDED)
        return err_set(err, code, "etcdserver: request timed out");
    if (str_starts(result->message, STR("etcdserver: ")))
        return err_set(err, code, STR_FMT, STR_ARG(result->message));
    return err_set(err, code, "rpc error: code = " STR_FMT " desc = " STR_FMT, STR_ARG(name),
                   STR_ARG(result->message));
}

static bool is_worth_another_try(enum grpc_status status)
{
    return status == GRPC_UNAVAILABLE || status == GRPC_DEADLINE_EXCEEDED ||
           status == GRPC_UNAUTHENTICATED || status == GRPC_CANCELLED || status == GRPC_UNKNOWN;
}

/* Members that refuse at once are not asked without a pause. */
static void pause_before_next(void)
{
    static const struct timespec pause = { .tv_nsec = 50 * NS_PER_MS };
    (void)nanosleep(&pause, NULL);
}

int remote__ask(struct remote *r, struct str path, struct str request, int64_t timeout_ms,
                struct arena *a, struct str *ret, struct err *err)
{
    int64_t until = remote__now() + timeout_ms * NS_PER_MS;
    for (;;) {
        int64_t left_ms = (until - remote__now()) / NS_PER_MS;
        size_t member = r->current;
        struct grpc_result result;
        if (err)
            err_clear(err);
        int res = ask_one(r, member, path, request,
                          left_ms < 1               ? 1
                          : left_ms < REMOTE_TRY_MS ? left_ms
                                                    : REMOTE_TRY_MS,
                          a, ret, &result, err);
        if (result.status == GRPC_OUT_OF_RANGE && str_eq(result.message, STR(COMPACTED)))
            return err_set(err, ERR_EXPIRED, COMPACTED);
        if (res == 0)
            return 0;
        res = remote__say(&result, err);
        if (!is_worth_another_try(result.status))
            return res;
        if (result.status == GRPC_UNAUTHENTICATED && r->user.n)
            (void)remote__authenticate(r, NULL);
        else
            remote__rotate(r, member);
        if (r->is_closed || remote__now() >= until)
            return res;
        pause_before_next();
    }
}

/* The lock is not held over the call: two who find the token old may both ask. */
int remote__authenticate(struct remote *r, struct err *err)
{
    struct arena a;
    autobuf request = { 0 };
    struct str reply;
    arena_init(&a);
    wire_bytes(&request, 1, r->user);
    wire_bytes(&request, 2, r->password);
    int res = -ERR_UNAVAILABLE;
    for (size_t i = 0; i < r->n_members && res < 0; i++) {
        if (err)
            err_clear(err);
        size_t member = r->current;
        res = grpc_call_unary(r->members[member], STR("/etcdserverpb.Auth/Authenticate"),
                              buf_str(&request), NULL, 0, REMOTE_TRY_MS, &a, &reply, NULL, err);
        if (res < 0)
            remote__rotate(r, member);
    }
    if (res == 0) {
        (void)pthread_mutex_lock(&r->token_lock);
        buf_reset(&r->token);
        buf_str_add(&r->token, remote_text(reply, 2));
        (void)pthread_mutex_unlock(&r->token_lock);
    }
    arena_done(&a);
    return res;
}
