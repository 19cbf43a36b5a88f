/* plugin_webhook_validating.c - ValidatingAdmissionWebhook: webhooks that may refuse a request.
 *
 * All that are for it are asked at the same time. Of those that refuse it the first in order is the
 * one that the client hears of. */
#include <pthread.h>

#include "admission/plugins.h"
#include "admission/webhook/webhooks.h"
#include "admission/xray.h"
#include "base/limits.h"
#include "base/banned.h"

static int make(struct admission_request *req, struct arena *a, const void **ret, struct err *err)
{
    return webhooks_make(req, STR("validatingwebhookconfigurations"), a, ret, err);
}

static const struct admission_source made_of[] = {
    { STR("admissionregistration.k8s.io"), STR("validatingwebhookconfigurations") },
    { STR(""), STR("") },
};

static const struct admission_memo memo = { .made_of = made_of,
                                            .make = make,
                                            .interest = webhooks_interest,
                                            .done = webhooks_done,
                                            .may_wait = webhooks_may_wait };

/* One call, with all that its thread may use. */
struct asked {
    struct webhooks_call call;
    struct arena arena;
    struct review_answer answer;
    struct err err;
    enum webhooks_result result;
    int64_t took_ns;
    pthread_t thread;
    bool has_thread;
};

static void *run(void *arg)
{
    struct asked *q = arg;
    int64_t began = clock_mono_ns(&clock_system);
    q->result = webhooks_ask(&q->call, &q->arena, false, &q->answer, &q->err);
    q->took_ns = clock_mono_ns(&clock_system) - began;
    return NULL;
}

/* The first one's thread is ours. */
static void start(struct asked *q)
{
    enum { STACK_BYTES = 1 << 20 };
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    q->has_thread = pthread_create(&q->thread, &attr, run, q) == 0;
    pthread_attr_destroy(&attr);
}

static void ask_all(struct asked *list, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (list[i].result == WEBHOOKS_ANSWERED)
            start(&list[i]);
    for (size_t i = 0; i < n; i++)
        if (list[i].has_thread)
            continue;
        else if (list[i].result == WEBHOOKS_ANSWERED)
            (void)run(&list[i]);
    for (size_t i = 0; i < n; i++)
        if (list[i].has_thread)
            (void)pthread_join(list[i].thread, NULL);
}

/* Which of them are for the request. */
static int choose(struct admission_request *req, const struct webhooks *all,
                  const struct value *obj, struct asked *list, size_t *ret_n, struct err *err)
{
    struct webhooks_sight *sights = NULL;
    *ret_n = 0;
    for (size_t i = 0; i < all->n; i++) {
        int r = webhooks_want(&all->list[i], req, obj, &sights, &list[*ret_n].call, err);
        if (r < 0)
            return r;
        *ret_n += r;
    }
    return 0;
}

static int conclude(struct admission_request *req, struct asked *q, size_t index, struct err *err)
{
    const struct webhook *w = q->call.webhook;
    if (q->result == WEBHOOKS_ANSWERED) {
        webhooks_tell(req, w, &q->answer);
        return q->answer.allowed ? 0 : review_refusal(req->arena, w->name, q->answer.status, err);
    }
    if (q->result == WEBHOOKS_FAILED && w->ignores_failure) {
        webhooks_fail_open(req, w, "validating", 0, index);
        return 0;
    }
    if (q->result == WEBHOOKS_BROKEN) {
        int r = err_set(err, q->err.code, STR_FMT, STR_ARG(q->err.msg));
        err->about.retry_after_sec = q->err.code == ERR_TOO_MANY_REQUESTS;
        return r;
    }
    (void)err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(q->err.msg));
    return webhooks_fail(w, err);
}

/* Every answer counts for auditors and warnings, also after one that refuses. */
static int conclude_all(struct admission_request *req, struct asked *list, size_t n,
                        struct err *err)
{
    int ret = 0;
    for (size_t i = 0; i < n; i++) {
        struct err why = ERR_INIT(req->arena);
        int r = conclude(req, &list[i], i, &why);
        xray_aside(req->xray, "webhook", list[i].call.webhook->name, list[i].took_ns,
                   r < 0 ? "refused" : NULL);
        if (ret == 0 && r < 0) {
            ret = r;
            *err = why;
        }
    }
    return ret;
}

static int ask(struct admission_request *req, struct asked *list, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        arena_init(&list[i].arena);
        arena_allow(&list[i].arena, req->arena->allowance);
        list[i].err = ERR_INIT(&list[i].arena);
        list[i].result = webhooks_prepare(req, &list[i].call, &list[i].err);
    }
    ask_all(list, n);
    int r = conclude_all(req, list, n, err);
    for (size_t i = 0; i < n; i++)
        arena_done(&list[i].arena);
    return r;
}

static int ask_webhooks(struct admission_request *req, const struct webhooks *all,
                        const struct value *obj, struct err *err)
{
    struct asked *list = arena_array(req->arena, struct asked, all->n);
    size_t n;
    int r = choose(req, all, obj, list, &n, err);
    return r < 0 || !n ? r : ask(req, list, n, err);
}

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    struct admission_recalled *known;
    int r = admission_recall(req, &known, err);
    if (r < 0 || !known)
        return r;
    r = ask_webhooks(req, admission_recalled(known), obj, err);
    admission_release(known);
    return r;
}

const struct admission_plugin plugin_webhook_validating = {
    .name = "ValidatingAdmissionWebhook",
    .memo = &memo,
    .validate = validate,
};
