#include "admission/webhook/webhooks.h"

#include <stdlib.h>

#include "admission/plugins.h"
#include "api/errors.h"
#include "api/go/quote.h"
#include "api/meta.h"
#include "api/names.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/banned.h"

#define GROUP STR("admissionregistration.k8s.io")

/* ---- What is configured ---- */

struct configuration {
    struct configuration *next;
    struct str name;
    const struct value *webhooks;
};

struct configurations {
    struct arena *arena;
    struct configuration *first; /* by name */
    size_t n_webhooks;
};

static int take_configuration(void *to, const struct value *obj)
{
    struct configurations *all = to;
    struct value *copy = arena_new(all->arena, struct value);
    struct configuration *c = arena_new(all->arena, struct configuration), **at = &all->first;
    *copy = value_clone(all->arena, obj);
    c->name = value_str(value_dig(copy, "metadata", "name"));
    c->webhooks = value_get(copy, STR("webhooks"));
    all->n_webhooks += value_is(c->webhooks, VALUE_ARRAY) ? c->webhooks->n : 0;
    while (*at && str_cmp((*at)->name, c->name) < 0)
        at = &(*at)->next;
    c->next = *at;
    *at = c;
    return 0;
}

static bool is(const struct value *obj, const char *key, const char *text)
{
    return str_eq(value_str(value_get(obj, str_of(key))), str_of(text));
}

static struct webhook read_webhook(struct arena *a, struct str configuration, size_t index,
                                   const struct value *v, const atomic_bool *cancel)
{
    enum { DEFAULT_SEC = 10 };
    const struct match_spec spec = {
        .rules = value_get(v, STR("rules")),
        .namespace_selector = value_get(v, STR("namespaceSelector")),
        .object_selector = value_get(v, STR("objectSelector")),
        .is_exact = is(v, "matchPolicy", "Exact"),
        .needs_rules = true,
    };
    int64_t seconds = DEFAULT_SEC;
    (void)value_to_int(value_get(v, STR("timeoutSeconds")), &seconds);
    return (struct webhook){
        .name = value_text(v, "name"),
        .configuration = configuration,
        .uid = arena_printf(a, STR_FMT "/" STR_FMT "/%zu", STR_ARG(configuration),
                            STR_ARG(value_text(v, "name")), index),
        .hook = hook_for(value_get(v, STR("clientConfig")), cancel),
        .match = match_read(a, &spec),
        .conditions = conditions_read(a, value_get(v, STR("matchConditions")), false),
        .review_version = hook_review_version(value_get(v, STR("admissionReviewVersions"))),
        .timeout_ms = seconds * 1000,
        .ignores_failure = is(v, "failurePolicy", "Ignore"),
        .has_side_effects = !is(v, "sideEffects", "None") && !is(v, "sideEffects", "NoneOnDryRun"),
        .is_reinvoked = is(v, "reinvocationPolicy", "IfNeeded"),
    };
}

int webhooks_make(struct admission_request *req, struct str plural, struct arena *a,
                  const void **ret, struct err *err)
{
    struct configurations all = { .arena = a };
    int r = admission_each(req, GROUP, plural, STR(""), take_configuration, &all, err);
    if (r < 0)
        return r;
    *ret = NULL;
    if (!all.n_webhooks)
        return 0;
    struct webhooks *w = arena_new(a, struct webhooks);
    w->list = arena_array(a, struct webhook, all.n_webhooks);
    for (const struct configuration *c = all.first; c; c = c->next) {
        size_t index = 0;
        value_each_item (it, c->webhooks)
            w->list[w->n++] =
                read_webhook(a, c->name, index++, it, admission_memory_cancel(req->memory));
    }
    *ret = w;
    return 0;
}

uint64_t webhooks_interest(const void *made)
{
    const struct webhooks *all = made;
    uint64_t bits = 0;
    for (size_t i = 0; i < all->n; i++)
        bits |= match_interest(all->list[i].match);
    return bits;
}

void webhooks_done(const void *made)
{
    const struct webhooks *w = made;
    for (size_t i = 0; i < w->n; i++)
        hook_unref(w->list[i].hook);
}

bool webhooks_may_wait(const void *made, const struct admission_call *call)
{
    const struct webhooks *w = made;
    for (size_t i = 0; i < w->n; i++)
        if (match_may(w->list[i].match, call))
            return true;
    return false;
}

/* ---- Whom it is for ---- */

/* The view in that version, which is made once. */
static int look(struct admission_request *req, const struct value *obj,
                const struct kind_resource *as, struct webhooks_sight **sights,
                struct webhooks_sight **ret, struct err *err)
{
    struct webhooks_sight *s = *sights;
    while (s && s->view.resource != as)
        s = s->next;
    if (!s) {
        s = arena_new(req->arena, struct webhooks_sight);
        int r = view_make(req, obj, as, &s->view, err);
        if (r < 0)
            return r;
        s->next = *sights;
        *sights = s;
    }
    *ret = s;
    return 0;
}

static int check_conditions(const struct webhook *w, struct admission_request *req,
                            const struct webhooks_sight *s, struct err *err)
{
    struct err why = ERR_INIT(req->arena);
    struct str ignored;
    int r = conditions_hold(w->conditions, req, &s->view, NULL, &ignored, &why);
    if (r >= 0)
        return r;
    if (r != -ERR_INVALID) {
        *err = why;
        return r;
    }
    return w->ignores_failure ? 0 : error_forbidden(err, req->resource, req->name, why.msg);
}

int webhooks_want(const struct webhook *w, struct admission_request *req, const struct value *obj,
                  struct webhooks_sight **sights, struct webhooks_call *ret, struct err *err)
{
    const struct kind_resource *as;
    int r = match_request(w->match, req, obj, &as, err);
    if (r <= 0)
        return r;
    *ret = (struct webhooks_call){ .webhook = w };
    r = look(req, obj, as, sights, &ret->sight, err);
    return r < 0 ? r : check_conditions(w, req, ret->sight, err);
}

/* ---- Asking ---- */

/* The request's own time may be shorter. */
static int64_t time_for(const struct webhook *w, const struct admission_request *req)
{
    return req->timeout_ms && req->timeout_ms < w->timeout_ms ? req->timeout_ms : w->timeout_ms;
}

static struct hook_request question(const struct webhooks_call *call)
{
    return (struct hook_request){
        .body = call->body,
        .timeout_ms = call->timeout_ms,
        .is_last_moment = call->timeout_ms < call->webhook->timeout_ms,
        .max_reply = LIMIT_BODY_BYTES,
    };
}

static enum webhooks_result failed_call(enum webhooks_result result, struct err *err)
{
    struct str why = err->msg;
    if (result == WEBHOOKS_FAILED)
        (void)err_set(err, ERR_UNKNOWN, "failed to call webhook: " STR_FMT, STR_ARG(why));
    return result;
}

/* Who is refused because too many ask, or since the server stops, comes again: nobody gets around a
 * webhook so. */
static enum webhooks_result result_of(int r, const struct arena *a)
{
    if (r >= 0)
        return WEBHOOKS_ANSWERED;
    bool is_broken = r == -ERR_TOO_MANY_REQUESTS || r == -ERR_UNAVAILABLE || arena_spent(a);
    return is_broken ? WEBHOOKS_BROKEN : WEBHOOKS_FAILED;
}

enum webhooks_result webhooks_prepare(struct admission_request *req, struct webhooks_call *call,
                                      struct err *err)
{
    const struct webhook *w = call->webhook;
    const struct hook_services services = { req->cluster, req->arg };
    autobuf body = { 0 };
    if (req->dry_run && w->has_side_effects) {
        (void)err_set(err, ERR_BAD_REQUEST, "admission webhook %s does not support dry run",
                      admission_quoted(req, w->name));
        return WEBHOOKS_BROKEN;
    }
    if (!w->review_version.p) {
        (void)err_set(err, ERR_UNKNOWN,
                      "could not create admission objects: webhook does not accept known "
                      "AdmissionReview versions (v1, v1beta1)");
        return WEBHOOKS_FAILED;
    }
    if (hook_fault(w->hook).n) {
        (void)err_set(err, ERR_UNKNOWN, "could not get REST client: " STR_FMT,
                      STR_ARG(hook_fault(w->hook)));
        return WEBHOOKS_FAILED;
    }
    if (!call->sight->rest.n)
        call->sight->rest = review_rest(req, &call->sight->view);
    call->uid = meta_new_uid(req->arena);
    call->timeout_ms = time_for(w, req);
    review_write(&body, req, &call->sight->view, w->review_version, call->uid, call->sight->rest);
    call->body = arena_str(req->arena, buf_str(&body));
    const struct hook_request q = question(call);
    int r = hook_locate(w->hook, req->arena, &services, &q, &call->to, err);
    return failed_call(result_of(r, req->arena), err);
}

enum webhooks_result webhooks_ask(const struct webhooks_call *call, struct arena *a,
                                  bool is_mutating, struct review_answer *ret, struct err *err)
{
    const struct webhook *w = call->webhook;
    const struct hook_request q = question(call);
    struct str body;
    int r = hook_post(w->hook, a, call->to, &q, &body, err);
    if (r < 0)
        return failed_call(result_of(r, a), err);
    r = review_read(a, body, w->review_version, call->uid, is_mutating, ret, err);
    return result_of(r, a);
}

/* ---- What comes of it ---- */

/* PREFIX/NAME, as those of objects. */
static bool is_annotation(struct str key)
{
    struct name_faults faults = { .n = 0 };
    struct str rest = key;
    (void)str_cut(&rest, '/');
    return rest.p && str_find(rest, '/') < 0 && name_check(NAME_QUALIFIED, key, &faults);
}

void webhooks_tell(struct admission_request *req, const struct webhook *w,
                   const struct review_answer *answer)
{
    struct arena *a = req->arena;
    value_each_field (f, answer->annotations) {
        struct str key = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(w->name), STR_ARG(f->key));
        if (is_annotation(key))
            admission_annotate(req, key, arena_str(a, value_str(&f->val)));
    }
    value_each_item (it, answer->warnings)
        admission_warn(req, arena_str(a, value_str(it)));
}

int webhooks_fail(const struct webhook *w, struct err *err)
{
    autobuf name = { 0 };
    quote_go(&name, w->name);
    struct str why = arena_printf(err->arena, "failed calling webhook " STR_FMT ": " STR_FMT,
                                  STR_ARG(buf_str(&name)), STR_ARG(err->msg));
    return view_internal_error(why, err);
}

void webhooks_fail_open(struct admission_request *req, const struct webhook *w, const char *kind,
                        int round, size_t index)
{
    log_warn("a webhook failed and was ignored, as its failurePolicy says",
             LOG_STR("webhook", w->name), LOG_STR("configuration", w->configuration));
    admission_annotate(req,
                       arena_printf(req->arena,
                                    "failed-open.%s.webhook.admission.k8s.io/round_%d_index_%zu",
                                    kind, round, index),
                       arena_str(req->arena, w->name));
}
