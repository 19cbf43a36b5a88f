#include "server/bootstrap_policy.h"

#include "api/keys.h"
#include "base/idiom.h"
#include "base/yaml.h"
#include "server/bootstrap_object.h"
#include "server/registry/aggregation.h"
#include "base/banned.h"

extern const char bootstrap_policy_yaml[];
extern const size_t bootstrap_policy_yaml_bytes;

#define GROUP "rbac.authorization.k8s.io"

struct policy {
    struct api *api;
    struct arena *arena;
    struct str resource; /* what is being made */
    struct str ns;
    struct bootstrap_batch missing;
};

/* ---- Making the objects ---- */

static struct value metadata(struct policy *p, struct str name, const struct value *given)
{
    struct value meta = value_object(), labels = value_object(), annotations = value_object();
    struct str part_of = value_text(given, "part-of");
    value_put(p->arena, &labels, STR("kubernetes.io/bootstrapping"),
              value_string(STR("rbac-defaults")));
    if (part_of.n)
        value_put(p->arena, &labels,
                  arena_printf(p->arena, GROUP "/aggregate-to-" STR_FMT, STR_ARG(part_of)),
                  value_string(STR("true")));
    value_put(p->arena, &annotations, STR(KEY_AUTOUPDATE), value_string(STR("true")));
    value_put(p->arena, &meta, STR("name"), value_string(name));
    if (p->ns.n)
        value_put(p->arena, &meta, STR("namespace"), value_string(p->ns));
    value_put(p->arena, &meta, STR("labels"), labels);
    value_put(p->arena, &meta, STR("annotations"), annotations);
    return meta;
}

static struct value aggregation(struct policy *p, struct str name)
{
    struct value labels = value_object(), selector = value_object(), all = value_array(),
                 rule = value_object();
    value_put(p->arena, &labels,
              arena_printf(p->arena, GROUP "/aggregate-to-" STR_FMT, STR_ARG(name)),
              value_string(STR("true")));
    value_put(p->arena, &selector, STR("matchLabels"), labels);
    value_put_item(p->arena, &all, selector);
    value_put(p->arena, &rule, STR("clusterRoleSelectors"), all);
    return rule;
}

static struct value role(struct policy *p, struct str name, const struct value *given)
{
    const struct value *rules = value_get(given, STR("rules"));
    struct value obj = value_object();
    value_put(p->arena, &obj, STR("metadata"), metadata(p, name, given));
    value_put(p->arena, &obj, STR("rules"), rules ? value_borrow(rules) : value_null());
    if (value_is_true(value_get(given, STR("aggregates"))))
        value_put(p->arena, &obj, STR("aggregationRule"), aggregation(p, name));
    return obj;
}

/* KIND/NAME or KIND/NAMESPACE/NAME. */
static struct value subject(struct policy *p, struct str text)
{
    struct value s = value_object();
    struct str kind = str_cut(&text, '/');
    value_put(p->arena, &s, STR("kind"), value_string(kind));
    if (str_eq(kind, STR("ServiceAccount")))
        value_put(p->arena, &s, STR("namespace"), value_string(str_cut(&text, '/')));
    else
        value_put(p->arena, &s, STR("apiGroup"), value_string(STR(GROUP)));
    value_put(p->arena, &s, STR("name"), value_string(text));
    return s;
}

static struct value binding(struct policy *p, struct str name, const struct value *given)
{
    struct value obj = value_object(), ref = value_object(), subjects = value_array();
    struct str role_name = value_text(given, "role"), kind = str_cut(&role_name, '/');
    value_put(p->arena, &ref, STR("apiGroup"), value_string(STR(GROUP)));
    value_put(p->arena, &ref, STR("kind"), value_string(kind));
    value_put(p->arena, &ref, STR("name"), value_string(role_name));
    value_each_item (s, value_get(given, STR("subjects")))
        value_put_item(p->arena, &subjects, subject(p, value_str(s)));
    value_put(p->arena, &obj, STR("metadata"), metadata(p, name, given));
    value_put(p->arena, &obj, STR("roleRef"), ref);
    if (subjects.n)
        value_put(p->arena, &obj, STR("subjects"), subjects);
    return obj;
}

/* ---- Bringing what is there up to date ---- */

static bool has_item(const struct value *list, const struct value *item)
{
    value_each_item (there, list)
        if (value_eq(there, item))
            return true;
    return false;
}

static bool add_missing(struct arena *a, struct value *obj, const char *field,
                        const struct value *wanted)
{
    bool changed = false;
    value_each_item (item, wanted) {
        struct value *list = value_edit(a, obj, str_of(field));
        if (!value_is(list, VALUE_ARRAY))
            list = value_set(a, obj, str_of(field), value_array());
        if (has_item(list, item))
            continue;
        value_put_item(a, list, value_borrow(item));
        changed = true;
    }
    return changed;
}

/* An update that adds what is missing. */
struct renewal {
    struct registry_update update;
    struct arena *arena;
    const struct value *wanted;
};

static int renew(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                 struct err *err)
{
    const struct renewal *n = u->arg;
    (void)err;
    *ret = value_borrow(&now->obj);
    (void)add_missing(n->arena, ret, "rules", value_get(n->wanted, STR("rules")));
    (void)add_missing(n->arena, ret, "subjects", value_get(n->wanted, STR("subjects")));
    return 0;
}

static bool is_kept(const struct value *obj)
{
    return !str_eq(value_str(value_dig(obj, "metadata", "annotations", KEY_AUTOUPDATE)),
                   STR("true"));
}

/* Whether something would be added. */
static bool lacks(struct arena *a, const struct value *there, const struct value *wanted)
{
    struct value copy = value_borrow(there);
    return add_missing(a, &copy, "rules", value_get(wanted, STR("rules"))) ||
           add_missing(a, &copy, "subjects", value_get(wanted, STR("subjects")));
}

static int ensure(struct policy *p, struct str name, struct value *obj, struct err *err)
{
    struct call c = bootstrap_call(p->api, p->arena, STR(GROUP), p->resource, p->ns);
    struct registry_entry there;
    int r = bootstrap_find(&c, name, obj, &there, err);
    if (r < 0)
        return r;
    if (r == 0)
        return bootstrap_add(&p->missing, &c, name, obj, err);
    if (is_kept(&there.obj) || !lacks(p->arena, &there.obj, obj))
        return 0;
    struct renewal n = { .arena = p->arena, .wanted = obj };
    n.update = (struct registry_update){ .change = renew, .arg = &n, .tries_again = true };
    struct value result;
    return registry_update(&c, name, &n.update, &result, err);
}

/* ---- All of them ---- */

typedef struct value make_fn(struct policy *p, struct str name, const struct value *given);

static int ensure_all(struct policy *p, make_fn *make, const struct value *given, struct err *err)
{
    value_each_field (f, given) {
        struct value obj = make(p, f->key, &f->val);
        int r = ensure(p, f->key, &obj, err);
        if (r < 0)
            return err_wrap(err, "make " STR_FMT " " STR_FMT, STR_ARG(p->resource),
                            STR_ARG(f->key));
    }
    return 0;
}

static int ensure_placed(struct policy *p, make_fn *make, const struct value *given,
                         struct err *err)
{
    value_each_field (f, given) {
        p->ns = f->key;
        int r = ensure_all(p, make, &f->val, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static const struct {
    struct str field, resource;
    bool is_placed; /* by namespace */
    make_fn *make;
} sections[] = {
    { STR("clusterRoles"), STR("clusterroles"), false, role },
    { STR("clusterRoleBindings"), STR("clusterrolebindings"), false, binding },
    { STR("roles"), STR("roles"), true, role },
    { STR("roleBindings"), STR("rolebindings"), true, binding },
};

static int ensure_policy(struct policy *p, struct err *err)
{
    struct str text = { bootstrap_policy_yaml, bootstrap_policy_yaml_bytes };
    struct value all;
    int r = yaml_read(p->arena, text, NULL, &all, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        const struct value *given = value_get(&all, sections[i].field);
        p->resource = sections[i].resource;
        r = sections[i].is_placed ? ensure_placed(p, sections[i].make, given, err)
                                  : ensure_all(p, sections[i].make, given, err);
        if (r < 0)
            return r;
    }
    return bootstrap_write(&p->missing, p->api, err);
}

/* Once, when all parts are there. */
static void aggregate(struct policy *p)
{
    struct call c = bootstrap_call(p->api, p->arena, STR(GROUP), STR("clusterroles"), STR(""));
    aggregation_follow(&c);
}

int bootstrap_policy(struct api *api, bool aggregates, struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct policy *p = arena_new(&a, struct policy);
    p->api = api;
    p->arena = &a;
    int r = ensure_policy(p, err);
    api->aggregates_roles = aggregates;
    if (r == 0)
        aggregate(p);
    arena_done(&a);
    return r;
}
