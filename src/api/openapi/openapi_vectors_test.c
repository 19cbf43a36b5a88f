/* Our OpenAPI documents beside those of a real server: the same schemas, property by property, and
 * the same operations with the same parameters, bodies and answers. Left out are descriptions, and
 * whether a parameter stands with its operation or with the path. */
#include "api/openapi/openapi.h"

#include "base/json.h"
#include "base/vectors_test.h"

static bool is_same(const struct value *a, const struct value *b);

static const struct value *ref_of(const struct value *v)
{
    const struct value *ref = value_get(v, STR("$ref"));
    return ref ? ref : value_get(value_at(value_get(v, STR("allOf")), 0), STR("$ref"));
}

static bool is_compared(const struct value_field *f)
{
    bool text = value_is(&f->val, VALUE_STRING) && str_eq(f->key, STR("description"));
    return !text && !str_eq(f->key, STR("$ref")) && !str_eq(f->key, STR("allOf"));
}

static bool is_within(const struct value *some, const struct value *all)
{
    value_each_item (it, some) {
        bool found = false;
        value_each_item (other, all)
            found = found || is_same(it, other);
        if (!found)
            return false;
    }
    return true;
}

/* Lists are compared as sets: none of those in a schema has an order that means anything. */
static bool is_same(const struct value *a, const struct value *b)
{
    if (!a || !b || a->type != b->type)
        return a == b;
    if (a->type == VALUE_ARRAY)
        return a->n == b->n && is_within(a, b) && is_within(b, a);
    if (a->type != VALUE_OBJECT)
        return value_eq(a, b);
    const struct value *ref_a = ref_of(a), *ref_b = ref_of(b);
    if (!ref_a != !ref_b || (ref_a && !value_eq(ref_a, ref_b)))
        return false;
    size_t balance = 0;
    value_each_field (f, a) {
        if (is_compared(f) && !is_same(&f->val, value_get(b, f->key)))
            return false;
        balance += is_compared(f);
    }
    value_each_field (f, b)
        balance -= is_compared(f);
    return balance == 0;
}

static void show(const char *what, struct str name, const struct value *ours,
                 const struct value *theirs)
{
    autobuf text = { 0 };
    if (ours)
        json_write(&text, ours);
    buf_str_add(&text, STR("\n  theirs: "));
    if (theirs)
        json_write(&text, theirs);
    printf("%s " STR_FMT "\n  ours:   " STR_FMT "\n", what, STR_ARG(name), STR_ARG(buf_str(&text)));
}

/* Says which property it is, to spare the reader the rest. */
static void show_schema(struct str name, const struct value *ours, const struct value *theirs)
{
    const struct value *props = value_get(ours, STR("properties"));
    const struct value *wanted = value_get(theirs, STR("properties"));
    size_t shown = 0;
    printf("in " STR_FMT ":\n", STR_ARG(name));
    value_each_field (f, wanted)
        if (!is_same(value_get(props, f->key), &f->val) && ++shown)
            show("differs", f->key, value_get(props, f->key), &f->val);
    if (!shown)
        show("differs", name, ours, theirs);
}

static void compare_schemas(const struct value *ours, const struct value *theirs,
                            struct vectors_count *count)
{
    const struct value *mine = value_dig(ours, "components", "schemas");
    const struct value *wanted = value_dig(theirs, "components", "schemas");
    value_each_field (f, wanted) {
        const struct value *schema = value_get(mine, f->key);
        bool same = is_same(schema, &f->val);
        count->total++;
        count->passed += same;
        if (!same)
            show_schema(f->key, schema, &f->val);
    }
    value_each_field (f, mine) {
        if (value_get(wanted, f->key))
            continue;
        count->total++;
        printf("only ours: " STR_FMT "\n", STR_ARG(f->key));
    }
}

/* ---- Operations ---- */

/* The parameters of the path and of the operation, in one list. */
static struct value all_parameters(struct arena *a, const struct value *path,
                                   const struct value *op)
{
    struct value all = value_array();
    value_each_item (it, value_get(path, STR("parameters")))
        value_push(a, &all, value_borrow(it));
    value_each_item (it, value_get(op, STR("parameters")))
        value_push(a, &all, value_borrow(it));
    return all;
}

static bool is_same_operation(struct arena *a, const struct value *path, const struct value *op,
                              const struct value *other_path, const struct value *other)
{
    struct value params = all_parameters(a, path, op);
    struct value others = all_parameters(a, other_path, other);
    struct value x = value_borrow(op), y = value_borrow(other);
    value_remove(a, &x, STR("parameters"));
    value_remove(a, &y, STR("parameters"));
    return is_same(&params, &others) && is_same(&x, &y);
}

static void compare_path(struct arena *a, struct str name, const struct value *ours,
                         const struct value *theirs, struct vectors_count *count)
{
    value_each_field (f, theirs) {
        if (str_eq(f->key, STR("parameters")))
            continue;
        const struct value *op = value_get(ours, f->key);
        bool same = op && is_same_operation(a, ours, op, theirs, &f->val);
        count->total++;
        count->passed += same;
        if (!same)
            show("operation", name, op, &f->val);
    }
    value_each_field (f, ours) {
        if (value_get(theirs, f->key))
            continue;
        count->total++;
        printf("only ours: " STR_FMT " " STR_FMT "\n", STR_ARG(f->key), STR_ARG(name));
    }
}

static void compare_paths(struct arena *a, const struct value *ours, const struct value *theirs,
                          struct vectors_count *count)
{
    const struct value *mine = value_get(ours, STR("paths"));
    const struct value *wanted = value_get(theirs, STR("paths"));
    value_each_field (f, wanted)
        compare_path(a, f->key, value_get(mine, f->key), &f->val, count);
    value_each_field (f, mine)
        if (!value_get(wanted, f->key))
            compare_path(a, f->key, &f->val, NULL, count);
}

static struct value parsed(struct arena *a, struct str text)
{
    struct value v;
    struct err err = ERR_INIT(a);
    if (json_read(a, text, NULL, &v, &err) < 0) {
        printf("no JSON: " STR_FMT "\n", STR_ARG(err.msg));
        exit(1);
    }
    return v;
}

static bool compare(struct arena *a, const char *file, const struct buf *text)
{
    const char *path = vectors_path(a, "openapi/v3", file);
    struct value ours = parsed(a, buf_str(text)), theirs = parsed(a, vectors_read(a, path));
    struct vectors_count counts[] = { { .name = "  schemas" }, { .name = "  operations" } };
    compare_schemas(&ours, &theirs, &counts[0]);
    compare_paths(a, &ours, &theirs, &counts[1]);
    printf("%s (%zu bytes)\n", file, text->n);
    return vectors_report(counts, 2);
}

static bool compare_version(const struct kind_version *v)
{
    struct arena a;
    arena_init(&a);
    autobuf text = { 0 };
    openapi_version(&text, v, NULL);
    struct str file = arena_printf(&a, v->group.n ? "apis__" STR_FMT "__" : "api" STR_FMT "__",
                                   STR_ARG(v->group));
    file = arena_printf(&a, STR_FMT STR_FMT "_openapi.json", STR_ARG(file), STR_ARG(v->version));
    bool good = compare(&a, str_cstr(&a, file), &text);
    if (v->group.n) {
        autobuf group = { 0 };
        openapi_group(&group, v->group);
        file = arena_printf(&a, "apis__" STR_FMT "_openapi.json", STR_ARG(v->group));
        good = compare(&a, str_cstr(&a, file), &group) && good;
    }
    arena_done(&a);
    return good;
}

static bool compare_root(bool core)
{
    struct arena a;
    arena_init(&a);
    autobuf text = { 0 };
    openapi_roots(&text, core);
    bool good = compare(&a, core ? "api_openapi.json" : "apis_openapi.json", &text);
    arena_done(&a);
    return good;
}

int main(void)
{
    struct arena a;
    arena_init(&a);
    bool there = vectors_are_there(&a, "openapi/v3");
    arena_done(&a);
    if (!there)
        return VECTORS_SKIPPED;
    bool good = compare_root(true);
    good = compare_root(false) && good;
    for (size_t i = 0; i < n_kind_versions; i++)
        if (!kind_versions[i].is_old)
            good = compare_version(&kind_versions[i]) && good;
    return good ? 0 : 1;
}
