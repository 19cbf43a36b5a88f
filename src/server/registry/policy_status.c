#include "server/registry/policy_status.h"

#include "admission/policy/type_check.h"
#include "base/log.h"
#include "server/custom/custom.h"
#include "server/registry/registry_internal.h"
#include "base/banned.h"

/* ---- Kinds ---- */

/* Definitions that types were taken from; they stay until the check is done. */
struct kinds {
    struct call *call;
    struct held {
        struct held *next;
        struct custom *custom;
    } * held;
};

static const struct kind_type *hold(struct kinds *k, struct registry_kind found)
{
    if (found.custom) {
        struct held *h = arena_new(k->call->arena, struct held);
        *h = (struct held){ k->held, found.custom };
        k->held = h;
    }
    return found.resource ? found.resource->type : NULL;
}

static const struct kind_type *by_resource(void *arg, struct str group, struct str version,
                                           struct str plural)
{
    struct kinds *k = arg;
    return hold(k, registry__resource_named(k->call, group, version, plural));
}

static const struct kind_type *by_kind(void *arg, struct str api_version, struct str kind)
{
    struct kinds *k = arg;
    return hold(k, registry__kind_named(k->call, api_version, kind));
}

static void release(struct kinds *k)
{
    for (struct held *h = k->held; h; h = h->next)
        custom_unref(h->custom);
}

/* ---- The status ---- */

struct checked {
    struct arena *arena;
    int64_t generation;
    const struct value *warnings;
};

static int64_t number_at(const struct value *v, const char *above, const char *name)
{
    int64_t n = 0;
    (void)value_to_int(value_dig(v, above, name), &n);
    return n;
}

static int set_status(struct registry_update *u, const struct registry_entry *now,
                      struct value *ret, struct err *err)
{
    const struct checked *c = u->arg;
    (void)err;
    *ret = value_borrow(&now->obj);
    if (number_at(&now->obj, "metadata", "generation") != c->generation)
        return 0; /* whoever was faster has checked it, too */
    struct value *status = value_ensure(c->arena, ret, STR("status"));
    struct value checking = value_object();
    if (c->warnings->n)
        value_put_new(c->arena, &checking, STR("expressionWarnings"), value_borrow(c->warnings));
    value_put(c->arena, status, STR("observedGeneration"), value_int(c->generation));
    value_put(c->arena, status, STR("typeChecking"), checking);
    return 0;
}

static int follow(struct call *c, struct str name, struct err *err)
{
    struct registry_entry now;
    struct value result;
    int r = registry_find(c, name, &now, err);
    if (r <= 0)
        return r;
    int64_t generation = number_at(&now.obj, "metadata", "generation");
    if (generation <= number_at(&now.obj, "status", "observedGeneration"))
        return 0;
    struct kinds kinds = { .call = c };
    const struct type_check_kinds how = { by_resource, by_kind, &kinds };
    const struct value warnings = type_check(c->arena, &now.obj, &how);
    release(&kinds);
    struct checked checked = { c->arena, generation, &warnings };
    struct registry_update u = {
        .change = set_status, .arg = &checked, .sub = STR("status"), .tries_again = true
    };
    return registry_update(c, name, &u, &result, err);
}

void policy_status_follow(struct call *c, struct str name)
{
    static const struct str group = STR("admissionregistration.k8s.io");
    if (!c->api->checks_policies ||
        !str_eq(c->stored->plural, STR("validatingadmissionpolicies")) ||
        !str_eq(c->stored->group, group))
        return;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct call own = { .api = c->api, .arena = &a, .stored = c->stored, .is_step = true };
    own.req.resource = c->stored;
    if (follow(&own, name, &err) < 0)
        log_error("a policy could not be checked", LOG_STR("name", name), LOG_ERR(&err));
    arena_done(&a);
}
