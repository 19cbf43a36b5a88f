#include "expression/expression_env.h"

#include "base/banned.h"

/* An object type from a list of its fields. */
struct field_row {
    const char *name;
    const struct cel_type *type;
};

static const struct cel_type *object(struct arena *a, const char *name,
                                     const struct field_row *rows, size_t n)
{
    struct cel_field *fields = arena_array(a, struct cel_field, n);
    for (size_t i = 0; i < n; i++)
        fields[i] = (struct cel_field){ .type = rows[i].type, .name = str_of(rows[i].name) };
    return cel_type_object(a, str_of(name), fields, n);
}

#define OBJECT(a, name, ...)                                       \
    object((a), (name), (const struct field_row[]){ __VA_ARGS__ }, \
           sizeof((const struct field_row[]){ __VA_ARGS__ }) / sizeof(struct field_row))

static const struct cel_type *request_type(struct arena *a)
{
    const struct cel_type *texts = cel_type_list(a, &cel_string);
    const struct cel_type *kind = OBJECT(a, "kubernetes.GroupVersionKind", { "group", &cel_string },
                                         { "version", &cel_string }, { "kind", &cel_string });
    const struct cel_type *resource =
        OBJECT(a, "kubernetes.GroupVersionResource", { "group", &cel_string },
               { "version", &cel_string }, { "resource", &cel_string });
    const struct cel_type *user =
        OBJECT(a, "kubernetes.UserInfo", { "username", &cel_string }, { "uid", &cel_string },
               { "groups", texts }, { "extra", cel_type_map(a, &cel_string, texts) });
    return OBJECT(a, "kubernetes.AdmissionRequest", { "kind", kind }, { "resource", resource },
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
    const struct cel_type *meta = OBJECT(
        a, "kubernetes.NamespaceMetadata", { "name", &cel_string }, { "generateName", &cel_string },
        { "namespace", &cel_string }, { "labels", labels }, { "annotations", labels },
        { "UID", &cel_string }, { "creationTimestamp", &cel_timestamp },
        { "deletionGracePeriodSeconds", &cel_int }, { "deletionTimestamp", &cel_timestamp },
        { "generation", &cel_int }, { "resourceVersion", &cel_string }, { "finalizers", texts });
    const struct cel_type *condition =
        OBJECT(a, "kubernetes.NamespaceCondition", { "status", &cel_string },
               { "type", &cel_string }, { "lastTransitionTime", &cel_timestamp },
               { "message", &cel_string }, { "reason", &cel_string });
    const struct cel_type *spec = OBJECT(a, "kubernetes.NamespaceSpec", { "finalizers", texts });
    const struct cel_type *status =
        OBJECT(a, "kubernetes.NamespaceStatus", { "conditions", cel_type_list(a, condition) },
               { "phase", &cel_string });
    return OBJECT(a, "kubernetes.Namespace", { "metadata", meta }, { "spec", spec },
                  { "status", status });
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
    enum { MAX = EXPRESSION_OPTIONAL + 4 };
    struct cel_env *env = arena_new(a, struct cel_env);
    struct cel_variable *v = arena_array(a, struct cel_variable, MAX);
    size_t n = 0;
    v[n++] = (struct cel_variable){ STR("object"), &cel_dyn };
    v[n++] = (struct cel_variable){ STR("oldObject"), &cel_dyn };
    v[n++] = (struct cel_variable){ STR("request"), request_type(a) };
    v[n++] = (struct cel_variable){ STR("namespaceObject"), namespace_type(a) };
    if (flags & EXPRESSION_PARAMS)
        v[n++] = (struct cel_variable){ STR("params"), &cel_dyn };
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
        OBJECT(a, "kubernetes.DRADevice", { "driver", &cel_string },
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
