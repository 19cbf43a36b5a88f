/* The cases of upstream's own tests of structured merge: sets of fields, their JSON, and objects
 * merged, compared and pruned by the schemas of schemas.json.
 *
 * Left out: what is Go only, extraction of fields (clients do that), changes of a schema, and
 * objects that are converted between versions. */
#include "base/idiom.h"
#include "base/json.h"
#include "base/vectors_test.h"
#include "merge/managed.h"
#include "merge/ssa_schemas_test.h"

static struct arena files;

struct run {
    struct arena *arena;
    const struct value *c;
    struct ownership_place root;
    struct err err;
};

/* ---- helpers ---- */

static const struct value *get(const struct run *run, const char *name)
{
    return value_get(run->c, str_of(name));
}

static bool is_true(const struct run *run, const char *name)
{
    const struct value *v = get(run, name);
    return v && v->type == VALUE_BOOL && v->b;
}

static const struct fieldset *set_of(struct run *run, const struct value *v)
{
    const struct fieldset *s = NULL;
    const struct value *fields = value_get(v, STR("fieldsV1"));
    if (fields && fieldset_read(run->arena, fields, &s, &run->err) < 0)
        printf(STR_FMT "\n", STR_ARG(run->err.msg));
    return s;
}

static bool same_set(struct run *run, const struct fieldset *have, const char *name)
{
    const struct fieldset *want = set_of(run, get(run, name));
    if (fieldset_eq(have, want))
        return true;
    autobuf out = { 0 };
    struct value v = fieldset_write(run->arena, have);
    json_write(&out, &v);
    printf("%s is " STR_FMT "\n", name, STR_ARG(buf_str(&out)));
    return false;
}

static bool same_value(const struct value *have, const struct value *want)
{
    if (value_eq(have, want))
        return true;
    autobuf out = { 0 };
    json_write(&out, have);
    printf("result is " STR_FMT "\n", STR_ARG(buf_str(&out)));
    return false;
}

static const struct value *or_null(const struct value *v)
{
    static const struct value null = { .type = VALUE_NULL };
    return v ? v : &null;
}

/* ---- objects ---- */

static bool check_merge(struct run *run)
{
    struct value out;
    int r = ownership_merge(run->arena, &schemas, run->root, get(run, "lhs"), get(run, "rhs"), &out,
                            &run->err);
    return r == 0 && same_value(&out, or_null(get(run, "out")));
}

static bool check_compare(struct run *run)
{
    struct ownership_changes changes;
    if (ownership_compare(run->arena, &schemas, run->root, get(run, "lhs"), get(run, "rhs"),
                          &changes, &run->err) < 0)
        return false;
    bool same = same_set(run, changes.removed, "removed");
    same = same_set(run, changes.modified, "modified") && same;
    return same_set(run, changes.added, "added") && same;
}

static bool check_paths(struct run *run)
{
    const struct fieldset *s;
    return ownership_paths(run->arena, &schemas, run->root, get(run, "object"), &s, &run->err) ==
               0 &&
           same_set(run, s, "set");
}

static bool check_remove(struct run *run)
{
    const struct value *want = value_get(get(run, "removeOutput"), STR("object"));
    struct value out = ownership_remove(run->arena, &schemas, run->root, get(run, "object"),
                                        set_of(run, get(run, "set")));
    return same_value(&out, or_null(want));
}

static bool check_named(struct run *run)
{
    return same_set(
        run, ownership_named(run->arena, &schemas, run->root, set_of(run, get(run, "before"))),
        "after");
}

static bool check_valid(struct run *run)
{
    const struct value *object = get(run, "object");
    return !object || (ownership_check(run->arena, &schemas, run->root, object, &run->err) == 0) ==
                          is_true(run, "valid");
}

/* ---- sets ---- */

static bool check_has(struct run *run)
{
    struct fieldset_step path[64];
    size_t n = 0;
    value_each_item (text, get(run, "path"))
        if (n == 64 || fieldset_step_read(run->arena, value_str(text), &path[n++], &run->err) < 0)
            return false;
    return fieldset_has(set_of(run, get(run, "set")), path, n) == is_true(run, "has");
}

static bool check_equals(struct run *run)
{
    return fieldset_eq(set_of(run, get(run, "a")), set_of(run, get(run, "b"))) ==
           is_true(run, "equal");
}

static bool check_union(struct run *run)
{
    const struct fieldset *a = set_of(run, get(run, "a")), *b = set_of(run, get(run, "b"));
    return same_set(run, fieldset_union(run->arena, a, b), "union");
}

static bool check_difference(struct run *run)
{
    const struct fieldset *a = set_of(run, get(run, "a")), *b = set_of(run, get(run, "b"));
    return same_set(run, fieldset_difference(run->arena, a, b), "difference") &&
           same_set(run, fieldset_without(run->arena, a, b), "recursiveDifference");
}

static bool check_leaves(struct run *run)
{
    return same_set(run, fieldset_leaves(run->arena, set_of(run, get(run, "input"))), "expected");
}

/* ---- text ---- */

static bool round_trip(struct run *run, const char *wanted)
{
    struct value v, written;
    const struct fieldset *s;
    if (json_read(run->arena, value_str(get(run, "text")), NULL, &v, &run->err) < 0 ||
        fieldset_read(run->arena, &v, &s, &run->err) < 0)
        return false;
    autobuf out = { 0 };
    written = fieldset_write(run->arena, s);
    json_write(&out, &written);
    return !wanted || str_eq(buf_str(&out), value_str(get(run, wanted)));
}

static bool check_round_trip(struct run *run)
{
    return round_trip(run, "text");
}

static bool check_normalize(struct run *run)
{
    return round_trip(run, "normalized");
}

static bool check_parse(struct run *run)
{
    return round_trip(run, NULL) == is_true(run, "ok");
}

static bool check_step(struct run *run)
{
    struct fieldset_step step;
    return fieldset_step_read(run->arena, value_str(get(run, "text")), &step, &run->err) == 0 &&
           str_eq(fieldset_step_text(run->arena, &step), value_str(get(run, "canonical")));
}

static bool check_step_error(struct run *run)
{
    struct fieldset_step step;
    return fieldset_step_read(run->arena, value_str(get(run, "text")), &step, &run->err) < 0;
}

static bool check_path_text(struct run *run)
{
    autobuf out = { 0 };
    value_each_item (text, get(run, "path")) {
        struct fieldset_step step;
        if (fieldset_step_read(run->arena, value_str(text), &step, &run->err) < 0)
            return false;
        fieldset_step_write(&out, &step);
    }
    return str_eq(buf_str(&out), value_str(get(run, "text")));
}

static bool check_value_order(struct run *run)
{
    const struct value *a = get(run, "a"), *b = get(run, "b");
    if (value_get(a, STR("$invalid")) || value_get(b, STR("$invalid")))
        return true; /* there is no such value here */
    int there = fieldset_value_cmp(a, b), back = fieldset_value_cmp(b, a);
    return is_true(run, "equal") ? !there && !back : there < 0 && back > 0;
}

static bool check_step_order(struct run *run)
{
    struct fieldset_step a, b;
    if (!get(run, "a")->n)
        return true; /* nor a step that is none */
    if (fieldset_step_read(run->arena, value_str(get(run, "a")), &a, &run->err) < 0 ||
        fieldset_step_read(run->arena, value_str(get(run, "b")), &b, &run->err) < 0)
        return false;
    int there = fieldset_step_cmp(&a, &b), back = fieldset_step_cmp(&b, &a);
    return is_true(run, "equal") ? !there && !back : there < 0 && back > 0;
}

/* ---- sequences of updates and applies ---- */

/* A field or container that was taken away is as good as one that is null. */
static struct value without_nulls(struct arena *a, const struct value *v)
{
    struct value out = value_borrow(v);
    if (v->type == VALUE_OBJECT) {
        out = value_object();
        value_each_field (f, v)
            if (f->val.type != VALUE_NULL)
                value_put_new(a, &out, f->key, without_nulls(a, &f->val));
    }
    return out;
}

/* The sequence has come to an object as it should be, with the managers it should have. */
static bool has_arrived(struct run *run, const struct value *state)
{
    const struct value *expect = get(run, "expect"), *object = value_get(expect, STR("object"));
    const struct value *managed = value_get(expect, STR("managed"));
    const struct value *entries = value_dig(state, "metadata", "managedFields");
    struct value have = without_nulls(run->arena, state);
    value_drop(run->arena, &have, STR("metadata"));
    if (value_is(object, VALUE_OBJECT)) {
        struct value want = without_nulls(run->arena, object);
        if (!same_value(&have, &want))
            return false;
    }
    bool same = !managed || managed->n == (entries ? entries->n : 0);
    value_each_item (e, managed ? entries : NULL) {
        const struct value *want = value_get(managed, value_str(value_get(e, STR("manager"))));
        const struct fieldset *fields = NULL;
        same = same && want &&
               fieldset_read(run->arena, value_get(e, STR("fieldsV1")), &fields, NULL) == 0 &&
               fieldset_eq(fields, set_of(run, want)) &&
               str_eq(value_str(value_get(e, STR("apiVersion"))),
                      value_str(value_get(want, STR("version"))));
    }
    if (!same && entries)
        (void)same_value(entries, managed);
    return same;
}

static const struct fieldset *reset_of(struct run *run, struct str version)
{
    const struct value *set = value_get(get(run, "ignoredFields"), version);
    const struct value *filter = value_get(get(run, "ignoreFilter"), version);
    return set_of(run, set ? set : value_get(filter, STR("excludeSet")));
}

/* One operation on `*state`, which is NULL before the first. */
static int operate(struct run *run, const struct value *op, struct value **state)
{
    static const struct value empty = { .type = VALUE_OBJECT };
    const struct value *object = value_get(op, STR("object"));
    const struct value *force = value_get(op, STR("force"));
    struct managed_request req = { .schema = &schemas,
                                   .place = run->root,
                                   .manager = value_str(value_get(op, STR("manager"))),
                                   .api_version = value_str(value_get(op, STR("version"))),
                                   .now = STR("2001-02-03T04:05:06Z"),
                                   .empty = &empty };
    struct value *next = arena_new(run->arena, struct value);
    if (schemas_types && !value_str(get(run, "type")).n)
        req.place.at = schema_type(req.api_version);
    req.reset = reset_of(run, req.api_version);
    int r = 0;
    if (str_eq(value_str(value_get(op, STR("op"))), STR("update"))) {
        *next = value_borrow(object);
        r = managed_update(run->arena, &req, *state, next, &run->err);
    } else {
        r = managed_check(run->arena, &req, object, &run->err);
        if (r == 0)
            r = managed_apply(run->arena, &req, *state, object, force && force->b, next, &run->err);
    }
    if (r == 0)
        *state = next;
    return r;
}

static size_t n_causes(const struct err *err)
{
    size_t n = 0;
    for (const struct err_cause *c = err->causes; c; c = c->next)
        n++;
    return n;
}

static bool check_operations(struct run *run)
{
    struct value *state = NULL;
    const struct value *fails = value_dig(get(run, "expect"), "error");
    value_each_item (op, get(run, "ops")) {
        const struct value *conflicts = value_get(op, STR("conflicts"));
        size_t n = conflicts ? conflicts->n : 0;
        int r = operate(run, op, &state);
        if (r < 0 && r != -ERR_CONFLICT)
            return fails && fails->type != VALUE_NULL;
        if ((r < 0) != (n > 0) || n_causes(&run->err) != n)
            return false;
        err_clear(&run->err);
    }
    return state && has_arrived(run, state);
}

/* ---- all of them ---- */

static struct {
    const char *name;
    bool (*check)(struct run *run);
    size_t floor, passed, total;
} suites[] = {
    { "operations", check_operations, 73, 0, 0 },
    { "merge", check_merge, 70, 0, 0 },
    { "compare", check_compare, 78, 0, 0 },
    { "toFieldSet", check_paths, 33, 0, 0 },
    { "removeExtract", check_remove, 32, 0, 0 },
    { "validate", check_valid, 45, 0, 0 },
    { "ensureNamedFieldsAreMembers", check_named, 4, 0, 0 },
    { "setHas", check_has, 9, 0, 0 },
    { "setEquals", check_equals, 7, 0, 0 },
    { "setUnion", check_union, 1, 0, 0 },
    { "setDifference", check_difference, 6, 0, 0 },
    { "setLeaves", check_leaves, 3, 0, 0 },
    { "fieldsV1RoundTrip", check_round_trip, 3, 0, 0 },
    { "fieldsV1Normalize", check_normalize, 3, 0, 0 },
    { "fieldsV1Parse", check_parse, 50, 0, 0 },
    { "pathElementRoundTrip", check_step, 16, 0, 0 },
    { "pathElementParse", check_step, 12, 0, 0 },
    { "pathElementError", check_step_error, 13, 0, 0 },
    { "pathElementLess", check_step_order, 11, 0, 0 },
    { "pathString", check_path_text, 9, 0, 0 },
    { "valueLess", check_value_order, 38, 0, 0 },
};
enum { N_SUITES = ARRAY_LEN(suites) };

/* What is left out, and where upstream's own answer does not fit its schema. */
static bool is_open(const struct value *c)
{
    const struct value *converter = value_get(c, STR("converter"));
    value_each_item (op, value_get(c, STR("ops"))) {
        struct str name = value_str(value_get(op, STR("op")));
        if (!str_eq(name, STR("apply")) && !str_eq(name, STR("update")))
            return true;
    }
    return value_dig(c, "removeOutput", "unparseable") ||
           (converter && !str_eq(value_str(converter), STR("identity")));
}

static void check_case(const struct value *all_schemas, const struct value *c)
{
    struct arena a;
    struct run run = { .arena = &a, .c = c };
    arena_init(&a);
    run.err = ERR_INIT(&a);
    schemas_types =
        value_get(value_get(all_schemas, value_str(value_get(c, STR("schema")))), STR("types"));
    run.root.at = schemas_types ? schema_type(value_str(value_get(c, STR("type")))) : NULL;
    for (size_t i = 0; i < N_SUITES; i++) {
        if (is_open(c) || !str_eq(value_str(value_get(c, STR("kind"))), str_of(suites[i].name)))
            continue;
        bool passed = suites[i].check(&run);
        suites[i].total++;
        suites[i].passed += passed;
        if (!passed)
            printf("FAILED " STR_FMT ": " STR_FMT "\n", STR_ARG(value_str(value_get(c, STR("id")))),
                   STR_ARG(run.err.msg));
    }
    arena_done(&a);
}

static struct value read_file(const char *name)
{
    struct value v;
    struct err err = ERR_INIT(&files);
    struct str text = vectors_read(&files, vectors_path(&files, "ssa", name));
    if (json_read(&files, text, NULL, &v, &err) < 0) {
        printf("%s: " STR_FMT "\n", name, STR_ARG(err.msg));
        exit(1);
    }
    return v;
}

static bool check_all(void)
{
    bool good = true;
    struct value all_schemas = read_file("schemas.json"), cases = read_file("cases.json");
    value_each_item (c, value_get(&cases, STR("cases")))
        check_case(&all_schemas, c);
    for (size_t i = 0; i < N_SUITES; i++) {
        printf("%s: %zu/%zu (at least %zu)\n", suites[i].name, suites[i].passed, suites[i].total,
               suites[i].floor);
        good = good && suites[i].passed >= suites[i].floor;
    }
    return good;
}

int main(void)
{
    arena_init(&files);
    arena_init(&schemas_arena);
    bool there = vectors_are_there(&files, "ssa");
    bool good = there && check_all();
    arena_done(&schemas_arena);
    arena_done(&files);
    return !there ? VECTORS_SKIPPED : good ? 0 : 1;
}
