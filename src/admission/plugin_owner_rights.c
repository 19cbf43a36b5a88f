/* OwnerReferencesPermissionEnforcement: an owner decides when an object goes, so only who may
 * delete the object gives it other owners; and whoever keeps an owner from going must be allowed to
 * set the owner's finalizers. */
#include "admission/plugins.h"
#include "base/banned.h"

static const struct value *owners_of(const struct value *obj)
{
    return value_dig(obj, "metadata", "ownerReferences");
}

static bool changes_owners(const struct value *obj, const struct value *old_obj)
{
    const struct value *now = owners_of(obj), *before = owners_of(old_obj);
    size_t n = value_is(now, VALUE_ARRAY) ? now->n : 0;
    size_t n_before = value_is(before, VALUE_ARRAY) ? before->n : 0;
    return n != n_before || (n > 0 && !value_eq(now, before));
}

static bool blocks(const struct value *owner)
{
    return value_is_true(value_get(owner, STR("blockOwnerDeletion")));
}

/* Of several owners with one uid the last one counts. */
static bool blocked_before(const struct value *old_obj, struct str uid)
{
    bool ret = false;
    value_each_item (it, owners_of(old_obj))
        if (str_eq(value_text(it, "uid"), uid))
            ret = blocks(it);
    return ret;
}

/* ---- The resource of an owner ---- */

struct found {
    struct str group, version, kind, plural;
    bool is_namespaced, is_found;
};

static void find_built_in(struct found *f)
{
    const struct kind_version *v = kind_version_find(f->group, f->version);
    for (size_t i = 0; v && i < v->n_resources; i++) {
        if (!str_eq(v->resources[i].type->name, f->kind))
            continue;
        f->plural = v->resources[i].plural;
        f->is_namespaced = v->resources[i].namespaced;
        f->is_found = true;
        return;
    }
}

static bool is_served(const struct value *definition, struct str version)
{
    value_each_item (it, value_dig(definition, "spec", "versions"))
        if (str_eq(value_text(it, "name"), version))
            return value_is_true(value_get(it, STR("served")));
    return false;
}

static int take_definition(void *to, const struct value *definition)
{
    struct found *f = to;
    const struct value *spec = value_get(definition, STR("spec"));
    const struct value *names = value_get(spec, STR("names"));
    if (!str_eq(value_text(spec, "group"), f->group) ||
        !str_eq(value_text(names, "kind"), f->kind) || !is_served(definition, f->version))
        return 0;
    f->plural = value_text(names, "plural");
    f->is_namespaced = str_eq(value_text(spec, "scope"), STR("Namespaced"));
    f->is_found = true;
    return 0;
}

static int find_resource(struct admission_request *req, const struct value *owner,
                         struct found *ret, struct err *err)
{
    struct str rest = value_text(owner, "apiVersion"), first = str_cut(&rest, '/');
    bool has_group = rest.p != NULL;
    *ret = (struct found){ .group = has_group ? first : STR(""),
                           .version = has_group ? rest : first,
                           .kind = value_text(owner, "kind") };
    find_built_in(ret);
    if (ret->is_found)
        return 0;
    return admission_each(req, STR("apiextensions.k8s.io"), STR("customresourcedefinitions"),
                          ret->kind, take_definition, ret, err);
}

/* ---- Rights ---- */

static int require_delete(struct admission_request *req, const struct value *obj, struct err *err)
{
    const struct access q = { .user = req->user,
                              .is_resource = true,
                              .verb = STR("delete"),
                              .group = req->resource->group,
                              .version = req->resource->version,
                              .resource = req->resource->plural,
                              .sub = req->sub,
                              .ns = req->ns,
                              .name = req->name };
    if (admission_allows(req, &q))
        return 0;
    return admission_forbid(
        req, obj, STR("cannot set an ownerRef on a resource you can't delete: , <nil>"), err);
}

static bool may_finalize(struct admission_request *req, struct access q)
{
    q.user = req->user;
    q.is_resource = true;
    q.verb = STR("update");
    q.sub = STR("finalizers");
    return admission_allows(req, &q);
}

static int require_finalizers(struct admission_request *req, const struct value *obj,
                              const struct value *owner, struct err *err)
{
    struct str version = value_text(owner, "apiVersion"), kind = value_text(owner, "kind");
    struct found of;
    int r = find_resource(req, owner, &of, err);
    if (r < 0)
        return r;
    if (!of.is_found)
        return admission_forbid_as(req, obj, err,
                                   "cannot set blockOwnerDeletion in this case because cannot find "
                                   "RESTMapping for APIVersion " STR_FMT " Kind " STR_FMT
                                   ": no matches for kind %s in version %s",
                                   STR_ARG(version), STR_ARG(kind), admission_quoted(req, kind),
                                   admission_quoted(req, version));
    const struct access q = { .group = of.group,
                              .version = of.version,
                              .resource = of.plural,
                              .ns = of.is_namespaced ? req->ns : STR(""),
                              .name = value_text(owner, "name") };
    if (may_finalize(req, q))
        return 0;
    return admission_forbid(req, obj,
                            STR("cannot set blockOwnerDeletion if an ownerReference refers to a "
                                "resource you can't set finalizers on: , <nil>"),
                            err);
}

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    static const struct access anything = {
        .group = STR("*"), .version = STR("*"), .resource = STR("*"), .name = STR("*")
    };
    bool may_do_all = false;
    bool is_status = str_eq(req->stored->plural, STR("pods")) && !req->stored->group.n &&
                     str_eq(req->sub, STR("status"));
    bool is_write = req->operation & (ADMISSION_CREATE | ADMISSION_UPDATE);
    if (!is_write || is_status || !changes_owners(obj, req->old_obj))
        return 0;
    int r = req->operation == ADMISSION_CREATE ? 0 : require_delete(req, obj, err);
    value_each_item (owner, owners_of(obj)) {
        bool is_new = blocks(owner) && !blocked_before(req->old_obj, value_text(owner, "uid"));
        if (r < 0 || !is_new || may_do_all)
            continue;
        may_do_all = may_finalize(req, anything);
        r = may_do_all ? 0 : require_finalizers(req, obj, owner, err);
    }
    return r;
}

const struct admission_plugin plugin_owner_rights = {
    .name = "OwnerReferencesPermissionEnforcement",
    .is_off = true,
    .validate = validate,
};
