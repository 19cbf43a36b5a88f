/* Objects inside of objects that have an apiVersion, a kind and metadata of their own. */
#include "api/label_syntax.h"
#include "api/meta.h"
#include "api/typed.h"
#include "schema/schema.h"

#include "base/banned.h"

static const struct kind_type *meta_type(void)
{
    return kind_type_find(STR("meta"), STR("v1"), STR("ObjectMeta"));
}

/* ---- Making them fit ---- */

struct coercer {
    struct arena *a;
    struct schema_unknown *unknown; /* NULL: nobody asks */
    struct err *err;
};

static int refuse(struct coercer *c, const struct field_path *path, const struct value *v,
                  struct str why)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->a);
    field_error(&e, FIELD_INVALID, path, field_shown(&e, v), STR_FMT, STR_ARG(why));
    return err_set(c->err, ERR_BAD_REQUEST, STR_FMT ": " STR_FMT, STR_ARG(e.first->field),
                   STR_ARG(e.first->msg));
}

/* `unknown field "x"` becomes the path of x. */
static void note_unknown(struct coercer *c, const struct field_path *path,
                         const struct typed_notes *notes)
{
    struct str prefix = STR("unknown field \"");
    for (size_t i = 0; c->unknown && i < notes->n && i < TYPED_NOTES_MAX; i++) {
        struct str note = notes->notes[i];
        if (!str_starts(note, prefix) || c->unknown->n >= SCHEMA_UNKNOWN_MAX)
            continue;
        struct str field = str_take(str_skip(note, prefix.n), note.n - prefix.n - 1);
        struct field_path at = field_child(path, field);
        c->unknown->paths[c->unknown->n++] = field_path_text(c->a, &at);
    }
}

static int coerce_meta(struct coercer *c, const struct field_path *path, struct value *meta)
{
    struct typed_notes notes = { .n = 0 };
    struct err err = ERR_INIT(c->a);
    struct value fit;
    if (typed_read(c->a, meta_type(), meta, &notes, &fit, &err) < 0)
        return refuse(c, path, meta, err.msg);
    note_unknown(c, path, &notes);
    const struct value *created = value_get(&fit, STR("creationTimestamp"));
    if (created && created->type == VALUE_NULL)
        value_drop(c->a, &fit, STR("creationTimestamp"));
    *meta = fit;
    return 0;
}

static int coerce_field(struct coercer *c, const struct field_path *path, struct str key,
                        struct value *v)
{
    if (str_eq(key, STR("metadata")))
        return coerce_meta(c, path, v);
    bool named = str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind"));
    return named && v->type != VALUE_STRING ? refuse(c, path, v, STR("must be a string")) : 0;
}

static int coerce(struct coercer *c, const struct schema *s, const struct field_path *path,
                  struct value *v);

static int coerce_items(struct coercer *c, const struct schema *s, const struct field_path *path,
                        struct value *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct field_path here = field_index(path, i);
        int r = coerce(c, s->items, &here, value_edit_at(c->a, list, i));
        if (r < 0)
            return r;
    }
    return 0;
}

static int coerce(struct coercer *c, const struct schema *s, const struct field_path *path,
                  struct value *v)
{
    if (!s || !(s->flags & SCHEMA_HAS_EMBEDDED))
        return 0;
    if (v->type == VALUE_ARRAY)
        return coerce_items(c, s, path, v);
    if (v->type != VALUE_OBJECT)
        return 0;
    struct value fresh = value_object();
    value_each_field (f, v) {
        const struct schema *property = schema_property(s, f->key);
        struct field_path here = field_child(path, f->key), entry = field_key(path, f->key);
        struct value *kept = value_add(c->a, &fresh, f->key, value_borrow(&f->val));
        int r = s->flags & SCHEMA_EMBEDDED ? coerce_field(c, &here, f->key, kept) : 0;
        if (r < 0)
            return r;
        r = coerce(c, property ? property : s->additional, property ? &here : &entry, kept);
        if (r < 0)
            return r;
    }
    *v = fresh;
    return 0;
}

int schema_coerce(struct arena *a, const struct schema *s, struct value *obj,
                  struct schema_unknown *unknown, struct err *err)
{
    struct coercer c = { a, unknown, err };
    return coerce(&c, s, NULL, obj);
}

/* ---- What is wrong with them ---- */

static void check_api_version(struct field_errors *e, const struct field_path *path,
                              const struct value *v)
{
    size_t slashes = 0;
    for (size_t i = 0; v->type == VALUE_STRING && i < v->n; i++)
        slashes += v->text[i] == '/';
    if (v->type != VALUE_STRING)
        field_error(e, FIELD_INVALID, path, field_shown(e, v), "must be a string");
    else if (!v->n)
        field_error(e, FIELD_INVALID, path, field_shown(e, v), "must not be empty");
    else if (slashes > 1)
        field_error(e, FIELD_INVALID, path, field_shown(e, v),
                    "unexpected GroupVersion string: " STR_FMT, STR_ARG(value_str(v)));
}

static void check_kind(struct field_errors *e, const struct field_path *path, const struct value *v)
{
    struct str kind = value_str(v);
    char *small = arena_alloc(e->arena, kind.n + 1, 1);
    for (size_t i = 0; i < kind.n; i++)
        small[i] = kind.p[i] >= 'A' && kind.p[i] <= 'Z' ? (char)(kind.p[i] | 0x20) : kind.p[i];
    struct name_faults faults = { .n = 0 };
    if (v->type != VALUE_STRING)
        field_error(e, FIELD_INVALID, path, field_shown(e, v), "must be a string");
    else if (!kind.n)
        field_error(e, FIELD_INVALID, path, field_shown(e, v), "must not be empty");
    else if (!name_check(NAME_LABEL_1035, (struct str){ small, kind.n }, &faults)) {
        autobuf list = { 0 };
        for (size_t i = 0; i < faults.n; i++)
            buf_printf(&list, "%s%s%s", i ? "," : "", faults.list[i].part, faults.list[i].why);
        field_error(e, FIELD_INVALID, path, field_shown(e, v),
                    "may have mixed case, but should otherwise match: " STR_FMT,
                    STR_ARG(buf_str(&list)));
    }
}

/* The rules of metadata read an object that has them; the faults get the path of this one. */
static void check_meta(struct field_errors *e, const struct field_path *path,
                       const struct value *meta)
{
    struct err err = ERR_INIT(e->arena);
    struct value fit, holder = value_object();
    if (typed_read(e->arena, meta_type(), meta, NULL, &fit, &err) < 0) {
        field_error(e, FIELD_INVALID, path, field_shown(e, meta), STR_FMT, STR_ARG(err.msg));
        return;
    }
    if (!value_str(value_get(&fit, STR("name"))).n)
        value_put(e->arena, &fit, STR("name"), value_string(STR("fakename")));
    bool namespaced = value_str(value_get(&fit, STR("namespace"))).n > 0;
    value_put_new(e->arena, &holder, STR("metadata"), fit);
    struct field_errors found = FIELD_ERRORS_INIT(e->arena);
    struct meta_rules rules = { NAME_PATH_SEGMENT, namespaced, false };
    meta_validate_create(&found, &rules, &holder);
    struct str prefix = path->parent ? field_path_text(e->arena, path->parent) : STR("");
    for (struct err_cause *c = found.first; c && prefix.n; c = c->next)
        c->field = arena_printf(e->arena, STR_FMT "." STR_FMT, STR_ARG(prefix), STR_ARG(c->field));
    field_errors_add(e, &found);
}

static void check_resource(struct field_errors *e, const struct field_path *path,
                           const struct value *obj)
{
    struct field_path version = field_child(path, STR("apiVersion")),
                      kind = field_child(path, STR("kind")),
                      meta = field_child(path, STR("metadata"));
    const struct value *v;
    if (!value_get(obj, STR("apiVersion")))
        field_required(e, &version, "");
    if (!value_get(obj, STR("kind")))
        field_required(e, &kind, "");
    if ((v = value_get(obj, STR("apiVersion"))))
        check_api_version(e, &version, v);
    if ((v = value_get(obj, STR("kind"))))
        check_kind(e, &kind, v);
    if ((v = value_get(obj, STR("metadata"))))
        check_meta(e, &meta, v);
}

static void check(struct field_errors *e, const struct schema *s, const struct field_path *path,
                  const struct value *v)
{
    if (!s || !(s->flags & SCHEMA_HAS_EMBEDDED))
        return;
    for (size_t i = 0; v->type == VALUE_ARRAY && i < v->n; i++) {
        struct field_path here = field_index(path, i);
        check(e, s->items, &here, value_at(v, i));
    }
    if (v->type != VALUE_OBJECT)
        return;
    if (s->flags & SCHEMA_EMBEDDED)
        check_resource(e, path, v);
    value_each_field (f, v) {
        const struct schema *property = schema_property(s, f->key);
        struct field_path here = property ? field_child(path, f->key) : field_key(path, f->key);
        check(e, property ? property : s->additional, &here, &f->val);
    }
}

void schema_check_embedded(struct field_errors *e, const struct schema *s,
                           const struct field_path *path, const struct value *obj)
{
    check(e, s, path, obj);
}
