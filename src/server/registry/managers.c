#include "server/registry/managers.h"

#include "admission/xray.h"
#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/go/quote.h"
#include "api/keys.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/utf8.h"
#include "schema/schema_ownership.h"
#include "server/custom/custom.h"
#include "server/registry/registry_internal.h"
#include "server/registry/strategy.h"
#include "server/registry/hub.h"
#include "base/banned.h"

enum { NAME_MAX_BYTES = 128 };

/* ---- What an endpoint sets back ---- */

enum { RESETS_MAX = 3, STEPS_MAX = 2 };

struct reset_path {
    const char *steps[STEPS_MAX];
};

/* Usually the object resets its status, and the path `status` resets the spec. These differ. */
static const struct {
    const char *group, *resource, *sub;
    struct reset_path paths[RESETS_MAX];
} exceptions[] = {
    { "", "namespaces", "finalize", { { { "status" } } } },
    { "",
      "pods",
      "status",
      { { { "spec" } },
        { { "metadata", "deletionTimestamp" } },
        { { "metadata", "ownerReferences" } } } },
    { "certificates.k8s.io",
      "certificatesigningrequests",
      "",
      { { { "spec" } }, { { "status" } } } },
    { "certificates.k8s.io",
      "certificatesigningrequests",
      "status",
      { { { "spec" } }, { { "status", "conditions" } } } },
    { "certificates.k8s.io",
      "certificatesigningrequests",
      "approval",
      { { { "spec" } }, { { "status", "certificate" } } } },
};

static const struct fieldset *add_path(struct arena *a, const struct fieldset *s,
                                       const struct reset_path *path)
{
    struct fieldset_step steps[STEPS_MAX];
    size_t n = 0;
    for (; n < STEPS_MAX && path->steps[n]; n++)
        steps[n] = fieldset_name(str_of(path->steps[n]));
    return n ? fieldset_union(a, s, fieldset_of(a, steps, n)) : s;
}

static const struct fieldset *usual_resets(struct arena *a, const struct kind_resource *r,
                                           struct str sub)
{
    static const struct reset_path status = { { "status" } }, spec = { { "spec" } },
                                   metadata = { { "metadata" } },
                                   labels = { { "metadata", "labels" } };
    unsigned flags = strategy_flags(r);
    if (!sub.n)
        return kind_subresource_find(r, STR("status")) ? add_path(a, NULL, &status) : NULL;
    if (!str_eq(sub, STR("status")))
        return NULL;
    const struct fieldset *s = add_path(a, NULL, &spec);
    if (flags & STRATEGY_STATUS_META)
        s = add_path(a, s, &metadata);
    return flags & STRATEGY_STATUS_LABELS ? add_path(a, s, &labels) : s;
}

static const struct fieldset *resets(struct arena *a, const struct kind_resource *r, struct str sub)
{
    for (size_t i = 0; i < ARRAY_LEN(exceptions); i++) {
        if (!str_eq(r->group, str_of(exceptions[i].group)) ||
            !str_eq(r->plural, str_of(exceptions[i].resource)) ||
            !str_eq(sub, str_of(exceptions[i].sub)))
            continue;
        const struct fieldset *s = NULL;
        for (size_t p = 0; p < RESETS_MAX; p++)
            s = add_path(a, s, &exceptions[i].paths[p]);
        return s;
    }
    return usual_resets(a, r, sub);
}

/* ---- The request ---- */

/* What stands before the first slash of the user agent, as far as it can be printed. */
static struct str name_of_agent(struct call *c)
{
    struct str agent = http_header_get(c->http, STR("user-agent")), rest = str_cut(&agent, '/');
    autobuf name = { 0 };
    while (rest.n) {
        size_t n = utf8_step(rest.p, rest.n);
        struct str letter = n ? str_take(rest, n) : STR("\ufffd");
        bool printable = !n || quote_is_printable(utf8_decode(rest.p, n));
        if (printable && name.n + letter.n > NAME_MAX_BYTES)
            break;
        if (printable)
            buf_str_add(&name, letter);
        rest = str_skip(rest, n ? n : 1);
    }
    return arena_str(c->arena, buf_str(&name));
}

/* The fields that Go writes of an empty struct. */
static const struct value *empty_object(struct call *c, const struct kind_type *type)
{
    struct value nothing = value_object(), *empty = arena_new(c->arena, struct value);
    if (typed_read(c->arena, type, &nothing, NULL, empty, NULL) < 0)
        *empty = value_object();
    return empty;
}

/* Versions of a custom kind: those of its definition. */
static bool find_custom(struct ownership_place place, struct str api_version,
                        struct ownership_place *ret)
{
    const struct custom *c = custom_version_of_type(place.at)->of;
    struct str version = api_version, group = str_cut(&version, '/');
    for (size_t i = 0; str_eq(group, c->group) && i < c->n_versions; i++) {
        if (!str_eq(c->versions[i].resource.version, version))
            continue;
        *ret = schema_ownership_of(&c->versions[i].type);
        return true;
    }
    return false;
}

static const struct fieldset *custom_replicas(struct arena *a, struct ownership_place place,
                                              struct str api_version)
{
    struct ownership_place found;
    if (!find_custom(place, api_version, &found))
        return NULL;
    struct str path = schema_kind_of(found.at)->scale.spec_replicas;
    struct fieldset_step *steps = arena_array(a, struct fieldset_step, path.n);
    size_t n = 0;
    (void)str_cut(&path, '.');
    while (path.n)
        steps[n++] = fieldset_name(str_cut(&path, '.'));
    return n ? fieldset_of(a, steps, n) : NULL;
}

static int convert_custom(struct arena *a, struct ownership_place from, struct ownership_place to,
                          const struct value *obj, struct value *ret, struct err *err)
{
    struct value in = value_borrow(obj);
    if (custom_version_of_type(to.at)->of->webhook)
        return convert_object(a, from.at, to.at, &in, ret, err);
    return schema_ownership_convert(a, from, to, obj, ret, err);
}

static const struct managed_versions custom_versions = {
    .find = find_custom,
    .convert = convert_custom,
    .replicas = custom_replicas,
};

static struct managed_request *request_by(struct call *c, struct str manager, struct str sub,
                                          const struct kind_type *type)
{
    struct managed_request *req = arena_new(c->arena, struct managed_request);
    *req = (struct managed_request){
        .schema = type->custom ? &schema_ownership : &ownership_kinds,
        .place = type->custom ? schema_ownership_of(type) : ownership_kind(type),
        .manager = manager,
        .api_version = convert_api_version(c->arena, type),
        .subresource = sub,
        .now = registry_now(c),
        .empty = empty_object(c, type),
        .reset = resets(c->arena, c->stored, sub),
        .versions = type->custom ? &custom_versions : &managed_kinds,
    };
    return req;
}

struct managed_request *managers_request(struct call *c, const struct write_options *options,
                                         const struct kind_type *type)
{
    return request_by(c, options->manager.n ? options->manager : name_of_agent(c),
                      c->req.sub ? c->req.sub->name : STR(""), type);
}

/* Clients know the server by this name. */
struct managed_request *managers_own_request(struct call *c, struct str sub)
{
    return request_by(c, STR("kube-apiserver"), sub, c->stored->type);
}

/* ---- After a change ---- */

static void set_managers(struct arena *a, struct value *obj, const struct value *managers)
{
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    if (!meta)
        return;
    if (managers)
        value_put(a, meta, STR("managedFields"), value_borrow(managers));
    else
        value_drop(a, meta, STR("managedFields"));
}

void managers_update(struct call *c, const struct managed_request *req, const struct value *live,
                     struct value *obj)
{
    if (managed_update(c->arena, req, live, obj, NULL) < 0)
        set_managers(c->arena, obj, value_dig(live, "metadata", "managedFields"));
}

/* DaemonSets of apps/v1 keep in an annotation what the hub version has as a field: it is there in
 * every object that went through the hub. */
static void show_template_generation(struct arena *a, const struct kind_type *type,
                                     struct value *obj)
{
    static const struct str key = STR(KEY_TEMPLATE_GENERATION);
    if (!str_eq(type->name, STR("DaemonSet")) || !str_eq(type->group, STR("apps")))
        return;
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    struct value *annotations = meta ? value_ensure(a, meta, STR("annotations")) : NULL;
    if (annotations && !value_get(annotations, key))
        value_put(a, annotations, key, value_string(STR("0")));
}

/* Managers own fields of the version of the request. So the object is converted from the hub
 * version first. */
int managers_own(struct call *c, const struct managed_request *req,
                 const struct registry_entry *now, const struct value *sent, struct value *obj,
                 struct err *err)
{
    struct value live = value_null(), shown;
    xray_stage(c->xray, "managers", STR("owns the fields"), obj);
    int r = hub_show(c, obj, &shown, err);
    if (r < 0)
        return r;
    if (now)
        r = hub_show(c, &now->obj, &live, err);
    if (r < 0)
        return r;
    const struct kind_type *type = c->req.resource->type;
    decode_keep_reset(c->arena, sent, &shown);
    show_template_generation(c->arena, type, &shown);
    defaults_stamp(c->arena, type, &shown, req->now);
    managers_update(c, req, now ? &live : NULL, &shown);
    set_managers(c->arena, obj, value_dig(&shown, "metadata", "managedFields"));
    return 0;
}

/* ---- When nothing was changed ---- */

static struct value without(struct arena *a, const struct value *obj, struct str field)
{
    struct value rest = value_borrow(obj);
    value_drop(a, &rest, field);
    return rest;
}

static bool is_same_entry(struct arena *a, const struct value *entry, const struct value *old_entry)
{
    if (!str_eq(value_text(entry, "manager"), value_text(old_entry, "manager")))
        return false;
    struct value bare = without(a, entry, STR("time")),
                 old_bare = without(a, old_entry, STR("time"));
    return value_eq(&bare, &old_bare);
}

/* Whether the managers differ in their times only. The order depends on times and does not count.
 */
static bool differ_in_time(struct arena *a, const struct value *managers,
                           const struct value *old_managers)
{
    if (!value_is(managers, VALUE_ARRAY) || !value_is(old_managers, VALUE_ARRAY) ||
        managers->n != old_managers->n || value_eq(managers, old_managers))
        return false;
    bool *taken = arena_array(a, bool, old_managers->n);
    for (size_t i = 0; i < managers->n; i++) {
        size_t k = 0;
        while (k < old_managers->n &&
               (taken[k] || !is_same_entry(a, &managers->items[i], &old_managers->items[k])))
            k++;
        if (k == old_managers->n)
            return false;
        taken[k] = true;
    }
    return true;
}

static struct value without_managers(struct arena *a, const struct value *obj)
{
    struct value bare = value_borrow(obj);
    set_managers(a, &bare, NULL);
    return bare;
}

void managers_keep_times(struct arena *a, struct value *obj, const struct value *old_obj)
{
    const struct value *old_managers = value_dig(old_obj, "metadata", "managedFields");
    if (!differ_in_time(a, value_dig(obj, "metadata", "managedFields"), old_managers))
        return;
    struct value bare = without_managers(a, obj), old_bare = without_managers(a, old_obj);
    if (value_eq(&bare, &old_bare))
        set_managers(a, obj, old_managers);
}
