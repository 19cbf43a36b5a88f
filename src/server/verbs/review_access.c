/* POST of SubjectAccessReview, SelfSubjectAccessReview and LocalSubjectAccessReview: may somebody
 * do something? Nothing is stored; the answer is the question with a status. */
#include "api/defaults/defaults.h"
#include "api/field_errors.h"
#include "api/validate/validate.h"
#include "server/guard/guard.h"
#include "server/registry/managers.h"
#include "server/verbs/review.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

int review_decode(struct call *c, bool has_managers, struct value *ret, struct err *err)
{
    const struct kind_type *type = c->req.resource->type;
    struct write_options options;
    int r = options_read(c, "CreateOptions", &options, err);
    if (r < 0)
        return r;
    r = decode_body(c, type, options.validation, ret, err);
    if (r < 0)
        return r;
    defaults_apply(c->arena, type, ret);
    if (has_managers)
        managers_update(c, managers_request(c, &options, type), NULL, ret);
    return 0;
}

/* Texts of a list, in the arena. */
static size_t texts(struct arena *a, const struct value *list, const struct str **ret)
{
    struct str *all = arena_array(a, struct str, value_is(list, VALUE_ARRAY) ? list->n : 0);
    size_t n = 0;
    value_each_item (it, list)
        all[n++] = value_str(it);
    *ret = all;
    return n;
}

static const struct user *named_user(struct arena *a, const struct value *spec)
{
    struct user *user = arena_new(a, struct user);
    user->name = value_text(spec, "user");
    user->uid = value_text(spec, "uid");
    user->n_groups = texts(a, value_get(spec, STR("groups")), &user->groups);
    const struct value *extra = value_get(spec, STR("extra"));
    struct user_extra *all =
        arena_array(a, struct user_extra, value_is(extra, VALUE_OBJECT) ? extra->n : 0);
    value_each_field (f, extra) {
        struct user_extra *e = &all[user->n_extra++];
        e->key = f->key;
        e->n_values = texts(a, &f->val, &e->values);
    }
    user->extra = all;
    return user;
}

/* Requirements that name one value each; others are passed over, which asks for more. */
static struct fields_selector required_fields(struct arena *a, const struct value *list,
                                              bool *ret_skipped)
{
    struct fields_term *terms = arena_array(a, struct fields_term, list->n);
    size_t n = 0;
    value_each_item (it, list) {
        const struct value *values = value_get(it, STR("values"));
        struct str relation = value_text(it, "operator");
        bool is_negated = str_eq(relation, STR("NotIn"));
        if (!value_is(values, VALUE_ARRAY) || values->n != 1 ||
            !(is_negated || str_eq(relation, STR("In")))) {
            *ret_skipped = true;
            continue;
        }
        terms[n++] = (struct fields_term){ .field = value_text(it, "key"),
                                           .value = value_str(value_at(values, 0)),
                                           .negated = is_negated };
    }
    return (struct fields_selector){ terms, n };
}

static struct fields_selector asked_fields(struct arena *a, const struct value *selector,
                                           bool *ret_skipped)
{
    const struct value *list = value_get(selector, STR("requirements"));
    struct str raw = value_text(selector, "rawSelector");
    struct fields_selector fields = { 0 };
    struct err err = ERR_INIT(a);
    *ret_skipped = false;
    if (value_is(list, VALUE_ARRAY) && list->n)
        return required_fields(a, list, ret_skipped);
    if (!raw.n || fields_parse(a, raw, NULL, &fields, &err) == 0)
        return fields;
    *ret_skipped = true;
    return (struct fields_selector){ 0 };
}

static struct access question(struct arena *a, const struct user *user, const struct value *spec,
                              bool *ret_skipped)
{
    *ret_skipped = false;
    const struct value *resource = value_get(spec, STR("resourceAttributes")),
                       *other = value_get(spec, STR("nonResourceAttributes"));
    if (!value_is(resource, VALUE_OBJECT))
        return (struct access){ .user = user,
                                .verb = value_text(other, "verb"),
                                .path = value_text(other, "path") };
    struct str version = value_text(resource, "version");
    return (struct access){
        .user = user,
        .is_resource = true,
        .verb = value_text(resource, "verb"),
        .group = value_text(resource, "group"),
        .version = version.n ? version : STR("*"),
        .resource = value_text(resource, "resource"),
        .sub = value_text(resource, "subresource"),
        .ns = value_text(resource, "namespace"),
        .name = value_text(resource, "name"),
        .fields = asked_fields(a, value_get(resource, STR("fieldSelector")), ret_skipped),
    };
}

static int check(struct call *c, struct value *obj, struct err *err)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    struct str ns = value_text(meta, "namespace");
    if (c->req.resource->namespaced && ns.n && !str_eq(ns, c->req.ns))
        return err_set(err, ERR_BAD_REQUEST,
                       "the namespace of the provided object does not match the namespace sent on "
                       "the request");
    if (c->req.resource->namespaced)
        value_put(c->arena, meta, STR("namespace"), value_string(c->req.ns));
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    validate_create(&e, c->req.resource, obj);
    return field_errors_report(&e, c->req.resource->group, STR(""), STR(""), err);
}

static void answer(struct call *c, struct value *obj, bool is_self)
{
    const struct value *spec = value_get(obj, STR("spec"));
    bool skipped;
    const struct user *user = is_self ? c->user : named_user(c->arena, spec);
    const struct access q = question(c->arena, user, spec, &skipped);
    struct value status = value_object();
    struct str reason;
    bool yes = guard_decide(c->api->guard, c->arena, &q, &reason);
    value_put(c->arena, &status, STR("allowed"), value_bool(yes));
    if (reason.n)
        value_put(c->arena, &status, STR("reason"), value_string(reason));
    if (skipped)
        value_put(c->arena, &status, STR("evaluationError"),
                  value_string(q.fields.n ? STR("spec.resourceAttributes.fieldSelector partially "
                                                "ignored due to parse error")
                                          : STR("spec.resourceAttributes.fieldSelector ignored "
                                                "due to parse error")));
    value_put(c->arena, obj, STR("status"), status);
    call_object(c, 201, c->req.resource->type, obj);
}

void verb_access_review(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj;
    bool is_self = str_eq(c->req.resource->plural, STR("selfsubjectaccessreviews"));
    if (review_decode(c, true, &obj, &err) < 0 || check(c, &obj, &err) < 0)
        call_fail(c, &err);
    else
        answer(c, &obj, is_self);
}
