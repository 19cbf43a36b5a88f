#include "schema/schema_kind.h"

#include "api/convert/convert.h"
#include "api/go/gofloat.h"
#include "api/meta.h"
#include "api/names.h"
#include "api/text_set.h"
#include "api/typed.h"
#include "api/validate/validate.h"
#include "base/idiom.h"
#include "merge/sorted.h"
#include "merge/unstructured.h"

#include "base/banned.h"

static const struct schema *schema_of(const struct kind_type *t)
{
    const struct schema_kind *k = schema_kind_of(t);
    return k->schema(k);
}

/* ---- Reading ---- */

static void note(struct arena *a, struct typed_notes *notes, const char *what, struct str path)
{
    if (!notes)
        return;
    if (notes->n < TYPED_NOTES_MAX)
        notes->notes[notes->n] = arena_printf(a, "%s field \"" STR_FMT "\"", what, STR_ARG(path));
    notes->n++;
}

struct reader {
    struct arena *a;
    struct typed_notes *notes; /* NULL: nobody asks */
};

static void note_duplicates(struct reader *r, const struct value *obj,
                            const struct field_path *path)
{
    autoset seen;
    text_set_init(&seen);
    value_each_field (f, obj) {
        struct field_path here = field_child(path, f->key);
        if (!text_set_add(&seen, f->key, f))
            note(r->a, r->notes, "duplicate", field_path_text(r->a, &here));
    }
}

static void tidy(struct reader *r, struct value *v, const struct field_path *path);

/* The fields by name, as Go writes a map; of duplicates the last counts. */
static void tidy_fields(struct reader *r, struct value *obj, const struct field_path *path)
{
    struct sorted fields = sorted_fields(r->a, obj);
    struct value fresh = value_object();
    for (size_t i = 0; i < fields.n; i++) {
        const struct value_field *f = fields.fields[i];
        struct field_path here = field_child(path, f->key);
        tidy(r, value_add(r->a, &fresh, f->key, value_borrow(&f->val)), &here);
    }
    if (fields.n != obj->n)
        note_duplicates(r, obj, path);
    *obj = fresh;
}

/* Numbers as Go's decoder and encoder leave them: 1.50 is 1.5, and 1.0 is 1. */
static void tidy(struct reader *r, struct value *v, const struct field_path *path)
{
    double d;
    if (v->type == VALUE_NUMBER && value_to_double(v, &d))
        *v = d == 0 ? value_int(0) : value_number(gofloat_text(r->a, d));
    else if (v->type == VALUE_OBJECT)
        tidy_fields(r, v, path);
    for (size_t i = 0; v->type == VALUE_ARRAY && i < v->n && !arena_spent(r->a); i++) {
        struct field_path here = field_index(path, i);
        uint8_t type = value_at(v, i)->type;
        if (type == VALUE_NUMBER || type == VALUE_ARRAY || type == VALUE_OBJECT)
            tidy(r, value_edit_at(r->a, v, i), &here);
    }
}

static int read_meta(struct reader *r, const struct value *in, struct value *ret, struct err *err)
{
    struct typed_notes inner = { .n = 0 };
    const struct kind_type *type = kind_type_find(STR("meta"), STR("v1"), STR("ObjectMeta"));
    int fault = typed_read(r->a, type, in, &inner, ret, err);
    for (size_t i = 0; fault == 0 && i < inner.n && i < TYPED_NOTES_MAX; i++) {
        struct str rest = inner.notes[i], what = str_cut(&rest, '"');
        struct str field = str_take(rest, rest.n - 1);
        note(r->a, r->notes, str_starts(what, STR("unknown")) ? "unknown" : "duplicate",
             arena_printf(r->a, "metadata." STR_FMT, STR_ARG(field)));
    }
    return fault;
}

/* apiVersion, kind and metadata first, then the rest by name. */
static int put_in_order(struct reader *r, const struct value *in, struct value *ret,
                        struct err *err)
{
    static const struct str names[] = { STR("apiVersion"), STR("kind") };
    struct value rest = value_object();
    *ret = value_object();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct value *v = value_get(in, names[i]);
        if (v)
            value_put_new(r->a, ret, names[i], value_borrow(v));
    }
    value_each_field (f, in)
        if (!str_eq(f->key, names[0]) && !str_eq(f->key, names[1]) &&
            !str_eq(f->key, STR("metadata")))
            value_put_new(r->a, &rest, f->key, value_borrow(&f->val));
    const struct value *meta = value_get(in, STR("metadata"));
    struct value fit;
    int fault = meta ? read_meta(r, meta, &fit, err) : 0;
    if (fault < 0)
        return fault;
    if (meta)
        value_put_new(r->a, ret, STR("metadata"), fit);
    tidy_fields(r, &rest, NULL);
    value_each_field (g, &rest)
        value_put_new(r->a, ret, g->key, value_borrow(&g->val));
    return 0;
}

static int read_object(struct arena *a, const struct kind_type *t, const struct value *in,
                       struct typed_notes *notes, struct value *ret, struct err *err)
{
    const struct schema_kind *k = schema_kind_of(t);
    const struct schema *s = k->schema(k);
    struct schema_unknown unknown = { .n = 0 };
    struct reader reader = { a, notes };
    struct value obj;
    int r = put_in_order(&reader, in, &obj, err);
    if (r < 0)
        return r;
    if (s && !k->keeps_unknown) {
        schema_prune(a, s, &obj, true, notes ? &unknown : NULL);
        schema_drop_nulls(a, s, &obj);
    }
    r = schema_coerce(a, s, &obj, notes ? &unknown : NULL, err);
    for (size_t i = 0; i < unknown.n; i++)
        note(a, notes, "unknown", unknown.paths[i]);
    *ret = obj;
    return r;
}

static void fill_in(struct arena *a, const struct kind_type *t, struct value *obj)
{
    schema_default(a, schema_of(t), obj);
}

static int convert(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                   struct value *in, struct value *ret, struct err *err)
{
    if (from == to) {
        *ret = value_share(in);
        return 0;
    }
    struct value obj = value_share(in);
    value_put(a, &obj, STR("apiVersion"), value_string(convert_api_version(a, to)));
    int r = read_object(a, to, &obj, NULL, ret, err);
    if (r == 0)
        fill_in(a, to, ret);
    return r;
}

/* ---- Validating ---- */

const struct value *schema_scale_value(const struct value *obj, struct str path)
{
    if (path.n && *path.p == '.')
        path = str_skip(path, 1);
    while (obj && path.p && path.n) {
        struct str step = str_cut(&path, '.');
        obj = value_is(obj, VALUE_OBJECT) ? value_get(obj, step) : NULL;
    }
    return obj;
}

/* How Go's accessors of nested fields name a value of the wrong type. */
static const char *go_type(const struct value *v)
{
    return v->type == VALUE_NULL ? "<nil>" : unstructured_type(v);
}

static void check_replicas(struct field_errors *e, const struct value *obj, struct str path)
{
    const struct value *v = schema_scale_value(obj, path);
    struct field_path at = field_child(NULL, path);
    if (!v)
        return;
    if (v->type != VALUE_INT)
        field_error(e, FIELD_INVALID, &at, STR("0"),
                    STR_FMT " accessor error: " STR_FMT " is of the type %s, expected int64",
                    STR_ARG(path), STR_ARG(unstructured_text(e->arena, v)), go_type(v));
    else if (v->i < 0)
        field_error(e, FIELD_INVALID, &at, field_json(e, v), "should be a non-negative integer");
    else if (v->i > INT32_MAX)
        field_error(e, FIELD_INVALID, &at, field_json(e, v),
                    "should be less than or equal to 2147483647");
}

static void check_scale(struct field_errors *e, const struct schema_scale *scale, struct str sub,
                        const struct value *obj)
{
    if (!str_eq(sub, STR("status")) && scale->spec_replicas.n)
        check_replicas(e, obj, scale->spec_replicas);
    if (scale->status_replicas.n)
        check_replicas(e, obj, scale->status_replicas);
    const struct value *selector =
        scale->selector.n ? schema_scale_value(obj, scale->selector) : NULL;
    if (!selector || selector->type == VALUE_STRING)
        return;
    struct field_path at = field_child(NULL, scale->selector);
    field_error(e, FIELD_INVALID, &at, STR("\"\""),
                STR_FMT " accessor error: " STR_FMT " is of the type %s, expected string",
                STR_ARG(scale->selector), STR_ARG(unstructured_text(e->arena, selector)),
                go_type(selector));
}

static void check_values(struct field_errors *e, const struct schema *s, struct str sub,
                         const struct value *obj, const struct value *old_obj)
{
    if (!str_eq(sub, STR("status"))) {
        schema_validate(e, s, NULL, obj, old_obj);
        return;
    }
    const struct schema *status = schema_property(s, STR("status"));
    const struct value *v = value_get(obj, STR("status"));
    struct field_path path = field_child(NULL, STR("status"));
    if (status && v)
        schema_validate(e, status, &path, v, value_get(old_obj, STR("status")));
}

static void check_lists(struct field_errors *e, const struct schema *s, const struct value *obj,
                        const struct value *old_obj)
{
    struct field_errors before = FIELD_ERRORS_INIT(e->arena);
    if (old_obj)
        schema_check_lists(&before, s, old_obj);
    if (!before.n)
        schema_check_lists(e, s, obj);
}

/* Expressions are not run over what has the wrong shape or size. */
static bool is_blocked(const struct field_errors *e)
{
    static const struct str reasons[] = { STR("FieldValueNotSupported"), STR("FieldValueRequired"),
                                          STR("FieldValueTooLong"), STR("FieldValueTooMany"),
                                          STR("FieldValueTypeInvalid") };
    for (const struct err_cause *c = e->first; c; c = c->next)
        for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
            if (str_eq(c->reason, reasons[i]))
                return true;
    return false;
}

static void validate(struct field_errors *e, const struct kind_type *t, struct str sub,
                     const struct value *obj, const struct value *old_obj)
{
    const struct schema *s = schema_of(t);
    if (old_obj) { /* upstream asks for these in two places, and tells their faults twice */
        bool namespaced = value_str(value_dig(obj, "metadata", "namespace")).n;
        meta_validate_update(e, &(struct meta_rules){ NAME_SUBDOMAIN, namespaced, false }, obj,
                             old_obj);
    }
    if (s)
        check_values(e, s, sub, obj, old_obj);
    check_scale(e, &schema_kind_of(t)->scale, sub, obj);
    if (!s)
        return;
    if (!str_eq(sub, STR("status")))
        schema_check_embedded(e, s, NULL, obj);
    check_lists(e, s, obj, old_obj);
    const struct schema_kind *k = schema_kind_of(t);
    const struct schema_programs *programs = k->programs(k);
    if (programs && is_blocked(e))
        field_error(e, FIELD_INVALID, NULL, STR("null"),
                    "some validation rules were not checked because the object was invalid; "
                    "correct the existing errors to complete validation");
    else if (programs)
        schema_programs_run(e, programs, NULL, obj, old_obj);
}

/* ---- Warnings ---- */

static bool has_item(const struct value *list, struct str text)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), text))
            return true;
    return false;
}

static void warn_of_finalizer(struct validate_warnings *w, struct str finalizer)
{
    struct name_faults faults = { .n = 0 };
    (void)name_check(NAME_QUALIFIED, finalizer, &faults);
    for (size_t i = 0; i < faults.n; i++)
        validate_add_warning(w, "metadata.finalizers: \"" STR_FMT "\": %s%s", STR_ARG(finalizer),
                             faults.list[i].part, faults.list[i].why);
    bool standard = str_eq(finalizer, STR("orphan")) ||
                    str_eq(finalizer, STR("foregroundDeletion")) ||
                    str_eq(finalizer, STR("kubernetes"));
    if (standard || str_find(finalizer, '/') >= 0)
        return;
    validate_add_warning(w,
                         "metadata.finalizers: \"" STR_FMT "\": prefer a domain-qualified "
                         "finalizer name%s to avoid accidental conflicts with other finalizer "
                         "writers",
                         STR_ARG(finalizer),
                         str_find(finalizer, '.') >= 0 ? " including a path (/)" : "");
}

static void warn(struct validate_warnings *w, const struct value *obj, const struct value *old_obj)
{
    const struct value *before = value_dig(old_obj, "metadata", "finalizers");
    value_each_item (it, value_dig(obj, "metadata", "finalizers"))
        if (!has_item(before, value_str(it)))
            warn_of_finalizer(w, value_str(it));
}

/* ---- Tables ---- */

static struct value row(struct arena *a, const struct kind_type *t, const struct value *obj,
                        int64_t now_ns, size_t *work)
{
    return schema_columns_row(a, schema_kind_of(t)->columns, obj, now_ns, work);
}

static struct value columns(struct arena *a, const struct kind_type *t)
{
    return schema_columns_definitions(a, schema_kind_of(t)->columns);
}

const struct kind_custom schema_kind_custom = {
    .read = read_object,
    .defaults = fill_in,
    .convert = convert,
    .validate = validate,
    .warn = warn,
    .row = row,
    .columns = columns,
};
