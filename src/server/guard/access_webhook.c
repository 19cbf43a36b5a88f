#include "server/guard/access_webhook.h"

#include <stdlib.h>

#include "auth/access_review.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/guard/answer_cache.h"
#include "server/guard/review_hook.h"
#include "base/banned.h"

enum {
    ANSWERS_MAX = 8192,      /* as upstream */
    ASKED_BYTES_MAX = 10000, /* of what a client chooses; longer questions are not remembered */
    LOOP_COST = 20000,       /* of a match condition on a loop; a dearer one is left to a worker */
};

struct access_webhook {
    struct guard_hook hook;
    const struct authorization_webhook *config;
    struct review_hook *reviewer;
    struct answer_cache *answers; /* JSON of the status */
};

/* ---- What comes out ---- */

static void fail(const struct access_webhook *w, struct arena *a, struct str why,
                 struct guard_decision *ret)
{
    *ret = (struct guard_decision){
        .opinion = w->config->denies_on_failure ? ACCESS_DENIED : ACCESS_NO_OPINION,
        .error = arena_str(a, why),
    };
}

static void obey(const struct value *status, struct guard_decision *ret)
{
    bool allowed = value_is_true(value_get(status, STR("allowed"))),
         denied = value_is_true(value_get(status, STR("denied")));
    *ret = (struct guard_decision){ .opinion = denied    ? ACCESS_DENIED
                                               : allowed ? ACCESS_ALLOWED
                                                         : ACCESS_NO_OPINION,
                                    .reason = value_text(status, "reason") };
    if (allowed && denied)
        ret->error = STR("webhook subject access review returned both allow and deny response");
}

/* ---- Whether it is asked ---- */

enum match { MATCH_YES, MATCH_NO, MATCH_FAILED, MATCH_LATER };

static enum match match(struct access_webhook *w, struct arena *a, const struct access *q,
                        enum guard_patience patience, struct err *err)
{
    if (!w->config->conditions)
        return MATCH_YES;
    bool on_loop = patience != GUARD_WAITS;
    int64_t began = clock_mono_ns(&clock_system);
    int r = match_conditions_hold(w->config->conditions, a, q,
                                  on_loop ? LOOP_COST : MATCH_CONDITIONS_COST, err);
    if (r == -ERR_TOO_LARGE && patience == GUARD_AT_ONCE)
        return MATCH_LATER;
    if (r > 0 && patience == GUARD_AT_ONCE)
        return MATCH_YES; /* counted by whoever gets an answer */
    guard_series_matched(w->hook.series, r, clock_mono_ns(&clock_system) - began);
    return r > 0 ? MATCH_YES : r == 0 ? MATCH_NO : MATCH_FAILED;
}

/* ---- Asking ---- */

/* The last try of several counts. */
struct tries {
    struct guard_series *series;
    enum review_result last;
};

static void on_tried(void *arg, enum review_result result, int64_t ns)
{
    struct tries *t = arg;
    t->last = result;
    guard_series_tried(t->series, result, ns);
}

static int review(struct access_webhook *w, struct arena *a, const struct value *spec,
                  struct value *ret, struct err *err)
{
    struct tries tries = { .series = w->hook.series };
    const struct review_watcher watcher = { on_tried, &tries };
    int r = review_hook_ask(w->reviewer, a, spec, LIMIT_REQUEST_MS, &watcher, ret, err);
    if (r == 0)
        return 0;
    log_error("an authorization webhook failed", LOG_ERR(err));
    if (!w->config->denies_on_failure && tries.last != REVIEW_CANCELED)
        guard_series_failed_open(w->hook.series, tries.last);
    return r;
}

static bool is_short(const struct access *q)
{
    return q->ns.n + q->verb.n + q->group.n + q->version.n + q->resource.n + q->sub.n + q->name.n +
               q->path.n <
           ASKED_BYTES_MAX;
}

static struct str json_of(struct arena *a, const struct value *v)
{
    autobuf text = { 0 };
    json_write(&text, v);
    return arena_str(a, buf_str(&text));
}

static void remember(struct access_webhook *w, struct arena *a, struct str question,
                     const struct value *status)
{
    bool allowed = value_is_true(value_get(status, STR("allowed")));
    answer_cache_put(w->answers, question, json_of(a, status),
                     allowed ? w->config->allowed_ttl_ns : w->config->refused_ttl_ns);
}

static bool recall(struct access_webhook *w, struct arena *a, struct str question,
                   struct value *ret)
{
    struct err ignored = ERR_INIT(a);
    struct str text;
    return answer_cache_get(w->answers, question, a, &text) &&
           json_read(a, text, NULL, ret, &ignored) == 0;
}

static int ask_or_recall(struct access_webhook *w, struct arena *a, const struct access *q,
                         enum guard_patience patience, struct guard_decision *ret)
{
    struct value status, spec = access_review_spec(a, q, w->config->is_v1);
    struct str question = json_of(a, &spec);
    struct err err = ERR_INIT(a);
    if (recall(w, a, question, &status)) {
        obey(&status, ret);
        return 0;
    }
    if (patience == GUARD_AT_ONCE)
        return GUARD_LATER;
    if (patience == GUARD_GIVES_UP) {
        fail(w, a, STR("too many questions to webhooks are waiting"), ret);
        return 0;
    }
    if (review(w, a, &spec, &status, &err) < 0) {
        fail(w, a, err.msg, ret);
        return 0;
    }
    if (is_short(q))
        remember(w, a, question, &status);
    obey(&status, ret);
    return 0;
}

static int ask(struct guard_hook *h, struct arena *a, const struct access *q,
               enum guard_patience patience, struct guard_decision *ret)
{
    struct access_webhook *w = container_of(h, struct access_webhook, hook);
    struct err err = ERR_INIT(a);
    switch (match(w, a, q, patience, &err)) {
    case MATCH_LATER:
        return GUARD_LATER;
    case MATCH_FAILED:
        fail(w, a, err.msg, ret);
        return 0;
    case MATCH_NO:
        *ret = (struct guard_decision){ .opinion = ACCESS_NO_OPINION };
        return 0;
    case MATCH_YES:
        break;
    }
    return ask_or_recall(w, a, q, patience, ret);
}

/* ---- Beginning and end ---- */

static void access_webhook_free(struct guard_hook *h)
{
    struct access_webhook *w = container_of(h, struct access_webhook, hook);
    review_hook_free(w->reviewer);
    answer_cache_free(w->answers);
    free(w);
}

int access_webhook_new(const struct authorization_webhook *config, const struct clock *clock,
                       const atomic_bool *cancel, struct guard_hook **ret, struct err *err)
{
    struct arena a;
    struct review_hook *reviewer;
    arena_init(&a);
    const struct review_hook_options opt = {
        .kubeconfig = str_cstr(&a, config->kubeconfig),
        .kind = STR("SubjectAccessReview"),
        .api_version =
            config->is_v1 ? STR("authorization.k8s.io/v1") : STR("authorization.k8s.io/v1beta1"),
        .timeout_ms = config->timeout_ns / NS_PER_MS,
        .cancel = cancel,
    };
    int r = review_hook_new(&opt, &reviewer, err);
    arena_done(&a);
    if (r < 0)
        return r;
    struct access_webhook *w = mem_new(struct access_webhook);
    *w = (struct access_webhook){ .hook = { .ask = ask, .free = access_webhook_free },
                                  .config = config,
                                  .reviewer = reviewer,
                                  .answers = answer_cache_new(ANSWERS_MAX, clock) };
    *ret = &w->hook;
    return 0;
}
