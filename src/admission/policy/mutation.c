#include "admission/policy/mutation.h"

#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/go/quote.h"
#include "api/typed.h"
#include "base/buf.h"
#include "merge/json_patch.h"
#include "merge/ownership.h"
#include "schema/schema_ownership.h"
#include "base/banned.h"

/* ---- Names of types ---- */

/* An object that stands in the field `f` of an Object.x is an Object.x.f. The names are not
 * compiled with any schema, so mistakes show here. */
struct names {
    struct arena *arena;
    struct buf faults;
};

static void check_names(struct names *n, const struct cel_value *v, struct str path);

static void check_fields(struct names *n, const struct cel_value *v, struct str path)
{
    struct cel_value key, val;
    for (size_t i = 0; i < cel_size(v); i++) {
        cel_entry(n->arena, v, i, &key, &val);
        struct str below = v->kind == CEL_OBJECT
                               ? arena_printf(n->arena, STR_FMT "." STR_FMT, STR_ARG(path),
                                              STR_ARG(cel_text(&key)))
                               : path;
        check_names(n, &val, below);
    }
}

static void check_names(struct names *n, const struct cel_value *v, struct str path)
{
    if (v->kind == CEL_LIST) {
        for (size_t i = 0; i < cel_size(v); i++) {
            struct cel_value item = cel_at(n->arena, v, i);
            check_names(n, &item, path);
        }
    } else if (v->kind == CEL_MAP || v->kind == CEL_OBJECT) {
        if (v->kind == CEL_OBJECT && !str_eq(v->declared->name, path)) {
            buf_printf(&n->faults, "%sunexpected type name ", n->faults.n ? "\n" : "");
            quote_go(&n->faults, v->declared->name);
            buf_str_add(&n->faults, STR(", expected "));
            quote_go(&n->faults, path);
            buf_str_add(&n->faults, STR(", which matches field name path from root Object type"));
        }
        check_fields(n, v, path);
    }
}

static int check_type_names(struct arena *a, const struct cel_value *v, struct err *err)
{
    struct names n = { .arena = a };
    int r = 0;
    check_names(&n, v, v->declared->name);
    if (n.faults.n)
        r = err_set(err, ERR_INVALID, "type mismatch: " STR_FMT, STR_ARG(buf_str(&n.faults)));
    buf_done(&n.faults);
    return r;
}

/* A copy in the arena. The values may share their parts, so that the tree is much larger; it is
 * made first, since that is bounded. */
static int to_tree(struct arena *a, const struct cel_value *v, struct value *ret, struct err *err)
{
    struct value tree;
    struct err why = ERR_INIT(a);
    if (cel_to_tree(a, v, &tree, &why) < 0)
        return arena_spent(a) ? allowance_error(a->allowance, err)
                              : err_set(err, ERR_INVALID, STR_FMT, STR_ARG(why.msg));
    *ret = value_clone(a, &tree);
    return 0;
}

/* ---- What is made of it ---- */

static void put_type(struct arena *a, const struct kind_type *t, struct value *obj)
{
    value_put(a, obj, STR("apiVersion"), value_string(convert_api_version(a, t)));
    value_put(a, obj, STR("kind"), value_string(t->name));
}

static void finish(struct arena *a, const struct kind_type *t, struct value *obj)
{
    defaults_apply(a, t, obj);
    put_type(a, t, obj);
}

/* ---- Configurations that are applied ---- */

struct target {
    struct arena *arena;
    const struct ownership_schema *schema;
    struct ownership_place root;
};

static struct target target_of(struct arena *a, const struct kind_type *t)
{
    return (struct target){ .arena = a,
                            .schema = t->custom ? &schema_ownership : &ownership_kinds,
                            .root = t->custom ? schema_ownership_of(t) : ownership_kind(t) };
}

/* Lists, maps and structs that are replaced as a whole: who sets a part of one would lose the rest.
 * Depth is that of the schema. */
static void find_atomics(const struct target *t, struct ownership_place place,
                         const struct value *v, struct str path, struct buf *found)
{
    bool holds = v->type == VALUE_OBJECT || v->type == VALUE_ARRAY;
    if (holds && t->schema->shape(place, v).form == OWNERSHIP_LEAF)
        buf_printf(found, "%s" STR_FMT, found->n ? ", " : "", STR_ARG(path));
    value_each_field (f, v) {
        struct ownership_place below;
        if (t->schema->field(place, f->key, &below))
            find_atomics(
                t, below, &f->val,
                arena_printf(t->arena, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(f->key)), found);
    }
    for (size_t i = 0; v->type == VALUE_ARRAY && i < v->n; i++)
        find_atomics(t, t->schema->item(place), value_at(v, i),
                     arena_printf(t->arena, STR_FMT "[%zu]", STR_ARG(path), i), found);
}

static int refuse_atomics(const struct target *t, const struct value *applied, struct err *err)
{
    autobuf found = { 0 };
    find_atomics(t, t->root, applied, STR(""), &found);
    if (!found.n)
        return 0;
    return err_set(err, ERR_INVALID,
                   "error applying patch: invalid ApplyConfiguration: may not mutate atomic "
                   "arrays, maps or structs: " STR_FMT,
                   STR_ARG(buf_str(&found)));
}

static int merge(const struct target *t, const struct value *live, const struct value *applied,
                 struct value *ret, struct err *err)
{
    struct err why = ERR_INIT(t->arena);
    if (ownership_check(t->arena, t->schema, t->root, applied, &why) < 0)
        return err_set(
            err, ERR_INVALID,
            "error applying patch: failed to convert patch object to typed object: " STR_FMT,
            STR_ARG(why.msg));
    int r = refuse_atomics(t, applied, err);
    if (r < 0)
        return r;
    if (ownership_merge(t->arena, t->schema, t->root, live, applied, ret, &why) < 0)
        return err_set(err, ERR_INVALID, "error applying patch: failed to merge patch: " STR_FMT,
                       STR_ARG(why.msg));
    return 0;
}

int mutation_apply(struct arena *a, const struct view *v, const struct cel_value *result,
                   struct value *ret, struct err *err)
{
    const struct target t = target_of(a, v->type);
    struct value applied, merged;
    struct err why = ERR_INIT(a);
    int r = to_tree(a, result, &applied, err);
    if (r < 0)
        return r;
    r = check_type_names(a, result, err);
    if (r < 0)
        return r;
    put_type(a, v->type, &applied);
    r = merge(&t, v->obj, &applied, &merged, err);
    if (r < 0)
        return r;
    if (typed_read_made(a, v->type, &merged, NULL, ret, &why) < 0)
        return err_set(err, ERR_INVALID,
                       "unable to convert unstructured object to " STR_FMT "/" STR_FMT
                       ", Kind=" STR_FMT ": " STR_FMT,
                       STR_ARG(v->type->group), STR_ARG(v->type->version), STR_ARG(v->type->name),
                       STR_ARG(why.msg));
    finish(a, v->type, ret);
    return 0;
}

/* ---- JSON patches ---- */

static int read_operation(struct arena *a, const struct cel_value *v, struct value *ret,
                          struct err *err)
{
    struct value op;
    *ret = value_object();
    int r = to_tree(a, v, &op, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < cel_size(v); i++) {
        struct cel_value key, val;
        cel_entry(a, v, i, &key, &val);
        r = val.kind == CEL_OBJECT ? check_type_names(a, &val, err) : 0;
        if (r < 0)
            return r;
    }
    value_put_new(a, ret, STR("op"), value_string(value_text(&op, "op")));
    value_put_new(a, ret, STR("path"), value_string(value_text(&op, "path")));
    if (value_text(&op, "from").n)
        value_put_new(a, ret, STR("from"), value_string(value_text(&op, "from")));
    const struct value *given = value_get(&op, STR("value"));
    if (given)
        value_put_new(a, ret, STR("value"), value_borrow(given));
    return 0;
}

static int read_patch(struct arena *a, const struct cel_value *result, struct value *ret,
                      struct err *err)
{
    *ret = value_array();
    for (size_t i = 0; i < cel_size(result); i++) {
        struct cel_value item = cel_at(a, result, i);
        struct value op;
        int r = read_operation(a, &item, &op, err);
        if (r < 0)
            return r;
        if (arena_spent(a))
            return allowance_error(a->allowance, err);
        value_put_item(a, ret, op);
    }
    struct err why = ERR_INIT(a);
    if (json_patch_check(a, ret, NULL, &why) < 0)
        return err_set(err, ERR_INVALID, "JSON Patch: " STR_FMT, STR_ARG(why.msg));
    return 0;
}

/* As upstream's strict decoder: a field that the kind does not have is an error of the server. */
static int read_patched(struct arena *a, const struct kind_type *t, const struct value *patched,
                        struct value *ret, struct err *err)
{
    struct typed_notes *notes = arena_new(a, struct typed_notes);
    struct err why = ERR_INIT(a);
    if (typed_read(a, t, patched, t->custom ? NULL : notes, ret, &why) < 0)
        return view_internal_error(why.msg, err);
    autobuf all = { 0 };
    for (size_t i = 0; i < notes->n && i < TYPED_NOTES_MAX; i++)
        buf_printf(&all, "%s" STR_FMT,
                   i ? ", " : "strict decoding error: ", STR_ARG(notes->notes[i]));
    return all.n ? view_internal_error(buf_str(&all), err) : 0;
}

/* A patch whose `test` does not hold is not for this object. */
int mutation_patch(struct arena *a, const struct view *v, const struct cel_value *result,
                   struct value *ret, struct err *err)
{
    struct value patch, doc = value_borrow(v->obj);
    struct err why = ERR_INIT(a);
    int r = read_patch(a, result, &patch, err);
    if (r < 0)
        return r;
    r = json_patch_apply_told(a, &patch, &doc, &why);
    if (r < 0 && str_ends(why.msg, STR(": test failed"))) {
        *ret = value_borrow(v->obj);
        return 0;
    }
    if (r < 0)
        return err_set(err, ERR_INVALID, "JSON Patch: " STR_FMT, STR_ARG(why.msg));
    r = read_patched(a, v->type, &doc, ret, err);
    if (r == 0)
        finish(a, v->type, ret);
    return r;
}
