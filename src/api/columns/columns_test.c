/* What all kinds have in common, and lists; the rules themselves are in the other columns_*_test.c.
 */
#include "api/columns/columns.h"

#include "api/columns/suite_columns.h"
#include "base/json.h"

/* ---- Ages and dates ---- */

static void ages_are_short(void **state)
{
    (void)state;
    static const struct {
        const char *time, *age;
    } rows[] = {
        { "2026-01-02T03:04:05Z", "0s" },
        { "2026-01-02T03:04:04.5Z", "0s" },
        { "2026-01-02T04:04:00+01:00", "5s" },
        { "2026-01-02T03:04:06Z", "0s" },
        { "2026-01-02T03:04:06.9Z", "0s" },
        { "2026-01-02T03:04:07Z", "<invalid>" },
        { "2026-01-02T03:02:06Z", "119s" },
        { "2026-01-02T03:02:05Z", "2m" },
        { "2026-01-02T03:01:35Z", "2m30s" },
        { "2026-01-02T02:54:06Z", "9m59s" },
        { "2026-01-02T02:54:00Z", "10m" },
        { "2026-01-02T00:04:06Z", "179m" },
        { "2026-01-02T00:04:05Z", "3h" },
        { "2026-01-01T23:44:05Z", "3h20m" },
        { "2026-01-01T19:04:06Z", "7h59m" },
        { "2026-01-01T19:04:05Z", "8h" },
        { "2026-01-01T02:04:05Z", "25h" },
        { "2025-12-31T03:04:06Z", "47h" },
        { "2025-12-31T03:04:05Z", "2d" },
        { "2025-12-30T22:04:05Z", "2d5h" },
        { "2025-12-25T03:04:06Z", "7d23h" },
        { "2025-12-25T03:04:05Z", "8d" },
        { "2024-01-03T03:04:06Z", "729d" },
        { "2024-01-03T03:04:05Z", "2y" },
        { "2023-11-19T03:04:05Z", "2y45d" },
        { "2018-01-05T03:04:05Z", "7y364d" },
        { "2018-01-04T03:04:05Z", "8y" },
        { "2000-01-01T00:00:00Z", "26y" },
        { "0002-01-01T00:00:00Z", "292y" },
        { "9000-01-01T00:00:00Z", "<invalid>" },
        { "0001-01-01T00:00:00Z", "<unknown>" },
        { "yesterday", "<unknown>" },
        { "", "<unknown>" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value obj = value_object();
        value_set(&a, value_ensure(&a, &obj, STR("metadata")), STR("creationTimestamp"),
                  value_string(str_of(rows[i].time)));
        struct value cells =
            columns_row(&a, suite_columns_resource("v1 serviceaccounts"), &obj, NOW_NS, NULL);
        assert_string_equal(str_cstr(&a, value_str(value_at(&cells, 1))), rows[i].age);
    }
    arena_done(&a);
}

static void kinds_without_a_rule_have_a_date(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 limitranges", "{" META "}", "['a','2026-01-02T03:00:00Z']" },
        { "rbac.authorization.k8s.io/v1 clusterroles",
          "{'metadata':{'name':'b','creationTimestamp':'2026-01-02T04:00:00.25+02:00'}}",
          "['b','2026-01-02T02:00:00Z']" },
        { "rbac.authorization.k8s.io/v1 roles", "{'metadata':{'name':'b'}}",
          "['b','0001-01-01T00:00:00Z']" },
        { "storage.k8s.io/v1 csistoragecapacities",
          "{'metadata':{'name':'b','creationTimestamp':null}}", "['b','0001-01-01T00:00:00Z']" },
    };
    SUITE_COLUMNS(rows);
}

/* ---- Definitions ---- */

static void definitions_say_all(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t v = 0; v < n_kind_versions; v++) {
        for (size_t i = 0; i < kind_versions[v].n_resources; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i];
            if (kind_stored(r) != r)
                continue; /* it is printed as it is stored */
            struct value list = columns_definitions(&a, r);
            assert_int_equal(list.n, r->n_columns ? r->n_columns : 2);
            value_each_item (def, &list) {
                struct str help = value_str(value_get(def, STR("description")));
                assert_int_equal(def->n, 5);
                assert_true(help.n > 0);
                if (str_eq(help, STR("A column of this resource.")))
                    fail_msg("nothing is said on column " STR_FMT " of " STR_FMT,
                             STR_ARG(value_str(value_get(def, STR("name")))), STR_ARG(r->plural));
            }
        }
    }
    arena_done(&a);
}

static void definitions_have_types_and_formats(void **state)
{
    (void)state;
    static const struct {
        const char *resource;
        size_t column;
        const char *want;
    } rows[] = {
        { "v1 pods", 0, "{'name':'Name','type':'string','format':'name','priority':0}" },
        { "v1 pods", 5, "{'name':'IP','type':'string','format':'','priority':1}" },
        { "v1 events", 9, "{'name':'Name','type':'string','format':'name','priority':1}" },
        { "v1 limitranges", 1, "{'name':'Created At','type':'date','format':'','priority':0}" },
        { "apps/v1 daemonsets", 1, "{'name':'Desired','type':'integer','format':'','priority':0}" },
        { "autoscaling/v1 scales", 0, "{'name':'Name','type':'string','format':'','priority':0}" },
        { "storage.k8s.io/v1 volumeattachments", 1,
          "{'name':'Attacher','type':'string','format':'name','priority':0}" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value list = columns_definitions(&a, suite_columns_resource(rows[i].resource));
        struct value *def = value_edit_at(&a, &list, rows[i].column);
        struct value want = suite_json(&a, rows[i].want);
        value_remove(&a, def, STR("description"));
        suite_json_same(def, &want, rows[i].resource);
    }
    arena_done(&a);
}

/* ---- Anything at all ---- */

/* Shapes that a field may have instead of its own. */
static const char *const shapes[] = {
    "null",
    "true",
    "-9223372036854775808",
    "9223372036854775807",
    "1e999",
    "''",
    "'\\u0000 \\u2028'",
    "[]",
    "{}",
    "[null,[],{},1,'x']",
    "[[[1]],{'name':5,'type':[],'status':{},'state':7,'controller':true,'served':true}]",
    "{'':null,'a':1,'b':[],'limits.':{},'name':{'name':1}}",
    "{'matchLabels':[1],'matchExpressions':{'a':1},'containers':5,'ingress':{},'conditions':'x'}",
    "{'matchLabels':{'a':1,'/':'x'},'matchExpressions':[1,{'operator':'In','values':'x'}]}",
};

/* The members of an object that the rules look at, each of them `shape`. */
static struct value all_of(struct arena *a, struct value *shape)
{
    static const char *const members[] = {
        "metadata",   "spec",           "status",    "subsets",
        "ports",      "endpoints",      "data",      "binaryData",
        "subjects",   "roleRef",        "webhooks",  "template",
        "conditions", "series",         "count",     "message",
        "source",     "involvedObject", "revision",  "value",
        "handler",    "type",           "eventTime", "allowVolumeExpansion",
        "regarding",  "reclaimPolicy",  "note",      "provisioner",
    };
    struct value obj = value_object();
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        value_add(a, &obj, str_of(members[i]), value_share(shape));
    return obj;
}

/* The fields of a type, down to some depth, each that is no struct being `shape`. */
static struct value filled(struct arena *a, const struct kind_type *t, struct value *shape,
                           int depth)
{
    struct value obj = value_object();
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        struct value v = value_share(shape);
        if (f->scalar == KIND_STRUCT && depth > 0) {
            v = filled(a, f->type, shape, depth - 1);
            struct value holder = f->shape == KIND_MAP ? value_object() : value_array();
            if (f->shape == KIND_MAP)
                value_add(a, &holder, STR("k"), v);
            else if (f->shape == KIND_LIST)
                value_push(a, &holder, v);
            if (f->shape != KIND_SINGLE)
                v = holder;
        }
        value_add(a, &obj, f->name, v);
    }
    return obj;
}

static void print_hostile(struct arena *a, const struct kind_resource *r, const struct value *obj)
{
    size_t columns = r->n_columns ? r->n_columns : 2;
    struct value cells = columns_row(a, r, obj, NOW_NS, NULL);
    struct value conditions = columns_conditions(a, r, obj);
    autobuf out = { 0 };
    json_write(&out, &cells);
    json_write(&out, &conditions);
    /* Addresses have one more than they have columns. */
    assert_int_equal(cells.n, columns + str_eq(r->type->name, STR("IPAddress")));
    value_each_item (cell, &cells)
        assert_true(cell->type == VALUE_STRING || cell->type == VALUE_INT ||
                    cell->type == VALUE_BOOL);
    const struct value *objs[] = { obj, obj };
    struct value lists[2];
    columns_list(a, r, objs, 2, NOW_NS, lists);
}

static void nothing_is_taken_for_granted(void **state)
{
    (void)state;
    for (size_t v = 0; v < n_kind_versions; v++) {
        for (size_t i = 0; i < kind_versions[v].n_resources; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i];
            if (kind_stored(r) != r)
                continue;
            struct arena a;
            arena_init(&a);
            for (size_t s = 0; s < ARRAY_LEN(shapes); s++) {
                struct value shape = suite_json(&a, shapes[s]);
                struct value members = all_of(&a, &shape), inner = all_of(&a, &members);
                struct value fields = filled(&a, r->type, &shape, 4);
                print_hostile(&a, r, &shape);
                print_hostile(&a, r, &members);
                print_hostile(&a, r, &inner);
                print_hostile(&a, r, &fields);
            }
            print_hostile(&a, r, NULL);
            arena_done(&a);
        }
    }
}

/* A user chooses how many gates, conditions and containers there are; the work must not be their
 * product. */
static void large_pods_take_little_time(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct value obj = value_object();
    struct value *spec = value_ensure(&a, &obj, STR("spec"));
    struct value gates = value_array(), inits = value_array(), conditions = value_array(),
                 statuses = value_array();
    enum { MANY = 40000 };
    for (int i = 0; i < MANY; i++) {
        struct value name = value_string(arena_printf(&a, "example.com/%d", i));
        struct value gate = value_object(), init = value_object(), status = value_object();
        struct value done = suite_json(&a, "{'terminated':{'exitCode':0}}");
        value_add(&a, &gate, STR("conditionType"), name);
        value_push(&a, &gates, gate);
        value_add(&a, &init, STR("name"), name);
        value_push(&a, &inits, init);
        value_add(&a, &status, STR("type"), name);
        value_add(&a, &status, STR("name"), name);
        value_add(&a, &status, STR("status"), value_string(STR("True")));
        value_add(&a, &status, STR("state"), done);
        value_push(&a, &conditions, value_share(&status));
        value_push(&a, &statuses, status);
    }
    value_add(&a, spec, STR("readinessGates"), gates);
    value_add(&a, spec, STR("initContainers"), inits);
    struct value *status = value_ensure(&a, &obj, STR("status"));
    value_add(&a, status, STR("conditions"), conditions);
    value_add(&a, status, STR("initContainerStatuses"), statuses);
    int64_t start = clock_mono_ns(&clock_system);
    struct value cells = columns_row(&a, suite_columns_resource("v1 pods"), &obj, NOW_NS, NULL);
    assert_true(clock_mono_ns(&clock_system) - start < 10 * NS_PER_SEC);
    assert_string_equal(str_cstr(&a, value_str(value_at(&cells, 8))), "40000/40000");
    arena_done(&a);
}

/* ---- Lists ---- */

static void check_list(const char *resource, const char *items, const char *want)
{
    struct arena a;
    arena_init(&a);
    struct value list = suite_json(&a, items), rows = value_array();
    const struct value *objs[8];
    struct value cells[8], expected = suite_json(&a, want);
    for (size_t i = 0; i < list.n; i++)
        objs[i] = value_at(&list, i);
    assert_true(columns_need_whole_list(suite_columns_resource(resource)));
    columns_list(&a, suite_columns_resource(resource), objs, list.n, NOW_NS, cells);
    for (size_t i = 0; i < list.n; i++)
        value_push(&a, &rows, value_share(value_edit_at(&a, &cells[i], 0)));
    suite_json_same(&rows, &expected, items);
    arena_done(&a);
}

#define CLASS(name, minute, annotation)                                                  \
    "{'metadata':{'name':'" name "','creationTimestamp':'2026-01-02T03:" minute ":00Z'," \
    "'annotations':{" annotation "}}}"
#define DEFAULT "'storageclass.kubernetes.io/is-default-class':'true'"
#define BETA    "'storageclass.beta.kubernetes.io/is-default-class':'true'"

static void the_youngest_default_class_is_marked(void **state)
{
    (void)state;
    const char *r = "storage.k8s.io/v1 storageclasses";
    check_list(r, "[]", "[]");
    check_list(r, "[" CLASS("a", "00", "") "," CLASS("b", "00", "'x':'true'") "]", "['a','b']");
    check_list(r, "[" CLASS("a", "00", DEFAULT) "," CLASS("b", "00", "") "]",
               "['a (default)','b']");
    check_list(r, "[" CLASS("a", "00", DEFAULT) "," CLASS("b", "01", BETA) "]",
               "['a','b (default)']");
    check_list(r, "[" CLASS("b", "02", BETA) "," CLASS("a", "02", DEFAULT) "]",
               "['b','a (default)']");
    check_list(r, "[" CLASS("a", "00", "'storageclass.kubernetes.io/is-default-class':'false'") "]",
               "['a']");
    /* Alone it is not said to be the default: there may be a younger one. */
    static const struct suite_cells alone = { "storage.k8s.io/v1 storageclasses",
                                              CLASS("a", "00", DEFAULT),
                                              "['a','','Delete','Immediate',false,'4m5s']" };
    suite_columns_run(&alone, 1);
}

static void flow_schemas_are_in_order_of_precedence(void **state)
{
    (void)state;
    check_list("flowcontrol.apiserver.k8s.io/v1 flowschemas",
               "[{'metadata':{'name':'c'},'spec':{'matchingPrecedence':10}},"
               "{'metadata':{'name':'a'},'spec':{'matchingPrecedence':20}},"
               "{'metadata':{'name':'b'},'spec':{'matchingPrecedence':10}}]",
               "['b','c','a']");
    assert_false(columns_need_whole_list(suite_columns_resource("v1 pods")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ages_are_short),
        cmocka_unit_test(kinds_without_a_rule_have_a_date),
        cmocka_unit_test(definitions_say_all),
        cmocka_unit_test(definitions_have_types_and_formats),
        cmocka_unit_test(nothing_is_taken_for_granted),
        cmocka_unit_test(large_pods_take_little_time),
        cmocka_unit_test(the_youngest_default_class_is_marked),
        cmocka_unit_test(flow_schemas_are_in_order_of_precedence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
