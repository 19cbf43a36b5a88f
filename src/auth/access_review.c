#include "auth/access_review.h"

#include "base/idiom.h"
#include "base/banned.h"

static void put_text(struct arena *a, struct value *obj, const char *key, struct str text,
                     bool keeps_empty)
{
    if (text.n || keeps_empty)
        value_put_new(a, obj, str_of(key), value_string(text));
}

static struct value list_of(struct arena *a, const struct str *texts, size_t n)
{
    struct value list = value_array();
    for (size_t i = 0; i < n; i++)
        value_put_item(a, &list, value_string(texts[i]));
    return list;
}

/* ---- Selectors ---- */

static struct value requirement(struct arena *a, struct str key, const char *op,
                                const struct str *values, size_t n)
{
    struct value r = value_object();
    value_put_new(a, &r, STR("key"), value_string(key));
    value_put_new(a, &r, STR("operator"), value_string(str_of(op)));
    if (n)
        value_put_new(a, &r, STR("values"), list_of(a, values, n));
    return r;
}

/* NULL: upstream has no word for it, and leaves it out, which asks for more. */
static const char *label_operator(enum labels_op op)
{
    switch (op) {
    case LABELS_IN:
    case LABELS_EQUALS:
    case LABELS_DOUBLE_EQUALS:
        return "In";
    case LABELS_NOT_IN:
    case LABELS_NOT_EQUALS:
        return "NotIn";
    case LABELS_EXISTS:
        return "Exists";
    case LABELS_NOT_EXISTS:
        return "DoesNotExist";
    case LABELS_GREATER:
    case LABELS_LESS:
        break;
    }
    return NULL;
}

static void put_requirements(struct arena *a, struct value *obj, const char *key, struct value list)
{
    struct value selector = value_object();
    if (!list.n)
        return;
    value_put_new(a, &selector, STR("requirements"), list);
    value_put_new(a, obj, str_of(key), selector);
}

static void put_fields(struct arena *a, struct value *obj, const struct fields_selector *s)
{
    struct value list = value_array();
    for (size_t i = 0; i < s->n; i++)
        value_put_item(a, &list,
                       requirement(a, s->terms[i].field, s->terms[i].negated ? "NotIn" : "In",
                                   &s->terms[i].value, 1));
    put_requirements(a, obj, "fieldSelector", list);
}

static void put_labels(struct arena *a, struct value *obj, const struct labels_selector *s)
{
    struct value list = value_array();
    for (size_t i = 0; i < s->n; i++) {
        const struct labels_req *r = &s->reqs[i];
        const char *op = label_operator(r->op);
        if (op)
            value_put_item(a, &list, requirement(a, r->key, op, r->values, r->n_values));
    }
    put_requirements(a, obj, "labelSelector", list);
}

/* ---- The spec ---- */

static struct value attributes(struct arena *a, const struct access *q, bool keeps_empty)
{
    const struct {
        const char *key;
        struct str text;
    } rows[] = {
        { "namespace", q->ns },    { "verb", q->verb },         { "group", q->group },
        { "version", q->version }, { "resource", q->resource }, { "subresource", q->sub },
        { "name", q->name },
    };
    struct value obj = value_object();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        put_text(a, &obj, rows[i].key, rows[i].text, keeps_empty);
    put_fields(a, &obj, &q->fields);
    put_labels(a, &obj, &q->labels);
    return obj;
}

static void put_attributes(struct arena *a, struct value *spec, const struct access *q,
                           bool keeps_empty)
{
    struct value path = value_object();
    if (q->is_resource) {
        value_put_new(a, spec, STR("resourceAttributes"), attributes(a, q, keeps_empty));
        return;
    }
    put_text(a, &path, "path", q->path, keeps_empty);
    put_text(a, &path, "verb", q->verb, keeps_empty);
    value_put_new(a, spec, STR("nonResourceAttributes"), path);
}

static struct value extra_of(struct arena *a, const struct user *user)
{
    struct value extra = value_object();
    for (size_t i = 0; i < user->n_extra; i++)
        value_put(a, &extra, user->extra[i].key,
                  list_of(a, user->extra[i].values, user->extra[i].n_values));
    return extra;
}

struct value access_review_spec(struct arena *a, const struct access *q, bool is_v1)
{
    const struct user *user = q->user;
    struct value spec = value_object();
    put_attributes(a, &spec, q, false);
    put_text(a, &spec, "user", user->name, false);
    if (user->n_groups)
        value_put_new(a, &spec, is_v1 ? STR("groups") : STR("group"),
                      list_of(a, user->groups, user->n_groups));
    if (user->n_extra)
        value_put_new(a, &spec, STR("extra"), extra_of(a, user));
    put_text(a, &spec, "uid", user->uid, false);
    return spec;
}

struct value access_review_request(struct arena *a, const struct access *q)
{
    const struct user *user = q->user;
    struct value request = value_object();
    put_attributes(a, &request, q, true);
    put_text(a, &request, "user", user->name, true);
    value_put_new(a, &request, STR("groups"), list_of(a, user->groups, user->n_groups));
    value_put_new(a, &request, STR("extra"), extra_of(a, user));
    put_text(a, &request, "uid", user->uid, true);
    return request;
}
