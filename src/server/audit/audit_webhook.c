#include "server/audit/audit_webhook.h"

#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/outgoing/fetch.h"
#include "server/audit/audit_event.h"
#include "server/core/kubeconfig.h"
#include "base/banned.h"

enum { TRIES = 5, TIMEOUT_MS = 30000, LOOK_MS = 100 };

struct audit_webhook {
    struct arena arena;
    struct kubeconfig config;
    struct fetcher *fetcher;
    const atomic_bool *cancel;
    int64_t backoff_ns;
};

int audit_webhook_new(const char *config, int64_t backoff_ns, const atomic_bool *cancel,
                      struct audit_webhook **ret, struct err *err)
{
    struct audit_webhook *w = mem_new(struct audit_webhook);
    arena_init(&w->arena);
    w->cancel = cancel;
    w->backoff_ns = backoff_ns;
    int r = kubeconfig_read(&w->arena, config, &w->config, err);
    if (r < 0) {
        audit_webhook_free(w);
        return r;
    }
    w->fetcher = fetcher_new(&(struct fetcher_options){
        .ca_pem = w->config.ca_pem,
        .cert_pem = w->config.cert_pem,
        .key_pem = w->config.key_pem,
        .insecure = w->config.insecure,
        .cancel = cancel,
    });
    *ret = w;
    return 0;
}

struct audit_webhook *audit_webhook_free(struct audit_webhook *w)
{
    if (!w)
        return NULL;
    if (w->fetcher)
        fetcher_free(w->fetcher);
    arena_done(&w->arena);
    free(w);
    return NULL;
}

/* Items of a list do not say what they are. */
static void write_list(struct buf *out, const struct str *events, size_t n)
{
    buf_str_add(out, STR("{\"kind\":\"EventList\",\"apiVersion\":\"audit.k8s.io/v1\","
                         "\"metadata\":{},\"items\":["));
    for (size_t i = 0; i < n; i++) {
        buf_str_add(out, i ? STR(",{") : STR("{"));
        buf_str_add(out, str_skip(events[i], AUDIT_EVENT_HEAD.n));
    }
    buf_str_add(out, STR("]}\n"));
}

static int post(struct audit_webhook *w, struct arena *a, struct str body, struct err *err)
{
    struct http_header headers[3] = { { STR("content-type"), STR("application/json") },
                                      { STR("accept"), STR("application/json, */*") } };
    struct fetch_reply reply;
    size_t n = 2;
    if (w->config.authorization.n)
        headers[n++] = (struct http_header){ STR("authorization"), w->config.authorization };
    int r = fetch(w->fetcher,
                  &(struct fetch_request){ .method = STR("POST"),
                                           .url = w->config.server,
                                           .server_name = w->config.server_name,
                                           .headers = headers,
                                           .n_headers = n,
                                           .body = body,
                                           .timeout_ms = TIMEOUT_MS },
                  a, &reply, err);
    if (r < 0)
        return r;
    if (reply.status < 200 || reply.status > 299)
        return err_set(err, ERR_UNAVAILABLE, "the audit webhook answered %d", reply.status);
    return 0;
}

/* False if everything is to end. */
static bool pause_for(const struct audit_webhook *w, int64_t ns)
{
    const struct timespec a_while = { .tv_nsec = LOOK_MS * NS_PER_MS };
    int64_t until = clock_mono_ns(&clock_system) + ns;
    while (!atomic_load(w->cancel) && clock_mono_ns(&clock_system) < until)
        (void)nanosleep(&a_while, NULL);
    return !atomic_load(w->cancel);
}

static int send_once(struct audit_webhook *w, struct str body, struct err *err)
{
    struct arena a;
    arena_init(&a);
    int r = post(w, &a, body, err);
    arena_done(&a);
    return r;
}

int audit_webhook_send(struct audit_webhook *w, const struct str *events, size_t n, struct err *err)
{
    autobuf body = { 0 };
    int64_t wait = w->backoff_ns;
    write_list(&body, events, n);
    int r = send_once(w, buf_str(&body), err);
    for (int i = 1; r < 0 && i < TRIES && pause_for(w, wait); i++) {
        err_clear(err);
        r = send_once(w, buf_str(&body), err);
        wait += wait / 2;
    }
    return r;
}
