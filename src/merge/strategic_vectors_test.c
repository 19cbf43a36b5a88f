/* The cases of upstream's own tests of strategic merge patch, twice: with the rules of its test
 * types as schema.json tells their Go structs, and as OpenAPI v3 documents do. `sort` has no
 * function here: the patch from a list to its sorted form must lead there. */
#include "base/vectors_test.h"
#include "base/json.h"
#include "merge/strategic.h"

static struct arena files;
static struct value types;   /* of schema.json */
static struct value schemas; /* of the OpenAPI documents, by name */

/* ---- rules as structs have them ---- */

static const struct value a_map = { .type = VALUE_STRING }, opaque = { .type = VALUE_OBJECT };

static const void *type_below(const struct value *field)
{
    const struct value *items = value_get(field, STR("items"));
    const struct value *holder = items ? items : field;
    const struct value *ref = value_get(holder, STR("ref"));
    struct str kind = value_str(value_get(holder, STR("kind")));
    if (ref)
        return value_get(&types, value_str(ref));
    return str_eq(kind, STR("map")) ? &a_map : &opaque;
}

static int field_rules(const void *where, struct str name, bool is_list,
                       struct strategic_field *ret, struct err *err)
{
    (void)is_list;
    const struct value *type = where, *field = value_get(type, name);
    if (type == &a_map)
        return err_set(err, ERR_UNKNOWN, "merging an object in json but it is a map");
    if (!field)
        return err_set(err, ERR_UNKNOWN, "unable to find api field " STR_FMT, STR_ARG(name));
    *ret = (struct strategic_field){ .merge_key = value_str(value_get(field, STR("mergeKey"))),
                                     .below = type_below(field) };
    value_each_item (strategy, value_get(field, STR("patchStrategy"))) {
        ret->merge = ret->merge || str_eq(value_str(strategy), STR("merge"));
        ret->replace = ret->replace || str_eq(value_str(strategy), STR("replace"));
        ret->retain_keys = ret->retain_keys || str_eq(value_str(strategy), STR("retainKeys"));
    }
    return 0;
}

/* ---- rules as OpenAPI has them ---- */

static const struct value *resolve(const struct value *schema)
{
    const struct value *all = value_get(schema, STR("allOf"));
    const struct value *ref = value_get(all ? value_at(all, 0) : schema, STR("$ref"));
    struct str name = value_str(ref);
    struct str prefix = STR("#/components/schemas/");
    return str_starts(name, prefix) ? value_get(&schemas, str_skip(name, prefix.n)) : schema;
}

static int openapi_rules(const void *where, struct str name, bool is_list,
                         struct strategic_field *ret, struct err *err)
{
    const struct value *schema = value_get(value_get(where, STR("properties")), name);
    if (!schema)
        return err_set(err, ERR_UNKNOWN, "unable to find api field \"" STR_FMT "\"", STR_ARG(name));
    const struct value *items = is_list ? value_get(schema, STR("items")) : NULL;
    struct str strategies = value_str(value_get(schema, STR("x-kubernetes-patch-strategy")));
    *ret = (struct strategic_field){
        .merge_key = value_str(value_get(schema, STR("x-kubernetes-patch-merge-key"))),
        .below = resolve(items ? items : schema),
    };
    while (strategies.n) {
        struct str strategy = str_cut(&strategies, ',');
        ret->merge = ret->merge || str_eq(strategy, STR("merge"));
        ret->replace = ret->replace || str_eq(strategy, STR("replace"));
        ret->retain_keys = ret->retain_keys || str_eq(strategy, STR("retainKeys"));
    }
    return 0;
}

static const struct strategic_rules sources[] = { { field_rules }, { openapi_rules } };

/* Schemas are named as the types are, but for the first letter. */
static const void *type_named(size_t source, struct str name)
{
    if (source == 0)
        return value_get(&types, name);
    struct str copy = arena_str(&files, name);
    ((char *)copy.p)[0] |= 0x20;
    return value_get(&schemas, copy);
}

/* ---- cases ---- */

struct run {
    struct arena arena;
    const struct value *c;
    const struct strategic_rules *rules;
    const void *where;
    struct err err;
};

/* The document under `name`, or read from the text under `nameText`; an object if there is none. */
static int document(struct run *run, const char *name, struct value *ret)
{
    struct arena *a = &run->arena;
    const struct value *v = value_get(run->c, str_of(name));
    const struct value *text = value_get(run->c, arena_printf(a, "%sText", name));
    *ret = v ? value_borrow(v) : value_object();
    if (!text)
        return 0;
    if (json_read(a, value_str(text), NULL, ret, NULL) < 0)
        return err_set(&run->err, ERR_BAD_REQUEST, "invalid JSON document");
    return 0;
}

static bool is_there(const struct run *run, const char *name)
{
    return value_get(run->c, str_of(name)) ||
           value_get(run->c, arena_printf(&files, "%sText", name));
}

static bool equals(struct run *run, const char *name, const struct value *v)
{
    struct value want;
    if (!is_there(run, name))
        return true;
    if (document(run, name, &want) < 0 || !value_eq(&want, v)) {
        autobuf have = { 0 };
        json_write(&have, v);
        printf("%s is " STR_FMT "\n", name, STR_ARG(buf_str(&have)));
        return false;
    }
    return true;
}

static bool failed_as_wanted(const struct run *run, int r)
{
    struct str part = value_str(value_get(run->c, STR("errorContains")));
    const struct value *is_optional = value_get(run->c, STR("errorOptional"));
    if (r == 0)
        return !part.n || (is_optional && is_optional->b);
    bool same = part.n && run->err.msg.n && memmem(run->err.msg.p, run->err.msg.n, part.p, part.n);
    if (!same)
        printf("refused: " STR_FMT "\n", STR_ARG(run->err.msg));
    return same;
}

static bool apply_gives(struct run *run, const struct value *patch, struct value doc,
                        const char *name)
{
    struct value before = value_clone(&run->arena, &doc);
    struct value patch_before = value_clone(&run->arena, patch);
    struct value result = value_share(&doc);
    int r = strategic_apply(&run->arena, run->rules, run->where, patch, &result, &run->err);
    if (!value_eq(&before, &doc) || !value_eq(&patch_before, patch)) {
        printf("an input was changed\n");
        return false;
    }
    return failed_as_wanted(run, r) && (r < 0 || equals(run, name, &result));
}

static bool check_apply(struct run *run)
{
    struct value doc, patch;
    if (document(run, "original", &doc) < 0 || document(run, "patch", &patch) < 0)
        return failed_as_wanted(run, -1);
    return apply_gives(run, &patch, doc, "result");
}

static bool check_sort(struct run *run)
{
    struct value doc, sorted, patch;
    if (document(run, "original", &doc) < 0 || document(run, "sorted", &sorted) < 0 ||
        strategic_two_way(&run->arena, run->rules, run->where, &doc, &sorted, &patch, &run->err) <
            0)
        return false;
    return apply_gives(run, &patch, doc, "sorted");
}

static bool check_two_way(struct run *run)
{
    struct value original, modified, patch;
    if (document(run, "original", &original) < 0 || document(run, "modified", &modified) < 0)
        return false;
    int r = strategic_two_way(&run->arena, run->rules, run->where, &original, &modified, &patch,
                              &run->err);
    if (r < 0)
        return failed_as_wanted(run, r);
    return equals(run, "patch", &patch) && apply_gives(run, &patch, original, "result");
}

static bool check_three_way(struct run *run)
{
    struct value original, modified, current, patch;
    if (document(run, "original", &original) < 0 || document(run, "modified", &modified) < 0 ||
        document(run, "current", &current) < 0)
        return false;
    const struct value *conflict = value_get(run->c, STR("conflict"));
    int r = strategic_three_way(&run->arena, run->rules, run->where, &original, &modified, &current,
                                false, &patch, &run->err);
    if (conflict && conflict->b && r != -ERR_CONFLICT) {
        printf("no conflict\n");
        return false;
    }
    if (r == -ERR_CONFLICT && !(conflict && conflict->b)) {
        printf(STR_FMT, STR_ARG(run->err.msg));
        return false;
    }
    err_clear(&run->err);
    r = strategic_three_way(&run->arena, run->rules, run->where, &original, &modified, &current,
                            true, &patch, &run->err);
    if (r < 0)
        return failed_as_wanted(run, r);
    return equals(run, "patch", &patch) && apply_gives(run, &patch, current, "result");
}

enum { SUITES = 4 };
static const char *const suites[SUITES] = { "sort", "apply", "two-way", "three-way" };
static bool (*const checks[SUITES])(struct run *run) = { check_sort, check_apply, check_two_way,
                                                         check_three_way };
static struct vectors_count counts[] = {
    { .name = "sort" },
    { .name = "apply" },
    { .name = "two-way" },
    { .name = "three-way" },
    { .name = "OpenAPI sort" },
    { .name = "OpenAPI apply" },
    { .name = "OpenAPI two-way" },
    { .name = "OpenAPI three-way" },
};

static void check_case(size_t source, const struct value *c)
{
    struct str suite = value_str(value_get(c, STR("suite")));
    struct run run = { .c = c,
                       .rules = &sources[source],
                       .where = type_named(source, value_str(value_get(c, STR("schema")))) };
    arena_init(&run.arena);
    run.err = ERR_INIT(&run.arena);
    for (size_t i = 0; i < SUITES; i++)
        if (str_eq(suite, str_of(suites[i])))
            vectors_score(&counts[source * SUITES + i], run.where && checks[i](&run),
                          str_cstr(&files, value_str(value_get(c, STR("id")))));
    arena_done(&run.arena);
}

static struct value read_file(const char *name)
{
    struct value v;
    struct err err = ERR_INIT(&files);
    struct str text = vectors_read(&files, vectors_path(&files, "strategic-merge", name));
    if (json_read(&files, text, NULL, &v, &err) < 0) {
        printf("%s: " STR_FMT "\n", name, STR_ARG(err.msg));
        exit(1);
    }
    return v;
}

static void add_schemas(const char *name)
{
    struct value document = read_file(name);
    value_each_field (f, value_dig(&document, "components", "schemas"))
        value_put(&files, &schemas, f->key, value_borrow(&f->val));
}

static bool check_all(void)
{
    struct value schema = read_file("schema.json"), cases = read_file("cases.json");
    types = value_borrow(value_get(&schema, STR("types")));
    schemas = value_object();
    add_schemas("openapi/swagger-merge-item-v3.json");
    add_schemas("openapi/swagger-precision-item-v3.json");
    for (size_t source = 0; source < 2; source++)
        value_each_item (c, value_get(&cases, STR("cases")))
            check_case(source, c);
    return vectors_report(counts, 2 * SUITES);
}

int main(void)
{
    arena_init(&files);
    bool there = vectors_are_there(&files, "strategic-merge");
    bool good = there && check_all();
    arena_done(&files);
    return !there ? VECTORS_SKIPPED : good ? 0 : 1;
}
