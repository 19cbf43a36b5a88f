#include "expression/expression_env.h"

#include <assert.h>

#include "base/map.h"
#include "base/banned.h"

static const struct cel_type *request_type(struct arena *a)
{
    const struct cel_type *texts = cel_type_list(a, &cel_string);
    const struct cel_type *kind =
        CEL_OBJECT(a, "kubernetes.GroupVersionKind", { "group", &cel_string },
                   { "version", &cel_string }, { "kind", &cel_string });
    const struct cel_type *resource =
        CEL_OBJECT(a, "kubernetes.GroupVersionResource", { "group", &cel_string },
                   { "version", &cel_string }, { "resource", &cel_string });
    const struct cel_type *user =
        CEL_OBJECT(a, "kubernetes.UserInfo", { "username", &cel_string }, { "uid", &cel_string },
                   { "groups", texts }, { "extra", cel_type_map(a, &cel_string, texts) });
    return CEL_OBJECT(a, "kubernetes.AdmissionRequest", { "kind", kind }, { "resource", resource },
                      { "subResource", &cel_string }, { "requestKind", kind },
                      { "requestResource", resource }, { "requestSubResource", &cel_string },
                      { "name", &cel_string }, { "namespace", &cel_string },
                      { "operation", &cel_string }, { "userInfo", user }, { "dryRun", &cel_bool },
                      { "options", &cel_dyn });
}

static const struct cel_type *namespace_type(struct arena *a)
{
    const struct cel_type *texts = cel_type_list(a, &cel_string),
                          *labels = cel_type_map(a, &cel_string, &cel_string);
    const struct cel_type *meta = CEL_OBJECT(
        a, "kubernetes.NamespaceMetadata", { "name", &cel_string }, { "generateName", &cel_string },
        { "namespace", &cel_string }, { "labels", labels }, { "annotations", labels },
        { "UID", &cel_string }, { "creationTimestamp", &cel_timestamp },
        { "deletionGracePeriodSeconds", &cel_int }, { "deletionTimestamp", &cel_timestamp },
        { "generation", &cel_int }, { "resourceVersion", &cel_string }, { "finalizers", texts });
    const struct cel_type *condition =
        CEL_OBJECT(a, "kubernetes.NamespaceCondition", { "status", &cel_string },
                   { "type", &cel_string }, { "lastTransitionTime", &cel_timestamp },
                   { "message", &cel_string }, { "reason", &cel_string });
    const struct cel_type *spec =
        CEL_OBJECT(a, "kubernetes.NamespaceSpec", { "finalizers", texts });
    const struct cel_type *status =
        CEL_OBJECT(a, "kubernetes.NamespaceStatus", { "conditions", cel_type_list(a, condition) },
                   { "phase", &cel_string });
    return CEL_OBJECT(a, "kubernetes.Namespace", { "metadata", meta }, { "spec", spec },
                      { "status", status });
}

/* ---- Variables ---- */

/* A policy may have tens of thousands, so they are found by a hash. */
struct expression_variables {
    struct arena *arena;
    struct cel_type type;
    struct cel_field *fields;
    size_t *numbers; /* in the order of the hash; 0: free, else one more than the number */
    size_t n, max, n_slots;
};

/* Where it is, or would be. */
static size_t *slot_of(const struct expression_variables *v, struct str name)
{
    size_t i = (size_t)map_hash(name) & (v->n_slots - 1);
    while (v->numbers[i] && !str_eq(v->fields[v->numbers[i] - 1].name, name))
        i = (i + 1) & (v->n_slots - 1);
    return &v->numbers[i];
}

size_t expression_variables_find(const struct expression_variables *v, struct str name)
{
    size_t number = *slot_of(v, name);
    return number ? number - 1 : SIZE_MAX;
}

static bool variable_field(const struct cel_type *object, struct str name, struct cel_field *ret)
{
    const struct expression_variables *v = object->handle;
    size_t i = expression_variables_find(v, name);
    if (i == SIZE_MAX)
        return false;
    *ret = v->fields[i];
    return true;
}

struct expression_variables *expression_variables(struct arena *a, size_t max)
{
    static const struct cel_fields fields = { variable_field, variable_field };
    struct expression_variables *v = arena_new(a, struct expression_variables);
    v->arena = a;
    v->max = max;
    v->n_slots = 4;
    while (v->n_slots < 2 * max)
        v->n_slots *= 2;
    v->fields = arena_array(a, struct cel_field, max);
    v->numbers = arena_array(a, size_t, v->n_slots);
    v->type = (struct cel_type){
        .kind = CEL_OBJECT, .name = STR("kubernetes.variables"), .fields = &fields, .handle = v
    };
    return v;
}

enum { DEPTH_MAX = 32 }; /* of lists in lists: each variable may be a list of the one before it */

/* What upstream declares a variable as: plain types, and lists and maps of those. All else is dyn.
 */
static const struct cel_type *declared(struct arena *a, const struct cel_type *t, unsigned depth)
{
    if (depth == DEPTH_MAX)
        return &cel_dyn;
    switch (t->kind) {
    case CEL_ANY:
    case CEL_NULL:
    case CEL_BOOL:
    case CEL_INT:
    case CEL_UINT:
    case CEL_DOUBLE:
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_TIMESTAMP:
    case CEL_DURATION:
        return t->wrapper ? &cel_dyn : t;
    case CEL_LIST: {
        const struct cel_type *item = declared(a, t->params[0], depth + 1);
        bool is_plain = item == t->params[0] && !t->nullable && t->list_type == CEL_LIST_ATOMIC;
        return is_plain ? t : cel_type_list(a, item);
    }
    case CEL_MAP:
        return cel_type_map(a, declared(a, t->params[0], depth + 1),
                            declared(a, t->params[1], depth + 1));
    default:
        return &cel_dyn;
    }
}

void expression_variables_add(struct expression_variables *v, struct str name,
                              const struct cel_type *type)
{
    size_t *slot = slot_of(v, name);
    assert(v->n < v->max);
    v->fields[v->n++] =
        (struct cel_field){ .type = declared(v->arena, type, 0), .name = name, .key = name };
    if (!*slot)
        *slot = v->n;
}

const struct cel_type *expression_variables_type(const struct expression_variables *v)
{
    return &v->type;
}

/* ---- What makes patches ---- */

/* One that is not there is known, but nothing can be set to it. */
static bool patch_field(const struct cel_type *object, struct str name, struct cel_field *ret)
{
    (void)object;
    bool is_text =
        str_eq(name, STR("op")) || str_eq(name, STR("path")) || str_eq(name, STR("from"));
    bool is_value = str_eq(name, STR("value"));
    *ret = (struct cel_field){ .type = is_text    ? &cel_string
                                       : is_value ? &cel_dyn
                                                  : NULL,
                               .name = name,
                               .key = name };
    return true;
}

static bool any_field(const struct cel_type *object, struct str name, struct cel_field *ret)
{
    (void)object;
    *ret = (struct cel_field){ .type = &cel_dyn, .name = name, .key = name };
    return true;
}

static const struct cel_type *open_object(struct arena *a, struct str name,
                                          const struct cel_fields *fields)
{
    struct cel_type *t = arena_new(a, struct cel_type);
    *t = (struct cel_type){ .kind = CEL_OBJECT, .name = arena_str(a, name), .fields = fields };
    return t;
}

const struct cel_type *expression_json_patch(struct arena *a)
{
    static const struct cel_fields fields = { patch_field, patch_field };
    return open_object(a, STR("JSONPatch"), &fields);
}

const struct cel_type *expression_object(struct arena *a, struct str name)
{
    static const struct cel_fields fields = { any_field, any_field };
    return open_object(a, name, &fields);
}

static const struct cel_type *find_patch_type(const struct cel_env *env, struct str name)
{
    struct arena *a = (struct arena *)env->handle; /* which the environment lies in */
    if (str_eq(name, STR("JSONPatch")))
        return expression_json_patch(a);
    if (str_eq(name, STR("Object")) || str_starts(name, STR("Object.")))
        return expression_object(a, name);
    return NULL;
}

const struct cel_env *expression_env(struct arena *a, unsigned flags,
                                     const struct cel_type *variables)
{
    return expression_env_of(a, flags, variables, NULL);
}

const struct cel_env *expression_env_of(struct arena *a, unsigned flags,
                                        const struct cel_type *variables,
                                        const struct expression_types *types)
{
    const struct cel_type *object = types && types->object ? types->object : &cel_dyn,
                          *params = types && types->params ? types->params : &cel_dyn;
    enum { MAX = EXPRESSION_OPTIONAL + 4 };
    struct cel_env *env = arena_new(a, struct cel_env);
    struct cel_variable *v = arena_array(a, struct cel_variable, MAX);
    size_t n = 0;
    v[n++] = (struct cel_variable){ STR("object"), object };
    v[n++] = (struct cel_variable){ STR("oldObject"), object };
    v[n++] = (struct cel_variable){ STR("request"), request_type(a) };
    v[n++] = (struct cel_variable){ STR("namespaceObject"), namespace_type(a) };
    if (flags & EXPRESSION_PARAMS)
        v[n++] = (struct cel_variable){ STR("params"), params };
    if (flags & EXPRESSION_AUTHORIZER) {
        v[n++] = (struct cel_variable){ STR("authorizer"), &cel_authorizer };
        v[n++] = (struct cel_variable){ STR("authorizer.requestResource"),
                                        &cel_request_resource_authorizer };
    }
    if (variables)
        v[n++] = (struct cel_variable){ STR("variables"), variables };
    env->variables = v;
    env->n_variables = n;
    if (flags & EXPRESSION_PATCHES) {
        env->object_type = find_patch_type;
        env->handle = a;
        env->flags = CEL_ENV_JSON_PATCH;
    }
    return env;
}

const struct cel_env *expression_device_env(struct arena *a)
{
    const struct cel_type *attributes = cel_type_map(a, &cel_string, &cel_dyn),
                          *capacity = cel_type_map(a, &cel_string, &cel_quantity);
    const struct cel_type *device =
        CEL_OBJECT(a, "kubernetes.DRADevice", { "driver", &cel_string },
                   { "attributes", cel_type_map(a, &cel_string, attributes) },
                   { "capacity", cel_type_map(a, &cel_string, capacity) },
                   { "allowMultipleAllocations", &cel_bool });
    struct cel_env *env = arena_new(a, struct cel_env);
    struct cel_variable *v = arena_new(a, struct cel_variable);
    *v = (struct cel_variable){ STR("device"), device };
    env->variables = v;
    env->n_variables = 1;
    return env;
}
