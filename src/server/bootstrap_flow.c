#include "server/bootstrap_flow.h"

#include "api/defaults/defaults.h"
#include "api/keys.h"
#include "base/idiom.h"
#include "base/yaml.h"
#include "server/bootstrap_object.h"
#include "server/flow_dangling.h"
#include "server/registry/managers.h"
#include "base/banned.h"

extern const char bootstrap_flow_yaml[];
extern const size_t bootstrap_flow_yaml_bytes;

#define GROUP "flowcontrol.apiserver.k8s.io"

struct maker {
    struct api *api;
    struct arena *arena;
    bool is_mandatory;
    struct bootstrap_batch missing;
};

/* ---- Making the objects ---- */

static struct value object_of(struct maker *m, struct str name, struct value spec)
{
    struct value obj = value_object(), meta = value_object(), annotations = value_object();
    value_put(m->arena, &annotations, STR(KEY_FLOW_AUTOUPDATE), value_string(STR("true")));
    value_put(m->arena, &meta, STR("name"), value_string(name));
    value_put(m->arena, &meta, STR("generation"), value_int(1));
    value_put(m->arena, &meta, STR("annotations"), annotations);
    value_put(m->arena, &obj, STR("metadata"), meta);
    value_put(m->arena, &obj, STR("spec"), spec);
    return obj;
}

static void copy(struct maker *m, struct value *to, const char *key, const struct value *from,
                 const char *given)
{
    const struct value *v = value_get(from, str_of(given));
    if (v)
        value_put(m->arena, to, str_of(key), value_borrow(v));
}

/* Without queues nobody waits. */
static struct value limit_response(struct maker *m, const struct value *given)
{
    struct value response = value_object(), queuing = value_object();
    bool waits = value_get(given, STR("queues"));
    value_put(m->arena, &response, STR("type"), value_string(waits ? STR("Queue") : STR("Reject")));
    copy(m, &queuing, "queues", given, "queues");
    copy(m, &queuing, "handSize", given, "hand");
    copy(m, &queuing, "queueLengthLimit", given, "length");
    if (waits)
        value_put(m->arena, &response, STR("queuing"), queuing);
    return response;
}

static struct value level(struct maker *m, struct str name, const struct value *given)
{
    struct value spec = value_object(), part = value_object();
    bool is_exempt = value_is_true(value_get(given, STR("exempt")));
    copy(m, &part, "nominalConcurrencyShares", given, "shares");
    copy(m, &part, "lendablePercent", given, "lends");
    if (!is_exempt)
        value_put(m->arena, &part, STR("limitResponse"), limit_response(m, given));
    value_put(m->arena, &spec, STR("type"),
              value_string(is_exempt ? STR("Exempt") : STR("Limited")));
    value_put(m->arena, &spec, is_exempt ? STR("exempt") : STR("limited"), part);
    return object_of(m, name, spec);
}

/* KIND/NAME or KIND/NAMESPACE/NAME. */
static struct value subject(struct maker *m, struct str text)
{
    struct value s = value_object(), part = value_object();
    struct str kind = str_cut(&text, '/');
    bool is_account = str_eq(kind, STR("ServiceAccount"));
    if (is_account)
        value_put(m->arena, &part, STR("namespace"), value_string(str_cut(&text, '/')));
    value_put(m->arena, &part, STR("name"), value_string(text));
    value_put(m->arena, &s, STR("kind"), value_string(kind));
    value_put(m->arena, &s,
              is_account                   ? STR("serviceAccount")
              : str_eq(kind, STR("Group")) ? STR("group")
                                           : STR("user"),
              part);
    return s;
}

static struct value all(struct maker *m)
{
    struct value list = value_array();
    value_put_item(m->arena, &list, value_string(STR("*")));
    return list;
}

static void put_everything(struct maker *m, struct value *rule)
{
    struct value resource = value_object(), path = value_object(), resources = value_array(),
                 paths = value_array();
    value_put(m->arena, &resource, STR("verbs"), all(m));
    value_put(m->arena, &resource, STR("apiGroups"), all(m));
    value_put(m->arena, &resource, STR("resources"), all(m));
    value_put(m->arena, &resource, STR("clusterScope"), value_bool(true));
    value_put(m->arena, &resource, STR("namespaces"), all(m));
    value_put(m->arena, &path, STR("verbs"), all(m));
    value_put(m->arena, &path, STR("nonResourceURLs"), all(m));
    value_put_item(m->arena, &resources, resource);
    value_put_item(m->arena, &paths, path);
    value_put(m->arena, rule, STR("resourceRules"), resources);
    value_put(m->arena, rule, STR("nonResourceRules"), paths);
}

static struct value rule_of(struct maker *m, const struct value *given)
{
    struct value rule = value_object(), subjects = value_array();
    value_each_item (s, value_get(given, STR("subjects")))
        value_put_item(m->arena, &subjects, subject(m, value_str(s)));
    value_put(m->arena, &rule, STR("subjects"), subjects);
    copy(m, &rule, "resourceRules", given, "resourceRules");
    copy(m, &rule, "nonResourceRules", given, "nonResourceRules");
    if (rule.n == 1)
        put_everything(m, &rule);
    return rule;
}

static struct value schema(struct maker *m, struct str name, const struct value *given)
{
    struct value spec = value_object(), ref = value_object(), method = value_object(),
                 rules = value_array();
    copy(m, &ref, "name", given, "level");
    value_put(m->arena, &spec, STR("priorityLevelConfiguration"), ref);
    copy(m, &spec, "matchingPrecedence", given, "precedence");
    copy(m, &method, "type", given, "by");
    if (method.n)
        value_put(m->arena, &spec, STR("distinguisherMethod"), method);
    value_put_item(m->arena, &rules, rule_of(m, given));
    value_put(m->arena, &spec, STR("rules"), rules);
    return object_of(m, name, spec);
}

/* ---- Bringing what is there up to date ---- */

struct renewal {
    struct call *call;
    struct str field; /* that is set */
    struct value value;
};

static int renew(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                 struct err *err)
{
    const struct renewal *n = u->arg;
    (void)err;
    *ret = value_borrow(&now->obj);
    value_put(n->call->arena, ret, n->field, value_borrow(&n->value));
    managers_update(n->call, managers_own_request(n->call, u->sub), &now->obj, ret);
    return 0;
}

static int set_field(struct call *c, struct str name, struct str field, struct value v,
                     struct str sub, struct err *err)
{
    struct renewal n = { .call = c, .field = field, .value = v };
    struct registry_update u = { .change = renew, .arg = &n, .sub = sub, .tries_again = true };
    struct value result;
    return registry_update(c, name, &u, &result, err);
}

/* As upstream: what nobody has said about is his who changed it. */
static bool is_ours(const struct maker *m, const struct value *obj)
{
    const struct value *said = value_dig(obj, "metadata", "annotations", KEY_FLOW_AUTOUPDATE);
    int64_t generation = 0;
    if (m->is_mandatory)
        return true;
    if (said)
        return str_eq(value_str(said), STR("true"));
    return value_to_int(value_dig(obj, "metadata", "generation"), &generation) && generation == 1;
}

static int add(struct maker *m, struct call *c, struct str name, struct value *obj,
               struct str level_name, struct err *err)
{
    struct value status;
    defaults_apply(m->arena, c->stored->type, obj);
    if (level_name.n && flow_dangling_status(c, obj, true, &status))
        value_put(m->arena, obj, STR("status"), status);
    return bootstrap_add(&m->missing, c, name, obj, err);
}

static int ensure(struct maker *m, struct str resource, struct str name, struct value *obj,
                  struct err *err)
{
    struct call c = bootstrap_call(m->api, m->arena, STR(GROUP), resource, STR(""));
    struct registry_entry there;
    int r = bootstrap_find(&c, name, obj, &there, err);
    if (r < 0)
        return r;
    const struct value *spec = value_get(obj, STR("spec"));
    struct str level_name = value_str(value_dig(spec, "priorityLevelConfiguration", "name"));
    if (r == 0)
        return add(m, &c, name, obj, level_name, err);
    if (is_ours(m, &there.obj) && !value_eq(spec, value_get(&there.obj, STR("spec")))) {
        r = set_field(&c, name, STR("spec"), value_borrow(spec), STR(""), err);
        if (r < 0)
            return r;
    }
    struct value status;
    if (!level_name.n || value_at(value_dig(&there.obj, "status", "conditions"), 0) ||
        !flow_dangling_status(&c, obj, true, &status))
        return 0;
    return set_field(&c, name, STR("status"), status, STR("status"), err);
}

/* ---- All of them ---- */

typedef struct value make_fn(struct maker *m, struct str name, const struct value *given);

static int ensure_all(struct maker *m, const struct value *given, struct str resource,
                      make_fn *make, struct err *err)
{
    value_each_field (f, given) {
        struct value obj = make(m, f->key, &f->val);
        int r = ensure(m, resource, f->key, &obj, err);
        if (r < 0)
            return err_wrap(err, "make " STR_FMT " " STR_FMT, STR_ARG(resource), STR_ARG(f->key));
    }
    return 0;
}

static const struct {
    const char *part, *section;
    struct str resource;
    make_fn *make;
} sections[] = {
    { "mandatory", "levels", STR("prioritylevelconfigurations"), level },
    { "suggested", "levels", STR("prioritylevelconfigurations"), level },
    { "mandatory", "schemas", STR("flowschemas"), schema },
    { "suggested", "schemas", STR("flowschemas"), schema },
};

/* 1 if some were missing. */
static int ensure_sections(struct maker *m, bool only_mandatory, struct err *err)
{
    struct str text = { bootstrap_flow_yaml, bootstrap_flow_yaml_bytes };
    struct value given;
    int r = yaml_read(m->arena, text, NULL, &given, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        m->is_mandatory = i % 2 == 0;
        if (only_mandatory && !m->is_mandatory)
            continue;
        r = ensure_all(m, value_dig(&given, sections[i].part, sections[i].section),
                       sections[i].resource, sections[i].make, err);
        if (r < 0)
            return r;
    }
    bool is_missing = m->missing.n > 0;
    r = bootstrap_write(&m->missing, m->api, err);
    return r < 0 ? r : is_missing;
}

static int ensure_them(struct api *api, bool only_mandatory, struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct maker *m = arena_new(&a, struct maker);
    m->api = api;
    m->arena = &a;
    int r = ensure_sections(m, only_mandatory, err);
    arena_done(&a);
    return r;
}

int bootstrap_flow(struct api *api, struct err *err)
{
    int r = ensure_them(api, false, err);
    return r < 0 ? r : 0;
}

int bootstrap_flow_mandatory(struct api *api, struct err *err)
{
    return ensure_them(api, true, err);
}
