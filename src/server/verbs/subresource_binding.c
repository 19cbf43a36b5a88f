/* POST to pods/NAME/binding, or to bindings: a scheduler gives a pod its node. */
#include "api/go/quote.h"
#include "api/validate/validate_common.h"
#include "base/map.h"
#include "server/http/decode.h"
#include "api/errors.h"
#include "server/http/options.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "server/verbs/subresource.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

struct binding {
    struct call *call; /* of the pod */
    struct value obj;
    struct str name; /* of the pod */
};

/* Upstream answers 500 here, with the bare list of what is wrong. */
static int check_target(const struct value *obj, struct err *err)
{
    static const struct str kinds[] = { STR("Node"), STR("<empty>") };
    struct field_errors e = FIELD_ERRORS_INIT(err->arena);
    const struct value *target = value_get(obj, STR("target"));
    const struct field_path *path = path_root("target");
    struct str kind = value_text(target, "kind"), name = value_text(target, "name");
    bool is_node = !kind.n || str_eq(kind, STR("Node"));
    if (!is_node)
        field_not_supported(&e, path_at(path, "kind"), field_quoted(&e, kind), WORDS(kinds));
    if (validate_required(&e, path_at(path, "name"), name) && is_node)
        (void)validate_name(&e, path_at(path, "name"), NAME_SUBDOMAIN, name);
    return e.n ? err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(field_errors_text(&e))) : 0;
}

/* The pod is named by the body where the path names none. */
static int check_pod_name(struct str name, struct err *err)
{
    struct name_faults faults = { .n = 0 };
    if (!name.n)
        return err_set(err, ERR_BAD_REQUEST, "Name parameter required.");
    if (name_check(NAME_PATH_SEGMENT, name, &faults))
        return 0;
    autobuf text = { 0 };
    quote_go(&text, name);
    for (size_t i = 0; i < faults.n; i++)
        buf_printf(&text, "%s%s%s", i ? ";" : ": ", faults.list[i].part, faults.list[i].why);
    return err_set(err, ERR_BAD_REQUEST, "Name parameter invalid: " STR_FMT,
                   STR_ARG(buf_str(&text)));
}

static int refuse(const struct binding *b, struct str why, struct err *err)
{
    struct kind_resource path = *b->call->req.resource;
    path.plural = STR("pods/binding");
    return error_conflict(err, &path, b->name, why);
}

/* A pod that cannot be bound; 0 if it can. */
static int check_pod(const struct binding *b, const struct value *pod, struct err *err)
{
    struct arena *a = b->call->arena;
    struct str node = value_str(value_dig(pod, "spec", "nodeName"));
    const struct value *gates = value_dig(pod, "spec", "schedulingGates");
    if (value_dig(pod, "metadata", "deletionTimestamp"))
        return refuse(b,
                      arena_printf(a,
                                   "pod " STR_FMT " is being deleted, cannot be assigned to a host",
                                   STR_ARG(b->name)),
                      err);
    if (node.n)
        return refuse(b,
                      arena_printf(a, "pod " STR_FMT " is already assigned to node \"" STR_FMT "\"",
                                   STR_ARG(b->name), STR_ARG(node)),
                      err);
    if (value_is(gates, VALUE_ARRAY) && gates->n)
        return refuse(b,
                      arena_printf(a, "pod " STR_FMT " has non-empty .spec.schedulingGates",
                                   STR_ARG(b->name)),
                      err);
    return 0;
}

static void merge(struct arena *a, struct value *meta, const struct value *from, struct str field)
{
    struct map given = { 0 };
    struct value merged = value_object();
    value_each_field (f, value_get(from, field))
        (void)map_set(&given, f->key, (void *)(uintptr_t)&f->val);
    value_each_field (f, value_get(meta, field))
        if (!map_get(&given, f->key))
            value_put_new(a, &merged, f->key, value_borrow(&f->val));
    value_each_field (f, value_get(from, field))
        value_put_new(a, &merged, f->key, value_borrow(&f->val));
    if (given.n)
        value_put(a, meta, field, merged);
    map_done(&given);
}

/* The conditions that the binding names are those that the new object names: checked by the
 * registry. A pod that is another one is not looked at. */
static bool set_conditions(struct arena *a, const struct value *binding, struct value *meta)
{
    struct str uid = value_str(value_dig(binding, "metadata", "uid")),
               rev = value_str(value_dig(binding, "metadata", "resourceVersion"));
    bool same = !uid.n || str_eq(uid, value_text(meta, "uid"));
    value_drop(a, meta, STR("resourceVersion"));
    if (uid.n)
        value_put(a, meta, STR("uid"), value_string(uid));
    if (rev.n)
        value_put(a, meta, STR("resourceVersion"), value_string(rev));
    return same;
}

static int bind(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                struct err *err)
{
    const struct binding *b = u->arg;
    struct arena *a = b->call->arena;
    const struct value *from = value_get(&b->obj, STR("metadata"));
    *ret = value_borrow(&now->obj);
    struct value *meta = value_ensure(a, ret, STR("metadata"));
    if (!set_conditions(a, &b->obj, meta))
        return 0;
    int r = check_pod(b, &now->obj, err);
    if (r < 0)
        return r;
    merge(a, meta, from, STR("annotations"));
    merge(a, meta, from, STR("labels"));
    value_put(a, value_ensure(a, ret, STR("spec")), STR("nodeName"),
              value_borrow(value_dig(&b->obj, "target", "name")));
    struct value *status = value_ensure(a, ret, STR("status"));
    value_drop(a, status, STR("nominatedNodeName"));
    subresource_set_condition(
        b->call, status,
        &(struct subresource_condition){ .type = STR("PodScheduled"), .status = STR("True") });
    return 0;
}

static int create(struct call *c, struct binding *b, struct err *err)
{
    struct write_options options;
    struct value pod;
    const struct kind_type *type = kind_type_find(STR(""), STR("v1"), STR("Binding"));
    int r = options_read(c, "CreateOptions", &options, err);
    if (r < 0)
        return r;
    r = decode_body(c, type, options.validation, &b->obj, err);
    if (r < 0)
        return r;
    r = subresource_check_namespace(c, &b->obj, err);
    if (r < 0)
        return r;
    managers_update(c, managers_request(c, &options, type), NULL, &b->obj);
    b->name = value_str(value_dig(&b->obj, "metadata", "name"));
    if (c->req.name.p && !str_eq(b->name, c->req.name))
        return err_set(err, ERR_BAD_REQUEST, "name in URL does not match name in Binding object");
    r = registry_admit_posted(c, type, &b->obj, err);
    if (r < 0)
        return r;
    r = check_target(&b->obj, err);
    if (r < 0)
        return r;
    r = registry_admit_posted_check(c, type, &b->obj, err);
    if (r < 0)
        return r;
    r = check_pod_name(b->name, err);
    if (r < 0)
        return r;
    struct registry_update u = {
        .change = bind, .arg = b, .as_is = true, .dry_run = options.dry_run
    };
    return registry_update(b->call, b->name, &u, &pod, err);
}

void verb_binding(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct call pods = subresource_call(c, STR(""), STR("pods"));
    struct binding b = { .call = &pods };
    if (create(c, &b, &err) < 0)
        call_fail(c, &err);
    else
        subresource_success(c);
}
