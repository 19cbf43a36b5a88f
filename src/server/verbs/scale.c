/* /scale: the replicas of any workload, as one small object that autoscalers understand. */
#include "api/convert/convert.h"
#include "api/field_errors.h"
#include "base/idiom.h"
#include "schema/schema_kind.h"
#include "select/labels.h"
#include "server/custom/custom_scale.h"
#include "api/errors.h"
#include "server/registry/managers.h"
#include "server/verbs/patch.h"
#include "server/registry/registry.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

/* spec.selector is a LabelSelector, or, of a ReplicationController, the labels themselves. */
static struct str selector_text(struct call *c, const struct value *obj)
{
    const struct value *given = value_dig(obj, "spec", "selector");
    struct labels_selector selector;
    autobuf text = { 0 };
    struct value wrapped = value_object();
    if (given && !value_get(given, STR("matchLabels")) &&
        !value_get(given, STR("matchExpressions"))) {
        value_put_new(c->arena, &wrapped, STR("matchLabels"), value_borrow(given));
        given = &wrapped;
    }
    if (labels_from_value(c->arena, given, &selector, NULL) == 0)
        labels_write(&text, &selector);
    return arena_str(c->arena, buf_str(&text));
}

static void copy(struct arena *a, struct value *to, const struct value *from, const char *name)
{
    const struct value *v = value_get(from, str_of(name));
    if (v)
        value_put_new(a, to, str_of(name), value_borrow(v));
}

static int read_parts(struct call *c, const struct value *obj, struct scale_parts *ret,
                      struct err *err)
{
    const struct kind_type *type = c->req.resource->type;
    if (type->custom)
        return custom_scale_read(&schema_kind_of(type)->scale, obj, ret, err);
    *ret = (struct scale_parts){ .has_replicas = true, .selector = selector_text(c, obj) };
    (void)value_to_int(value_dig(obj, "spec", "replicas"), &ret->replicas);
    (void)value_to_int(value_dig(obj, "status", "replicas"), &ret->running);
    return 0;
}

static struct value make(struct call *c, const struct value *obj, const struct scale_parts *parts)
{
    static const char *const kept[] = { "name", "namespace", "uid", "resourceVersion",
                                        "creationTimestamp" };
    struct value scale = value_object(), meta = value_object(), spec = value_object(),
                 status = value_object();
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        copy(c->arena, &meta, value_get(obj, STR("metadata")), kept[i]);
    if (parts->replicas)
        value_put_new(c->arena, &spec, STR("replicas"), value_int(parts->replicas));
    value_put_new(c->arena, &status, STR("replicas"), value_int(parts->running));
    if (parts->selector.n)
        value_put_new(c->arena, &status, STR("selector"), value_string(parts->selector));
    value_put_new(c->arena, &scale, STR("kind"), value_string(STR("Scale")));
    value_put_new(c->arena, &scale, STR("apiVersion"), value_string(STR("autoscaling/v1")));
    value_put_new(c->arena, &scale, STR("metadata"), meta);
    value_put_new(c->arena, &scale, STR("spec"), spec);
    value_put_new(c->arena, &scale, STR("status"), status);
    /* The old versions of workloads have a Scale of their own, which has the same fields and more
     * words for the selector. */
    struct value shown;
    const struct kind_type *type = c->req.sub->type;
    if (convert_object(c->arena, convert_hub(type), type, &scale, &shown, NULL) == 0)
        scale = shown;
    return scale;
}

static int read_scale(struct call *c, const struct value *obj, bool needs_replicas,
                      struct value *ret, struct err *err)
{
    struct scale_parts parts;
    int r = read_parts(c, obj, &parts, err);
    if (r < 0)
        return r;
    if (needs_replicas && !parts.has_replicas)
        return custom_scale_refuse(&schema_kind_of(c->req.resource->type)->scale, err);
    *ret = make(c, obj, &parts);
    return 0;
}

/* The answer, if `r` says that there is an object. */
static void show(struct call *c, int r, const struct value *obj, bool needs_replicas,
                 struct err *err)
{
    struct value scale;
    if (r < 0 || read_scale(c, obj, needs_replicas, &scale, err) < 0)
        call_fail(c, err);
    else
        call_object(c, 200, c->req.sub->type, &scale);
}

void verb_scale_get(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct registry_entry now = { 0 };
    int r = registry_get(c, c->req.name, &now, &err);
    show(c, r, &now.obj, true, &err);
}

struct scaling {
    struct call *call;
    const struct managed_request *parent, *managers; /* of the object, and of its Scale */
    struct value sent;                               /* if it was sent whole */
    struct patch *patch;                             /* NULL: it was */
};

static int validate(struct call *c, const struct value *scale, int64_t replicas, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct field_path spec = { .name = STR("spec") };
    struct field_path path = field_child(&spec, STR("replicas"));
    if (replicas < 0)
        field_error(&e, FIELD_INVALID, &path, arena_printf(c->arena, "%lld", (long long)replicas),
                    "must be greater than or equal to 0");
    return field_errors_report(&e, STR("autoscaling"), STR("Scale"),
                               value_str(value_dig(scale, "metadata", "name")), err);
}

/* A custom object is validated as a whole when it is written; its Scale is not. */
static int put_replicas(struct call *c, const struct value *scale, struct value *obj,
                        struct err *err)
{
    const struct kind_type *type = c->req.resource->type;
    int64_t replicas = 0;
    (void)value_to_int(value_dig(scale, "spec", "replicas"), &replicas);
    if (type->custom)
        return custom_scale_write(c->arena, &schema_kind_of(type)->scale, replicas, obj, err);
    int r = validate(c, scale, replicas, err);
    if (r < 0)
        return r;
    value_put(c->arena, value_ensure(c->arena, obj, STR("spec")), STR("replicas"),
              value_int(replicas));
    return 0;
}

/* A patch of another object's Scale. A PUT of one is refused by the store, and the Scales of custom
 * kinds are not compared upstream. */
static int check_uid(struct scaling *s, const struct value *scale, const struct value *obj,
                     struct err *err)
{
    struct call *c = s->call;
    struct str uid = value_str(value_dig(scale, "metadata", "uid")),
               now_uid = value_str(value_dig(obj, "metadata", "uid"));
    if (!s->patch || !uid.n || str_eq(uid, now_uid) || c->req.resource->type->custom)
        return 0;
    struct kind_resource whole = *c->stored;
    whole.plural = arena_printf(c->arena, STR_FMT "/scale", STR_ARG(c->stored->plural));
    return error_conflict(err, &whole, c->req.name,
                          arena_printf(c->arena,
                                       "Precondition failed: UID in precondition: " STR_FMT
                                       ", UID in object meta: " STR_FMT,
                                       STR_ARG(uid), STR_ARG(now_uid)));
}

static int set_replicas(struct scaling *s, const struct value *scale,
                        const struct registry_entry *now, struct value *ret, struct err *err)
{
    struct arena *a = s->call->arena;
    *ret = value_borrow(&now->obj);
    int r = put_replicas(s->call, scale, ret, err);
    if (r < 0)
        return r;
    r = check_uid(s, scale, &now->obj, err);
    if (r < 0)
        return r;
    const struct value *uid = value_dig(scale, "metadata", "uid"),
                       *rev = value_dig(scale, "metadata", "resourceVersion");
    struct value *meta = value_ensure(a, ret, STR("metadata"));
    value_drop(a, meta, STR("resourceVersion"));
    if (uid && !s->patch)
        value_put(a, meta, STR("uid"), value_borrow(uid));
    if (rev)
        value_put(a, meta, STR("resourceVersion"), value_borrow(rev));
    managed_from_scale(a, s->parent, scale, ret);
    return 0;
}

static int set_in(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                  struct err *err)
{
    struct scaling *s = u->arg;
    struct scale_parts parts;
    int r = read_parts(s->call, &now->obj, &parts, err);
    if (r < 0)
        return r;
    if (!parts.has_replicas)
        parts.replicas = CUSTOM_SCALE_UNSET;
    struct value live = make(s->call, &now->obj, &parts), scale;
    managed_to_scale(s->call->arena, s->parent, &now->obj, &live);
    if (s->patch) {
        r = patch_object(s->patch, &live, &scale, err);
        if (r < 0)
            return r;
        r = verb_update_check_name(s->call, &scale, err);
        if (r < 0)
            return r;
    } else {
        scale = value_share(&s->sent);
    }
    if (!s->patch || s->patch->kind != PATCH_APPLY)
        managers_update(s->call, s->managers, &live, &scale);
    r = registry_admit_part(s->call, &scale, &live, err);
    if (r < 0)
        return r;
    return set_replicas(s, &scale, now, ret, err);
}

/* The Scales of what it is now and what it was. */
static int check_scales(struct registry_update *u, const struct value *obj,
                        const struct value *old_obj, struct err *err)
{
    struct scaling *s = u->arg;
    struct value now, was;
    int r = read_scale(s->call, obj, false, &now, err);
    if (r < 0)
        return r;
    r = read_scale(s->call, old_obj, false, &was, err);
    return r < 0 ? r : registry_admit_part_check(s->call, &now, &was, err);
}

static int patch(struct call *c, struct value *ret, struct err *err)
{
    struct patch p;
    int r = patch_read(c, &p, err);
    if (r < 0)
        return r;
    struct scaling scaling = {
        .call = c,
        .parent = managers_request(c, &p.options, c->req.resource->type),
        .managers = p.managers,
        .patch = &p,
    };
    struct registry_update u = { .change = set_in,
                                 .arg = &scaling,
                                 .admit_check = check_scales,
                                 .dry_run = p.options.dry_run,
                                 .tries_again = true };
    return registry_update(c, c->req.name, &u, ret, err);
}

static int update(struct call *c, struct value *ret, struct err *err)
{
    struct write_options options;
    struct scaling scaling = { .call = c };
    int r = options_read(c, "UpdateOptions", &options, err);
    if (r < 0)
        return r;
    r = decode_body(c, c->req.sub->type, options.validation, &scaling.sent, err);
    if (r < 0)
        return r;
    r = verb_update_check_name(c, &scaling.sent, err);
    if (r < 0)
        return r;
    scaling.parent = managers_request(c, &options, c->req.resource->type);
    scaling.managers = managers_request(c, &options, c->req.sub->type);
    struct registry_update u = { .change = set_in,
                                 .arg = &scaling,
                                 .admit_check = check_scales,
                                 .dry_run = options.dry_run,
                                 .any_revision = true };
    return registry_update(c, c->req.name, &u, ret, err);
}

static void answer(struct call *c,
                   int (*change)(struct call *c, struct value *ret, struct err *err))
{
    struct err err = ERR_INIT(c->arena);
    struct value obj = value_null();
    int r = change(c, &obj, &err);
    show(c, r, &obj, false, &err);
}

void verb_scale_update(struct call *c)
{
    answer(c, update);
}

void verb_scale_patch(struct call *c)
{
    answer(c, patch);
}
