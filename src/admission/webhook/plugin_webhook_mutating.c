/* plugin_webhook_mutating.c - MutatingAdmissionWebhook: webhooks that may change an object.
 *
 * They are asked one after the other, and each sees what those before it have made of the object.
 * If one has changed it, all plugins are asked a second time; webhooks then only if they want it,
 * and only if somebody has changed the object after them. */
#include "admission/plugins.h"
#include "admission/webhook/webhooks.h"
#include "admission/xray.h"
#include "base/json.h"
#include "merge/json_patch.h"
#include "base/banned.h"

static int make(struct admission_request *req, struct arena *a, const void **ret, struct err *err)
{
    return webhooks_make(req, STR("mutatingwebhookconfigurations"), a, ret, err);
}

static const struct admission_source made_of[] = {
    { STR("admissionregistration.k8s.io"), STR("mutatingwebhookconfigurations") },
    { STR(""), STR("") },
};

static const struct admission_memo memo = { .made_of = made_of,
                                            .make = make,
                                            .interest = webhooks_interest,
                                            .done = webhooks_done,
                                            .may_wait = webhooks_may_wait };

/* ---- Who is asked again ---- */

struct names {
    struct names *next;
    struct str uid;
};

/* What the first round leaves for the second. */
struct history {
    struct names *asked; /* that want to be asked again if the object changes */
    struct names *again; /* that are */
    struct value last;   /* the object as they have left it */
};

static struct history *history_of(struct admission_request *req)
{
    void **kept = &req->rounds.kept[req->plugin];
    if (!*kept)
        *kept = arena_new(req->arena, struct history);
    return *kept;
}

static void has_changed(struct history *h)
{
    struct names **end = &h->again;
    while (*end)
        end = &(*end)->next;
    *end = h->asked;
    h->asked = NULL;
}

static bool has(const struct names *list, struct str uid)
{
    for (; list; list = list->next)
        if (str_eq(list->uid, uid))
            return true;
    return false;
}

static void note_asked(struct admission_request *req, struct history *h, const struct webhook *w)
{
    if (!w->is_reinvoked || has(h->asked, w->uid))
        return;
    struct names *n = arena_new(req->arena, struct names);
    *n = (struct names){ .next = h->asked, .uid = arena_str(req->arena, w->uid) };
    h->asked = n;
}

/* ---- For auditors ---- */

static struct str round_key(struct admission_request *req, const char *kind, size_t index)
{
    return arena_printf(req->arena, "%s.webhook.admission.k8s.io/round_%d_index_%zu", kind,
                        req->rounds.is_second, index);
}

static void write_names(struct buf *out, const struct webhook *w)
{
    buf_str_add(out, STR("{\"configuration\":"));
    json_write_string(out, w->configuration);
    buf_str_add(out, STR(",\"webhook\":"));
    json_write_string(out, w->name);
}

static void note_mutation(struct admission_request *req, const struct webhook *w, size_t index,
                          bool is_changed)
{
    autobuf text = { 0 };
    if (!req->cluster->annotate)
        return;
    write_names(&text, w);
    buf_printf(&text, ",\"mutated\":%s}", is_changed ? "true" : "false");
    admission_annotate(req, round_key(req, "mutation", index),
                       arena_str(req->arena, buf_str(&text)));
}

static void note_patch(struct admission_request *req, const struct webhook *w, size_t index,
                       const struct value *patch)
{
    autobuf text = { 0 };
    if (!req->cluster->annotate_request)
        return;
    write_names(&text, w);
    buf_str_add(&text, STR(",\"patch\":"));
    json_write(&text, patch);
    buf_str_add(&text, STR(",\"patchType\":\"JSONPatch\"}"));
    req->cluster->annotate_request(req->arg, round_key(req, "patch", index),
                                   arena_str(req->arena, buf_str(&text)));
}

/* ---- Patches ---- */

static int cannot_modify(struct admission_request *req, const struct webhook *w, struct err *err)
{
    return view_internal_error(
        arena_printf(req->arena,
                     "admission webhook %s attempted to modify the object, which is not supported "
                     "for this operation",
                     admission_quoted(req, w->name)),
        err);
}

/* One call, and where it stands. */
struct asked {
    struct webhooks_call call;
    size_t index;
    bool is_changed;
};

static int apply_patch(struct admission_request *req, struct asked *q, const struct value *patch,
                       struct value *obj, struct err *err)
{
    const struct view *v = &q->call.sight->view;
    if (!v->obj)
        return cannot_modify(req, q->call.webhook, err);
    struct value changed = value_borrow(v->obj);
    if (json_patch_apply_told(req->arena, patch, &changed, err) < 0)
        return view_internal_error(err->msg, err);
    int r = view_take(req, v, &changed, obj, err);
    if (r < 0)
        return r;
    q->is_changed = !value_eq(v->obj, &changed);
    note_patch(req, q->call.webhook, q->index, patch);
    return 0;
}

/* 0; or an error, and `*ret_result` says of which kind. */
static int take_answer(struct admission_request *req, struct asked *q,
                       const struct review_answer *answer, struct value *obj,
                       enum webhooks_result *ret_result, struct err *err)
{
    const struct webhook *w = q->call.webhook;
    struct value patch;
    webhooks_tell(req, w, answer);
    *ret_result = WEBHOOKS_BROKEN;
    if (!answer->allowed)
        return review_refusal(req->arena, w->name, answer->status, err);
    int r = review_patch(req->arena, answer, &patch, err);
    if (r < 0) {
        *ret_result = WEBHOOKS_FAILED;
        return r;
    }
    if (!patch.n)
        return 0;
    if (str_eq(answer->patch_type, STR("JSONPatch")))
        return apply_patch(req, q, &patch, obj, err);
    *ret_result = WEBHOOKS_FAILED;
    return err_set(err, ERR_UNKNOWN, "unsupported patch type %s",
                   admission_quoted(req, answer->patch_type));
}

/* ---- Asking ---- */

static int ask(struct admission_request *req, struct asked *q, struct value *obj,
               enum webhooks_result *ret_result, struct err *err)
{
    struct review_answer answer;
    *ret_result = webhooks_prepare(req, &q->call, err);
    if (*ret_result == WEBHOOKS_ANSWERED)
        *ret_result = webhooks_ask(&q->call, req->arena, true, &answer, err);
    if (*ret_result != WEBHOOKS_ANSWERED)
        return -(int)err->code;
    return take_answer(req, q, &answer, obj, ret_result, err);
}

static int ask_one(struct admission_request *req, struct history *h, struct asked *q,
                   struct value *obj, struct err *err)
{
    const struct webhook *w = q->call.webhook;
    enum webhooks_result result;
    xray_stage(req->xray, "webhook", w->name, obj);
    int r = ask(req, q, obj, &result, err);
    note_mutation(req, w, q->index, q->is_changed);
    if (q->is_changed) {
        has_changed(h);
        req->rounds.is_wanted = true;
    }
    note_asked(req, h, w);
    if (r == 0)
        return 0;
    if (result == WEBHOOKS_BROKEN)
        return r;
    if (!w->ignores_failure)
        return webhooks_fail(w, err);
    webhooks_fail_open(req, w, "mutation", req->rounds.is_second, q->index);
    err_clear(err);
    return 0;
}

/* What cannot be shown is an internal error, and here upstream says so twice. */
static int want(struct admission_request *req, const struct webhook *w, const struct value *obj,
                struct webhooks_sight **sights, struct webhooks_call *ret, struct err *err)
{
    int r = webhooks_want(w, req, obj, sights, ret, err);
    return r == -ERR_INTERNAL ? view_internal_error(err->msg, err) : r;
}

static int ask_all(struct admission_request *req, const struct webhooks *all, struct value *obj,
                   struct err *err)
{
    struct history *h = history_of(req);
    struct webhooks_sight *sights = NULL;
    if (req->rounds.is_second && obj && !value_eq(&h->last, obj))
        has_changed(h); /* other plugins have changed it */
    for (size_t i = 0; i < all->n; i++) {
        struct asked q = { .index = i };
        const struct webhook *w = &all->list[i];
        if (req->rounds.is_second && !has(h->again, w->uid))
            continue;
        int r = want(req, w, obj, &sights, &q.call, err);
        if (r > 0)
            r = ask_one(req, h, &q, obj, err);
        if (r < 0)
            return r;
        if (q.is_changed)
            sights = NULL;
    }
    if (obj)
        h->last = value_share(obj);
    return 0;
}

static int mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    struct admission_recalled *known;
    int r = admission_recall(req, &known, err);
    if (r < 0 || !known)
        return r;
    r = ask_all(req, admission_recalled(known), obj, err);
    admission_release(known);
    return r;
}

const struct admission_plugin plugin_webhook_mutating = {
    .name = "MutatingAdmissionWebhook",
    .memo = &memo,
    .mutate = mutate,
};
