#include "server/apiservice/apiservice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "server/apiservice/apiservice_explore.h"
#include "server/discovery/catalog.h"
#include "server/object/stored.h"

static struct arena arena;
static struct store *store;
static struct apiservices *all;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    assert_int_equal(store_open(&(struct store_options){ .engine = STORE_MEMORY }, &store, NULL),
                     0);
    all = apiservices_new(store, &(struct apiservices_options){ 0 });
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    all = apiservices_free(all);
    store = store_close(store);
    arena_done(&arena);
    return 0;
}

/* ---- Writing ---- */

static void commit(struct store_op op)
{
    struct err err = ERR_INIT(&arena);
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(store, &txn, &err), 0);
}

static void put(const char *name, const char *spec)
{
    struct err err = ERR_INIT(&arena);
    struct value obj;
    struct str text = arena_printf(&arena,
                                   "{\"metadata\":{\"name\":\"%s\",\"uid\":\"u\","
                                   "\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":%s}",
                                   name, spec);
    autobuf bytes = { 0 };
    assert_int_equal(json_read(&arena, text, NULL, &obj, &err), 0);
    stored_write(&bytes, apiservices_resource(), &obj);
    commit(
        (struct store_op){ .type = STORE_PUT,
                           .key = stored_key(&arena, apiservices_resource(), STR(""), str_of(name)),
                           .value = arena_str(&arena, buf_str(&bytes)),
                           .expect_rev = STORE_ANY });
    assert_int_equal(apiservices_refresh(all, str_of(name), &err), 0);
}

static void drop(const char *name)
{
    commit(
        (struct store_op){ .type = STORE_DELETE,
                           .key = stored_key(&arena, apiservices_resource(), STR(""), str_of(name)),
                           .expect_rev = STORE_ANY });
    assert_int_equal(apiservices_refresh(all, str_of(name), NULL), 0);
}

#define FOREIGN(group, version, group_priority, version_priority)                          \
    "{\"group\":\"" group "\",\"version\":\"" version                                      \
    "\",\"groupPriorityMinimum\":" group_priority ",\"versionPriority\":" version_priority \
    ",\"insecureSkipTLSVerify\":true,"                                                     \
    "\"service\":{\"namespace\":\"ns\",\"name\":\"s\"}}"

/* ---- The index ---- */

static void what_is_written_counts(void **state)
{
    (void)state;
    assert_false(apiservices_has_foreign(all));
    put("v1.local.test", "{\"group\":\"local.test\",\"version\":\"v1\"}");
    assert_false(apiservices_has_foreign(all));
    put("v1.tea.test", FOREIGN("tea.test", "v1", "1000", "15"));
    assert_true(apiservices_has_foreign(all));
    struct apiservice *s = apiservices_find(all, STR("tea.test"), STR("v1"));
    assert_non_null(s);
    assert_false(apiservice_is_local(s));
    assert_int_equal(s->service_port, 443);
    assert_false(s->is_available);
    assert_int_equal(s->tls_name.n, 0); /* nobody looks at its certificate */
    drop("v1.tea.test");
    assert_false(apiservices_has_foreign(all));
    assert_null(apiservices_find(all, STR("tea.test"), STR("v1")));
    assert_true(str_eq(s->group, STR("tea.test"))); /* who has it keeps it */
    apiservice_unref(s);
}

static void what_was_told_goes_with_it(void **state)
{
    struct apiservice_told told = { .resources = STR("[]"), .openapi_url = STR("/x") };
    (void)state;
    apiservices_tell(all, STR("v1.tea.test"), &told); /* there is none */
    assert_false(apiservices_told(all, &arena, STR("v1.tea.test"), &told));
    put("v1.tea.test", FOREIGN("tea.test", "v1", "1000", "15"));
    apiservices_tell(all, STR("v1.tea.test"), &told);
    told = (struct apiservice_told){ 0 };
    assert_true(apiservices_told(all, &arena, STR("v1.tea.test"), &told));
    assert_true(str_eq(told.openapi_url, STR("/x")));
    put("v1.tea.test", FOREIGN("tea.test", "v1", "1000", "16")); /* a change keeps it */
    assert_true(apiservices_told(all, &arena, STR("v1.tea.test"), &told));
    drop("v1.tea.test");
    assert_false(apiservices_told(all, &arena, STR("v1.tea.test"), &told));
}

/* A start finds what was there. */
static void all_are_loaded(void **state)
{
    struct err err = ERR_INIT(&arena);
    (void)state;
    put("v1.tea.test", FOREIGN("tea.test", "v1", "1000", "15"));
    struct apiservices *again = apiservices_new(store, &(struct apiservices_options){ 0 });
    assert_int_equal(apiservices_load(again, &err), 0);
    assert_true(apiservices_has_foreign(again));
    apiservices_free(again);
}

/* ---- The order of discovery ---- */

static size_t place_of(const struct catalog *c, const char *group)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->versions[i].group, str_of(group)))
            return i;
    fail_msg("%s is not there", group);
    return 0;
}

static void priorities_decide_the_order(void **state)
{
    struct catalog c;
    (void)state;
    put("v1.apps", "{\"group\":\"apps\",\"version\":\"v1\",\"groupPriorityMinimum\":17800,"
                   "\"versionPriority\":15}");
    put("v1.late.test", FOREIGN("late.test", "v1", "500", "15"));
    put("v1.early.test", FOREIGN("early.test", "v1", "17900", "10"));
    put("v2.early.test", FOREIGN("early.test", "v2", "17900", "10"));
    put("v1beta1.early.test", FOREIGN("early.test", "v1beta1", "17900", "20"));
    put("v9.apps", FOREIGN("apps", "v9", "17800", "99"));
    catalog_make(&arena, KIND_CURRENT_VERSIONS, NULL, all, &c);
    assert_true(place_of(&c, "early.test") < place_of(&c, "late.test"));
    assert_int_equal(place_of(&c, "late.test"), c.n - 1);
    size_t at = place_of(&c, "early.test");
    assert_true(str_eq(c.versions[at].version, STR("v1beta1")));
    assert_true(str_eq(c.versions[at + 1].version, STR("v2")));
    assert_true(str_eq(c.versions[at + 2].version, STR("v1")));
    at = place_of(&c, "apps"); /* more preferred than what is built in, and not served here */
    assert_true(str_eq(c.versions[at].version, STR("v9")));
    assert_null(catalog_find(&c, STR("apps"), STR("v9")));
    assert_non_null(catalog_find(&c, STR("apps"), STR("v1")));
    catalog_done(&c);
}

/* ---- What extension servers say ---- */

static void resources_as_discovery_lists_them(void **state)
{
    static const struct {
        const char *list, *want; /* NULL: it is none */
    } rows[] = {
        { "{\"resources\":[]}", "[]" },
        { "{\"resources\":[{\"name\":\"cups\",\"singularName\":\"cup\",\"namespaced\":true,"
          "\"kind\":\"Cup\",\"verbs\":[\"get\"],\"shortNames\":[\"cu\"]},"
          "{\"name\":\"cups/"
          "scale\",\"group\":\"autoscaling\",\"version\":\"v1\",\"kind\":\"Scale\","
          "\"verbs\":[\"update\"]},{\"name\":\"pots/scale\",\"kind\":\"Scale\"}]}",
          "[{\"resource\":\"cups\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":"
          "\"Cup\"},\"scope\":\"Namespaced\",\"singularResource\":\"cup\",\"verbs\":[\"get\"],"
          "\"shortNames\":[\"cu\"],\"subresources\":[{\"subresource\":\"scale\",\"responseKind\":{"
          "\"group\":\"autoscaling\",\"version\":\"v1\",\"kind\":\"Scale\"},\"verbs\":[\"update\"]}"
          "]}]" },
        { "{\"resources\":[{\"name\":\"pots\",\"kind\":\"Pot\",\"categories\":[\"all\"]}]}",
          "[{\"resource\":\"pots\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":"
          "\"Pot\"},\"scope\":\"Cluster\",\"singularResource\":\"\",\"categories\":[\"all\"]}]" },
        { "{not json", NULL },
        { "[]", NULL },
        { "{\"resources\":{}}", NULL },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str got = STR("");
        bool is_one = apiservice_resources(&arena, str_of(rows[i].list), &got);
        assert_int_equal(is_one, rows[i].want != NULL);
        if (is_one)
            assert_string_equal(str_cstr(&arena, got), rows[i].want);
    }
}

/* Too many are none. */
static void too_many_resources_are_refused(void **state)
{
    autobuf list = { 0 };
    struct str got;
    (void)state;
    buf_printf(&list, "{\"resources\":[");
    for (int i = 0; i < 1001; i++)
        buf_printf(&list, "%s{\"name\":\"r%d\"}", i ? "," : "", i);
    buf_printf(&list, "]}");
    assert_false(apiservice_resources(&arena, buf_str(&list), &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_told_goes_with_it, setup, teardown),
        cmocka_unit_test_setup_teardown(all_are_loaded, setup, teardown),
        cmocka_unit_test_setup_teardown(priorities_decide_the_order, setup, teardown),
        cmocka_unit_test_setup_teardown(resources_as_discovery_lists_them, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_resources_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
