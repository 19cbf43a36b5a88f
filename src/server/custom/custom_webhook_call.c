/* custom_webhook_call.c - where a conversion webhook is, and the way there: hook.h, with a look
 * into the store for the endpoints of a Service. */
#include "admission/webhook/hook.h"
#include "base/limits.h"
#include "server/custom/custom_webhook.h"
#include "server/object/stored.h"
#include "base/banned.h"

struct custom_webhook {
    struct hook *hook;
    struct str review_version; /* a NULL pointer: none that we speak */
};

struct custom_webhook *custom_webhook_build(struct arena *a, const struct value *crd,
                                            const atomic_bool *cancel)
{
    const struct value *conversion = value_dig(crd, "spec", "conversion"),
                       *webhook = value_get(conversion, STR("webhook"));
    if (!str_eq(value_text(conversion, "strategy"), STR("Webhook")))
        return NULL;
    struct custom_webhook *w = arena_new(a, struct custom_webhook);
    w->review_version = hook_review_version(value_get(webhook, STR("conversionReviewVersions")));
    w->hook = hook_for(value_get(webhook, STR("clientConfig")), cancel);
    return w;
}

void custom_webhook_done(struct custom_webhook *w)
{
    if (w)
        w->hook = hook_unref(w->hook);
}

struct str custom_webhook__review_version(const struct custom_webhook *w)
{
    return w->review_version;
}

/* ---- Services ---- */

struct reader {
    struct arena *arena;
    struct store *store;
};

static int read_one(void *arg, struct str group, struct str plural, struct str ns, struct str name,
                    struct value *ret, struct err *err)
{
    const struct reader *reader = arg;
    const struct kind_resource *resource = kind_stored_named(group, plural);
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(reader->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = store_snap_get(snap, stored_key(reader->arena, resource, ns, name), &e, err);
    if (r == 1 && stored_read(reader->arena, resource->type, &e, ret, err) < 0)
        r = -(int)err->code;
    store_snap_end(snap);
    return r;
}

static int each_in(void *arg, struct str group, struct str plural, struct str ns,
                   admission_take *take, void *to, struct err *err)
{
    const struct reader *reader = arg;
    const struct kind_resource *resource = kind_stored_named(group, plural);
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(reader->store, 0, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, stored_key(reader->arena, resource, ns, STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        struct value obj;
        r = stored_read(reader->arena, resource->type, &e, &obj, err);
        if (r < 0)
            break;
        r = take(to, &obj);
        if (r < 0)
            break;
    }
    store_snap_end(snap);
    return r;
}

/* ---- The call ---- */

int custom_webhook__post(struct arena *a, const struct custom *c, struct str body, struct str *ret,
                         struct err *err)
{
    static const struct admission_cluster cluster = { .read = read_one, .each_in = each_in };
    struct reader reader = { a, custom_kinds_store(c->kinds) };
    const struct hook_services services = { &cluster, &reader };
    const struct hook_request req = {
        .body = body,
        .timeout_ms = LIMIT_CONVERSION_MS,
        .max_reply = LIMIT_CONVERSION_BYTES,
        .is_client_timeout = true,
    };
    struct str to;
    int r = hook_locate(c->webhook->hook, a, &services, &req, &to, err);
    return r < 0 ? r : hook_post(c->webhook->hook, a, to, &req, ret, err);
}
