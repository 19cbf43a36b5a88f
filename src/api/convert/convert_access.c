/* Who may do what: subjects of rbac.authorization.k8s.io/v1alpha1, and reviews of authorization. */
#include "api/convert/convert_internal.h"
#include "base/banned.h"

#define RBAC STR("rbac.authorization.k8s.io")

static void set_text(struct arena *a, struct value *obj, struct str key, struct str text)
{
    value_put(a, obj, key, value_string(text));
}

static bool is_account(const struct value *subject)
{
    return str_eq(value_text(subject, "kind"), STR("ServiceAccount"));
}

static bool is_person(const struct value *subject)
{
    struct str kind = value_text(subject, "kind");
    return str_eq(kind, STR("User")) || str_eq(kind, STR("Group"));
}

/* The group of "group/version"; a version alone has none, and neither has what is neither. */
static struct str group_of(struct str api_version)
{
    struct str rest = api_version, group = str_cut(&rest, '/');
    return rest.p && str_find(rest, '/') < 0 ? group : STR("");
}

/* ---- Subjects: apiVersion once, apiGroup now ---- */

static void subject_in(struct arena *a, struct value *subject)
{
    struct str group = group_of(value_text(subject, "apiVersion"));
    if (is_account(subject))
        group = STR("");
    else if (is_person(subject))
        group = RBAC;
    set_text(a, subject, STR("apiGroup"), group);
    if (str_eq(value_text(subject, "kind"), STR("User")) &&
        str_eq(value_text(subject, "name"), STR("*"))) {
        set_text(a, subject, STR("kind"), STR("Group"));
        set_text(a, subject, STR("name"), STR("system:authenticated"));
    }
}

static void subject_out(struct arena *a, struct value *subject)
{
    struct str group = value_text(subject, "apiGroup"), version = STR("");
    if (is_account(subject) && !group.n)
        version = STR("v1");
    else if (is_person(subject) && str_eq(group, RBAC))
        version = STR("rbac.authorization.k8s.io/v1alpha1");
    else if (group.n)
        version = arena_printf(a, STR_FMT "/", STR_ARG(group));
    set_text(a, subject, STR("apiVersion"), version);
}

int convert__role_binding_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    convert__each(a, obj, STR("subjects"), subject_in);
    return 0;
}

int convert__role_binding_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    convert__each(a, obj, STR("subjects"), subject_out);
    return 0;
}

/* ---- Reviews: spec.group once, spec.groups now ---- */

int convert__access_review_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *spec = convert__edit(a, obj, STR("spec"));
    if (spec)
        convert__rename(a, spec, STR("group"), STR("groups"));
    return 0;
}

int convert__access_review_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *spec = convert__edit(a, obj, STR("spec"));
    if (spec)
        convert__rename(a, spec, STR("groups"), STR("group"));
    return 0;
}
