/* POST of SubjectAccessReview, SelfSubjectAccessReview and LocalSubjectAccessReview: may somebody
 * do something? Nothing is stored; the answer is the question with a status. */
#include "api/defaults/defaults.h"
#include "api/field_errors.h"
#include "api/names.h"
#include "api/validate/validate.h"
#include "api/words.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "select/fields.h"
#include "select/labels.h"
#include "server/guard/guard.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "server/verbs/review.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

/* Fields are in the order in which a Go server prints them. */
static void put_namespace(struct arena *a, struct value *meta, struct str ns)
{
    static const struct str before[] = { STR("name"), STR("generateName") };
    struct value ordered = value_object();
    value_each_field (f, meta)
        if (words_have(f->key, WORDS(before)))
            value_put(a, &ordered, f->key, f->val);
    value_put(a, &ordered, STR("namespace"), value_string(ns));
    value_each_field (f, meta)
        if (!value_get(&ordered, f->key))
            value_put(a, &ordered, f->key, f->val);
    *meta = ordered;
}

static int settle_namespace(struct call *c, struct value *obj, struct err *err)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    struct str ns = value_text(meta, "namespace");
    if (!c->req.resource->namespaced)
        value_drop(c->arena, meta, STR("namespace"));
    else if (!ns.n)
        put_namespace(c->arena, meta, c->req.ns);
    else if (!str_eq(ns, c->req.ns))
        return err_set(err, ERR_BAD_REQUEST,
                       "the namespace of the provided object does not match the namespace sent on "
                       "the request");
    return 0;
}

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
    r = settle_namespace(c, ret, err);
    if (r < 0)
        return r;
    if (has_managers)
        managers_update(c, managers_request(c, &options, type), NULL, ret);
    return registry_admit_posted(c, type, ret, err);
}

int review_check(struct call *c, const struct value *obj, struct err *err)
{
    return registry_admit_posted_check(c, c->req.resource->type, obj, err);
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

static bool is_field_requirement(const struct value *r)
{
    struct str op = value_text(r, "operator");
    const struct value *values = value_get(r, STR("values"));
    return (str_eq(op, STR("In")) || str_eq(op, STR("NotIn"))) && value_is(values, VALUE_ARRAY) &&
           values->n == 1;
}

/* Requirements that cannot be read are passed over, which asks for more. */
static struct fields_selector required_fields(struct arena *a, const struct value *list)
{
    struct fields_term *terms = arena_array(a, struct fields_term, list->n);
    size_t n = 0;
    value_each_item (it, list)
        if (is_field_requirement(it))
            terms[n++] = (struct fields_term){
                .field = value_text(it, "key"),
                .value = value_str(value_at(value_get(it, STR("values")), 0)),
                .negated = str_eq(value_text(it, "operator"), STR("NotIn")),
            };
    return (struct fields_selector){ terms, n };
}

static struct fields_selector asked_fields(struct arena *a, const struct value *selector)
{
    const struct value *list = value_get(selector, STR("requirements"));
    struct str raw = value_text(selector, "rawSelector");
    struct fields_selector fields = { 0 };
    struct err ignored = ERR_INIT(a);
    if (value_is(list, VALUE_ARRAY) && list->n)
        return required_fields(a, list);
    if (raw.n && fields_parse(a, raw, NULL, &fields, &ignored) < 0)
        return (struct fields_selector){ 0 };
    return fields;
}

static bool is_label_requirement(const struct value *r)
{
    static const struct str ops[] = { STR("In"), STR("NotIn"), STR("Exists"), STR("DoesNotExist") };
    struct name_faults faults = { 0 };
    struct str op = value_text(r, "operator");
    const struct value *values = value_get(r, STR("values"));
    bool has_values = value_is(values, VALUE_ARRAY) && values->n;
    size_t i = 0;
    while (i < ARRAY_LEN(ops) && !str_eq(op, ops[i]))
        i++;
    return i < ARRAY_LEN(ops) && has_values == (i < 2) &&
           name_check(NAME_QUALIFIED, value_text(r, "key"), &faults);
}

/* The same of labels. */
static struct labels_selector required_labels(struct arena *a, const struct value *list)
{
    struct value good = value_array(), selector = value_object();
    struct labels_selector labels;
    struct err ignored = ERR_INIT(a);
    value_each_item (it, list)
        if (is_label_requirement(it))
            value_put_item(a, &good, value_borrow(it));
    value_put(a, &selector, STR("matchExpressions"), good);
    if (labels_from_value(a, &selector, &labels, &ignored) < 0)
        return (struct labels_selector){ 0 };
    return labels;
}

static struct labels_selector asked_labels(struct arena *a, const struct value *selector)
{
    const struct value *list = value_get(selector, STR("requirements"));
    struct str raw = value_text(selector, "rawSelector");
    struct labels_selector labels = { 0 };
    struct err ignored = ERR_INIT(a);
    if (value_is(list, VALUE_ARRAY) && list->n)
        return required_labels(a, list);
    if (raw.n && labels_parse(a, raw, &labels, &ignored) < 0)
        return (struct labels_selector){ 0 };
    return labels;
}

static struct access question(struct arena *a, const struct user *user, const struct value *spec)
{
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
        .fields = asked_fields(a, value_get(resource, STR("fieldSelector"))),
        .labels = asked_labels(a, value_get(resource, STR("labelSelector"))),
    };
}

static int check(struct call *c, const struct value *obj, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    validate_create(&e, c->req.resource, obj);
    int r = field_errors_report(&e, c->req.resource->group, STR(""), STR(""), err);
    return r < 0 ? r : review_check(c, obj, err);
}

/* ---- Selectors: what cannot be read of them does not count, and that is told ---- */

static bool is_field_selector(struct arena *a, struct str raw)
{
    struct fields_selector selector;
    struct err ignored = ERR_INIT(a);
    return fields_parse(a, raw, NULL, &selector, &ignored) == 0;
}

static bool is_label_selector(struct arena *a, struct str raw)
{
    struct labels_selector selector;
    struct err ignored = ERR_INIT(a);
    return labels_parse(a, raw, &selector, &ignored) == 0;
}

static const struct {
    const char *field;
    bool (*is_raw)(struct arena *a, struct str raw);
    bool (*is_requirement)(const struct value *r);
} selectors[] = {
    { "fieldSelector", is_field_selector, is_field_requirement },
    { "labelSelector", is_label_selector, is_label_requirement },
};

/* "", "ignored" or "partially ignored". */
static const char *how_ignored(struct arena *a, size_t i, const struct value *selector)
{
    struct str raw = value_text(selector, "rawSelector");
    const struct value *all = value_get(selector, STR("requirements"));
    size_t n_good = 0, n = value_is(all, VALUE_ARRAY) ? all->n : 0;
    value_each_item (r, all)
        n_good += selectors[i].is_requirement(r);
    if (n)
        return n_good == n ? "" : n_good ? "partially ignored" : "ignored";
    return !raw.n || selectors[i].is_raw(a, raw) ? "" : "ignored";
}

/* What failed on the way to the answer, and what was passed over. */
static struct str evaluation_error(struct arena *a, struct str failed, const struct value *spec)
{
    const struct value *resource = value_get(spec, STR("resourceAttributes"));
    autobuf out = { 0 };
    buf_str_add(&out, failed);
    for (size_t i = 0; i < ARRAY_LEN(selectors); i++) {
        const char *how = how_ignored(a, i, value_get(resource, str_of(selectors[i].field)));
        if (*how)
            buf_printf(&out, "%sspec.resourceAttributes.%s %s due to parse error",
                       out.n ? "; " : "", selectors[i].field, how);
    }
    return arena_str(a, buf_str(&out));
}

static void answer(struct call *c, struct value *obj, bool is_self)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct user *user = is_self ? c->user : named_user(c->arena, spec);
    const struct access q = question(c->arena, user, spec);
    struct value status = value_object();
    struct guard_decision d;
    (void)guard_ask(c->api->guard, c->arena, &q, GUARD_WAITS, &d);
    value_put(c->arena, &status, STR("allowed"), value_bool(d.opinion == ACCESS_ALLOWED));
    if (d.opinion == ACCESS_DENIED)
        value_put(c->arena, &status, STR("denied"), value_bool(true));
    if (d.reason.n)
        value_put(c->arena, &status, STR("reason"), value_string(d.reason));
    struct str error = evaluation_error(c->arena, d.error, spec);
    if (error.n)
        value_put(c->arena, &status, STR("evaluationError"), value_string(error));
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
