/* Every Table of the golden traces: its columns, and the cells of each row that is about an object
 * which an earlier answer of the same case has in full. Times within a day of the recording are
 * written <time> there and count as now, so that ages come out as "0s".
 *
 * Left out: custom resources, which have no kind table; columns that a step calls volatile; answers
 * to writes, whose outcome nobody has seen in full. */
#include "api/columns/columns.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/vectors_test.h"

#define NOW_TEXT "2026-01-02T03:04:05Z"
#define NOW_NS   (INT64_C(1767323045) * NS_PER_SEC)

enum suite { SUITE_DEFINITIONS, SUITE_ROWS, SUITE_COUNT };

static struct vectors_count counts[SUITE_COUNT] = {
    [SUITE_DEFINITIONS] = { .name = "golden, definitions" },
    [SUITE_ROWS] = { .name = "golden, rows" },
};
static size_t n_custom, n_unseen;

/* What a path is about. */
struct target {
    struct str group, version, resource, name, sub;
};

static struct target read_path(struct str path)
{
    struct target t = { 0 };
    path = str_cut(&path, '?');
    (void)str_cut(&path, '/');
    if (str_eq(str_cut(&path, '/'), STR("apis")))
        t.group = str_cut(&path, '/');
    t.version = str_cut(&path, '/');
    t.resource = str_cut(&path, '/');
    t.name = str_cut(&path, '/');
    t.sub = str_cut(&path, '/');
    if (str_eq(t.resource, STR("namespaces")) && t.sub.n) {
        t.resource = t.sub;
        t.name = str_cut(&path, '/');
        t.sub = str_cut(&path, '/');
    }
    return t;
}

static const struct kind_resource *find_resource(const struct target *t)
{
    const struct kind_version *v = kind_version_find(t->group, t->version);
    if (v && str_eq(t->sub, STR("scale")))
        return &columns_scale;
    for (size_t i = 0; v && i < v->n_resources; i++)
        if (str_eq(v->resources[i].plural, t->resource))
            return &v->resources[i];
    return NULL;
}

/* A Scale as the server makes it of a workload. */
static struct value scale_of(struct arena *a, const struct value *obj)
{
    struct value scale = value_object();
    value_add(a, &scale, STR("metadata"), *value_get(obj, STR("metadata")));
    value_add(a, &scale, STR("spec"), *value_get(obj, STR("spec")));
    return scale;
}

static bool is_answer_about(const struct value *step, const struct target *t, struct str name)
{
    const struct value *body = value_dig(step, "expect", "body");
    struct target u = read_path(value_str(value_get(step, STR("path"))));
    return str_eq(value_str(value_dig(body, "metadata", "name")), name) &&
           !str_eq(value_str(value_get(body, STR("kind"))), STR("Status")) &&
           str_eq(t->resource, u.resource) && str_eq(t->group, u.group) &&
           str_eq(t->version, u.version);
}

/* The newest state of the row's object before step `n`, or NULL. */
static const struct value *find_object(const struct value *steps, size_t n, const struct target *t,
                                       const struct value *row)
{
    const struct value *object = value_get(row, STR("object"));
    struct str name = value_str(value_dig(object, "metadata", "name"));
    if (value_is(object, VALUE_OBJECT) &&
        !str_eq(value_str(value_get(object, STR("kind"))), STR("PartialObjectMetadata")))
        return object;
    if (!name.n)
        name = value_str(value_at(value_get(row, STR("cells")), 0));
    while (n-- > 0)
        if (is_answer_about(value_at(steps, n), t, name))
            return value_dig(value_at(steps, n), "expect", "body");
    return NULL;
}

static bool is_volatile(const struct value *step, const struct kind_resource *r, size_t i)
{
    struct str column = i < r->n_columns ? r->columns[i].name : STR("");
    value_each_item (name, value_get(step, STR("volatileColumns")))
        if (str_eq(value_str(name), column))
            return true;
    return false;
}

static bool same_cells(const struct value *step, const struct kind_resource *r,
                       const struct value *want, const struct value *got)
{
    bool good = got->n == (value_is(want, VALUE_ARRAY) ? want->n : 0);
    for (size_t i = 0; good && i < got->n; i++)
        good = str_eq(value_str(value_at(want, i)), STR("<any>")) || is_volatile(step, r, i) ||
               value_eq(value_at(want, i), value_at(got, i));
    if (!good) {
        autobuf text = { 0 };
        json_write(&text, want);
        buf_str_add(&text, STR("\n got: "));
        json_write(&text, got);
        printf("want: " STR_FMT "\n", STR_ARG(buf_str(&text)));
    }
    return good;
}

static bool same_definitions(struct arena *a, const struct kind_resource *r,
                             const struct value *want)
{
    struct value got = columns_definitions(a, r);
    bool good = want->n == got.n;
    for (size_t i = 0; good && i < got.n; i++) {
        struct value x = value_borrow(value_at(want, i)), y = value_borrow(value_at(&got, i));
        good = value_str(value_get(&y, STR("description"))).n > 0;
        value_remove(a, &x, STR("description"));
        value_remove(a, &y, STR("description"));
        good = good && value_eq(&x, &y);
    }
    return good;
}

static void check_row(struct arena *a, const struct value *steps, size_t n,
                      const struct kind_resource *r, const struct value *row, struct str id)
{
    const struct value *step = value_at(steps, n);
    struct target t = read_path(value_str(value_get(step, STR("path"))));
    const struct value *obj = find_object(steps, n, &t, row);
    struct str method = value_str(value_get(step, STR("method")));
    if (!obj || (!str_eq(method, STR("GET")) && !str_eq(method, STR("DELETE")))) {
        n_unseen++;
        if (getenv("VERBOSE"))
            printf("state not seen before: " STR_FMT "\n", STR_ARG(id));
        return;
    }
    struct value scale = r == &columns_scale ? scale_of(a, obj) : value_null();
    if (scale.type == VALUE_OBJECT)
        obj = &scale;
    struct value cells = columns_row(a, r, obj, NOW_NS, NULL);
    struct value conditions = columns_conditions(a, r, obj), none = value_null();
    const struct value *want = value_get(row, STR("conditions"));
    bool good = same_cells(step, r, value_get(row, STR("cells")), &cells);
    good = value_eq(want ? want : &none, &conditions) && good;
    vectors_score(&counts[SUITE_ROWS], good, str_cstr(a, id));
}

static void check_table(struct arena *a, const struct value *steps, size_t n,
                        const struct value *table, struct str id)
{
    struct target t = read_path(value_str(value_dig(value_at(steps, n), "path")));
    const struct kind_resource *r = find_resource(&t);
    if (!str_eq(value_str(value_get(table, STR("kind"))), STR("Table")))
        return;
    if (!r) {
        n_custom++;
        return;
    }
    const struct value *definitions = value_get(table, STR("columnDefinitions"));
    if (value_is(definitions, VALUE_ARRAY)) /* later events of a watch have none */
        vectors_score(&counts[SUITE_DEFINITIONS], same_definitions(a, r, definitions),
                      str_cstr(a, id));
    value_each_item (row, value_get(table, STR("rows")))
        check_row(a, steps, n, r, row, id);
}

/* Marks become values of their sort: a uid may stand in a label, where <uid:1> may not. */
static struct str without_marks(struct arena *a, struct str line)
{
    struct str time = STR("<time>"), uid = STR("<uid:");
    autobuf out = { 0 };
    while (line.n) {
        if (str_starts(line, time)) {
            buf_str_add(&out, STR(NOW_TEXT));
            line = str_skip(line, time.n);
        } else if (str_starts(line, uid)) {
            buf_str_add(&out, STR("uid-"));
            line = str_skip(line, uid.n);
            buf_str_add(&out, str_cut(&line, '>'));
        } else {
            buf_byte(&out, line.p[0]);
            line = str_skip(line, 1);
        }
    }
    return arena_str(a, buf_str(&out));
}

static void check_case(struct arena *a, struct str line)
{
    struct value c;
    if (json_read(a, without_marks(a, line), NULL, &c, NULL) < 0)
        exit(1);
    const struct value *steps = value_get(&c, STR("steps"));
    for (size_t n = 0; value_is(steps, VALUE_ARRAY) && n < steps->n; n++) {
        const struct value *expect = value_get(value_at(steps, n), STR("expect"));
        struct str id =
            arena_printf(a, STR_FMT " %zu", STR_ARG(value_str(value_get(&c, STR("id")))), n);
        check_table(a, steps, n, value_get(expect, STR("body")), id);
        value_each_item (event, value_get(expect, STR("events")))
            check_table(a, steps, n, value_get(event, STR("object")), id);
    }
}

static void check_file(struct arena *a, const char *name)
{
    struct str text = vectors_read(a, vectors_path(a, "golden", name));
    while (text.p && text.n) {
        struct str line = str_cut(&text, '\n');
        struct arena scratch;
        arena_init(&scratch);
        if (line.n && memmem(line.p, line.n, "\"Table\"", 7))
            check_case(&scratch, line);
        arena_done(&scratch);
    }
}

int main(void)
{
    struct arena a;
    struct dirent **names;
    arena_init(&a);
    if (!vectors_are_there(&a, "golden"))
        return VECTORS_SKIPPED;
    size_t n = vectors_list(vectors_path(&a, "golden", ""), &names);
    for (size_t i = 0; i < n; i++) {
        if (str_ends(str_of(names[i]->d_name), STR(".jsonl")))
            check_file(&a, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    bool good = vectors_report(counts, SUITE_COUNT);
    printf("left out: %zu tables of custom resources, %zu rows whose object is not seen before "
           "(VERBOSE=1 names them)\n",
           n_custom, n_unseen);
    arena_done(&a);
    return good ? 0 : 1;
}
