#include "server/guard/review_hook.h"

#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/outgoing/fetch.h"
#include "server/core/kubeconfig.h"
#include "base/banned.h"

enum {
    TRIES = 5,
    FIRST_PAUSE_MS = 500, /* each one is half as long again as the one before */
    LOOK_MS = 50,
    REPLY_MAX = 1 << 20,
};

struct review_hook {
    struct arena arena;
    struct str kind, api_version;
    int64_t timeout_ms;
    const atomic_bool *cancel;
    struct kubeconfig config;
    struct fetcher *fetcher;
};

int review_hook_new(const struct review_hook_options *opt, struct review_hook **ret,
                    struct err *err)
{
    struct review_hook *h = mem_new(struct review_hook);
    arena_init(&h->arena);
    h->kind = arena_str(&h->arena, opt->kind);
    h->api_version = arena_str(&h->arena, opt->api_version);
    h->timeout_ms = opt->timeout_ms;
    h->cancel = opt->cancel;
    int r = kubeconfig_read(&h->arena, opt->kubeconfig, &h->config, err);
    if (r < 0) {
        review_hook_free(h);
        return r;
    }
    h->fetcher = fetcher_new(&(struct fetcher_options){
        .ca_pem = h->config.ca_pem,
        .cert_pem = h->config.cert_pem,
        .key_pem = h->config.key_pem,
        .insecure = h->config.insecure,
        .cancel = opt->cancel,
    });
    *ret = h;
    return 0;
}

struct review_hook *review_hook_free(struct review_hook *h)
{
    if (!h)
        return NULL;
    if (h->fetcher)
        fetcher_free(h->fetcher);
    arena_done(&h->arena);
    free(h);
    return NULL;
}

/* ---- One try ---- */

static struct str body_of(const struct review_hook *h, struct arena *a, const struct value *spec)
{
    autobuf out = { 0 };
    buf_str_add(&out, STR("{\"kind\":"));
    json_write_string(&out, h->kind);
    buf_str_add(&out, STR(",\"apiVersion\":"));
    json_write_string(&out, h->api_version);
    buf_str_add(&out, STR(",\"metadata\":{},\"spec\":"));
    json_write(&out, spec);
    buf_str_add(&out, STR(",\"status\":{}}\n"));
    return arena_str(a, buf_str(&out));
}

static int check_reply(const struct review_hook *h, const struct value *review, struct err *err)
{
    struct str kind = value_text(review, "kind"), version = value_text(review, "apiVersion");
    if (str_eq(kind, h->kind) && str_eq(version, h->api_version))
        return 0;
    return err_set(err, ERR_UNAVAILABLE,
                   "the webhook answered with kind \"" STR_FMT "\" of \"" STR_FMT
                   "\" instead of \"" STR_FMT "\" of \"" STR_FMT "\"",
                   STR_ARG(kind), STR_ARG(version), STR_ARG(h->kind), STR_ARG(h->api_version));
}

static int read_reply(const struct review_hook *h, struct arena *a, struct str body,
                      struct value *ret, struct err *err)
{
    struct value review;
    int r = json_read(a, body, NULL, &review, err);
    if (r < 0)
        return err_wrap(err, "the webhook's answer");
    r = check_reply(h, &review, err);
    if (r < 0)
        return r;
    const struct value *status = value_get(&review, STR("status"));
    *ret = value_is(status, VALUE_OBJECT) ? *status : value_object();
    return 0;
}

static bool has_header(const struct fetch_reply *reply, struct str name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (str_eq_nocase(reply->headers[i].name, name))
            return true;
    return false;
}

/* Whether it may pass, by what upstream tries again. */
static bool may_pass(const struct fetch_reply *reply)
{
    return reply->status == 500 || reply->status == 504 || reply->status == 429 ||
           has_header(reply, STR("retry-after"));
}

static int post(struct review_hook *h, struct arena *a, struct str body, int64_t timeout_ms,
                struct fetch_reply *ret, struct err *err)
{
    struct http_header headers[3] = { { STR("content-type"), STR("application/json") },
                                      { STR("accept"), STR("application/json, */*") } };
    size_t n = 2;
    if (h->config.authorization.n)
        headers[n++] = (struct http_header){ STR("authorization"), h->config.authorization };
    const struct fetch_request req = { .method = STR("POST"),
                                       .url = h->config.server,
                                       .server_name = h->config.server_name,
                                       .headers = headers,
                                       .n_headers = n,
                                       .body = body,
                                       .timeout_ms = timeout_ms,
                                       .max_reply = REPLY_MAX };
    int r = fetch(h->fetcher, &req, a, ret, err);
    if (r < 0)
        return err_wrap(err, "Post \"" STR_FMT "\"", STR_ARG(h->config.server));
    return 0;
}

static int try_once(struct review_hook *h, struct arena *a, struct str body, int64_t timeout_ms,
                    bool *ret_again, struct value *ret, struct err *err)
{
    struct fetch_reply reply;
    *ret_again = false;
    int r = post(h, a, body, timeout_ms, &reply, err);
    if (r < 0) {
        *ret_again = memmem(err->msg.p, err->msg.n, "reset by peer", 13);
        return r;
    }
    if (reply.status >= 200 && reply.status <= 299)
        return read_reply(h, a, reply.body, ret, err);
    *ret_again = may_pass(&reply);
    return err_set(err, reply.status == 504 ? ERR_TIMEOUT : ERR_UNAVAILABLE,
                   "Post \"" STR_FMT "\": the webhook answered with status %d",
                   STR_ARG(h->config.server), reply.status);
}

/* ---- Tries ---- */

static int64_t now_ms(void)
{
    return clock_mono_ns(&clock_system) / NS_PER_MS;
}

static bool is_canceled(const struct review_hook *h)
{
    return h->cancel && atomic_load(h->cancel);
}

/* False if there is no time for another try. */
static bool pause_until(const struct review_hook *h, int64_t until_ms, int64_t end_ms)
{
    const struct timespec a_while = { .tv_nsec = LOOK_MS * NS_PER_MS };
    if (until_ms >= end_ms)
        return false;
    while (now_ms() < until_ms && !is_canceled(h))
        (void)nanosleep(&a_while, NULL);
    return !is_canceled(h);
}

static void tell(const struct review_hook *h, const struct review_watcher *w, int r,
                 int64_t began_ns)
{
    if (!w)
        return;
    enum review_result result = r == 0              ? REVIEW_SUCCESS
                                : is_canceled(h)    ? REVIEW_CANCELED
                                : r == -ERR_TIMEOUT ? REVIEW_TIMEOUT
                                                    : REVIEW_ERROR;
    w->tried(w->arg, result, clock_mono_ns(&clock_system) - began_ns);
}

int review_hook_ask(struct review_hook *h, struct arena *a, const struct value *spec,
                    int64_t most_ms, const struct review_watcher *watcher, struct value *ret,
                    struct err *err)
{
    struct str body = body_of(h, a, spec);
    int64_t end = now_ms() + most_ms, wait = FIRST_PAUSE_MS;
    for (int i = 1;; i++, wait += wait / 2) {
        int64_t left = end - now_ms(), began = clock_mono_ns(&clock_system);
        bool again;
        err_clear(err);
        int r = try_once(h, a, body,
                         left < 1               ? 1
                         : left < h->timeout_ms ? left
                                                : h->timeout_ms,
                         &again, ret, err);
        tell(h, watcher, r, began);
        if (r == 0 || !again || i == TRIES || !pause_until(h, now_ms() + wait, end))
            return r;
    }
}
