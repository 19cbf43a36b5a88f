/* DefaultStorageClass and DefaultIngressClass: the class of a claim or an Ingress that names none.
 * Of several defaults the newest counts. */
#include "admission/plugins.h"
#include "api/keys.h"
#include "base/banned.h"

struct newest {
    const char *const *keys; /* of the annotations that say so; NULL ends them */
    struct str name, created;
};

static bool is_default(const struct value *class, const char *const *keys)
{
    const struct value *annotations = value_dig(class, "metadata", "annotations");
    for (; *keys; keys++)
        if (str_eq(value_str(value_get(annotations, str_of(*keys))), STR("true")))
            return true;
    return false;
}

static int take_newest(void *arg, const struct value *class)
{
    struct newest *newest = arg;
    struct str name = value_str(value_dig(class, "metadata", "name")),
               created = value_str(value_dig(class, "metadata", "creationTimestamp"));
    if (!is_default(class, newest->keys))
        return 0;
    int order = newest->name.n ? str_cmp(created, newest->created) : 1;
    if (order > 0 || (order == 0 && str_cmp(name, newest->name) < 0)) {
        newest->name = name;
        newest->created = created;
    }
    return 0;
}

static int set_class(struct admission_request *req, struct value *obj, struct str group,
                     struct str classes, const char *const *keys, struct str field, struct err *err)
{
    struct newest newest = { .keys = keys };
    /* Most classes are no default, so most are not read. */
    int r = admission_each(req, group, classes, STR("is-default-class\":\"true\""), take_newest,
                           &newest, err);
    if (r < 0)
        return r;
    if (newest.name.n)
        value_put(req->arena, value_ensure(req->arena, obj, STR("spec")), field,
                  value_string(newest.name));
    return 0;
}

static bool has_class(const struct value *obj, struct str field, struct str annotation)
{
    const struct value *given = value_get(value_get(obj, STR("spec")), field);
    return (given && !value_is(given, VALUE_NULL)) ||
           value_get(value_dig(obj, "metadata", "annotations"), annotation);
}

static int set_storage_class(struct admission_request *req, struct value *claim, struct err *err)
{
    static const char *const keys[] = { KEY_DEFAULT_CLASS, KEY_BETA_DEFAULT_CLASS, NULL };
    static const struct str field = STR("storageClassName");
    if (has_class(claim, field, STR(KEY_BETA_STORAGE_CLASS)))
        return 0;
    return set_class(req, claim, STR("storage.k8s.io"), STR("storageclasses"), keys, field, err);
}

static int set_ingress_class(struct admission_request *req, struct value *ingress, struct err *err)
{
    static const char *const keys[] = { "ingressclass.kubernetes.io/is-default-class", NULL };
    static const struct str field = STR("ingressClassName");
    bool is_old = !str_eq(req->resource->group, req->stored->group); /* upstream passes it by */
    if (is_old || has_class(ingress, field, STR("kubernetes.io/ingress.class")))
        return 0;
    return set_class(req, ingress, STR("networking.k8s.io"), STR("ingressclasses"), keys, field,
                     err);
}

static const struct admission_target claims[] = {
    { STR(""), STR("persistentvolumeclaims"), ADMISSION_CREATE },
    { .operations = 0 },
};
static const struct admission_target ingresses[] = {
    { STR("networking.k8s.io"), STR("ingresses"), ADMISSION_CREATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_storage_class = {
    .name = "DefaultStorageClass",
    .targets = claims,
    .mutate = set_storage_class,
};
const struct admission_plugin plugin_ingress_class = {
    .name = "DefaultIngressClass",
    .targets = ingresses,
    .mutate = set_ingress_class,
};
