/* What etcd has and what the mirror keeps of it: every stored kind as Go wrote it there and back,
 * byte for byte, and what is no object. */
#include "server/object/etcd_form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/codec/round_trip_test.h"
#include "server/object/stored.h"

static struct arena arena;
static struct etcd_form form;

static struct str name_kind(void *arg, struct arena *a, struct str group, struct str plural)
{
    (void)arg;
    (void)a;
    bool is_known = str_eq(group, STR("example.com")) && str_eq(plural, STR("teas"));
    return is_known ? STR("Tea") : STR("");
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    etcd_form_init(&form);
    form.kind_of = name_kind;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct str kept(const char *key, struct str value)
{
    autobuf out = { 0 };
    int r = etcd_form_keep(&form.codec, str_of(key), value, &out);
    return r ? arena_str(&arena, buf_str(&out)) : value;
}

static struct str sealed(const char *key, struct str value)
{
    autobuf out = { 0 };
    assert_int_equal(form.codec.seal(&form.codec, str_of(key), value, &out, NULL), 1);
    return arena_str(&arena, buf_str(&out));
}

/* ---- Vectors ---- */

static struct vectors_count there = { .name = "etcd to the mirror and back, byte for byte" };

/* The resource that has objects of the type and is its own storage; NULL if there is none. */
static const struct kind_resource *stored_as(const struct kind_type *t)
{
    for (size_t v = 0; t && v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i];
            if (r->type == t && kind_stored(r) == r && r->etcd_prefix.n)
                return r;
        }
    return NULL;
}

/* Without the revision, which etcd gives. */
static struct str without_revision(struct round_trip *r)
{
    struct proto_envelope env;
    struct value obj;
    autobuf out = { 0 };
    if (proto_envelope_read(r->files[ROUND_TRIP_PROTO], &env, NULL) < 0 ||
        proto_read(&r->arena, r->type, env.raw, env.api_version, env.kind, &obj, NULL) < 0)
        return STR("");
    value_drop(&r->arena, value_ensure(&r->arena, &obj, STR("metadata")), STR("resourceVersion"));
    proto_envelope_write(&out, r->type, &obj);
    return arena_str(&r->arena, buf_str(&out));
}

static void check(struct round_trip *r)
{
    const struct kind_resource *resource = stored_as(r->type);
    if (!resource || str_eq(resource->group, STR("apiextensions.k8s.io")) ||
        str_eq(resource->group, STR("apiregistration.k8s.io")))
        return;
    struct str key = arena_printf(&r->arena, STR_FMT "/ns/name", STR_ARG(resource->etcd_prefix));
    struct str stored = kept(str_cstr(&r->arena, key), r->files[ROUND_TRIP_PROTO]);
    bool is_stored = stored.n && stored.p[0] == 'J';
    struct str back = is_stored ? sealed(str_cstr(&r->arena, key), stored) : STR("");
    vectors_score(&there, is_stored && str_eq(back, without_revision(r)), r->name);
}

static void every_stored_kind(void **state)
{
    (void)state;
    if (!vectors_are_there(&arena, "k8s-roundtrip"))
        skip();
    round_trips_each(check);
    assert_true(vectors_report(&there, 1));
}

/* ---- Others ---- */

static void definitions_are_json(void **state)
{
    (void)state;
    const char *key = "/registry/apiextensions.k8s.io/customresourcedefinitions/teas.example.com";
    struct str json =
        STR("{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/v1\","
            "\"metadata\":{\"name\":\"teas.example.com\",\"uid\":\"u\",\"creationTimestamp\":"
            "\"2026-01-01T00:00:00Z\"},\"spec\":{\"group\":\"example.com\",\"names\":{\"plural\":"
            "\"teas\",\"kind\":\"Tea\"},\"scope\":\"Cluster\",\"versions\":null},\"status\":{}}\n");
    struct str stored = kept(key, json);
    assert_int_equal(stored.p[0], 'J');
    struct str back = sealed(key, stored);
    assert_true(str_starts(
        back, STR("{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResource")));
    struct str again = kept(key, back);
    assert_true(str_eq(again, stored));
}

static void custom_objects_are_json(void **state)
{
    (void)state;
    const char *key = "/registry/example.com/teas/ns/green";
    struct str json = STR("{\"apiVersion\":\"example.com/v1\",\"kind\":\"Tea\",\"metadata\":{"
                          "\"name\":\"green\",\"namespace\":\"ns\",\"uid\":\"u\","
                          "\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},\"cups\":3}\n");
    struct store_entry e = { .key = str_of(key), .value = kept(key, json), .mod_rev = 7 };
    struct stored s;
    assert_int_equal(stored_open(&e, &s, NULL), 0);
    assert_true(str_eq(s.version, STR("v1")));
    assert_int_equal(s.mark, 0);
    assert_true(str_eq(sealed(key, e.value), json));
    autobuf out = { 0 };
    assert_true(form.codec.seal(&form.codec, STR("/registry/example.com/mugs/ns/green"), e.value,
                                &out, NULL) < 0);
}

/* Else each update that changes nothing would be written, and seen, and answered by another. */
static void a_mark_alone_is_no_change(void **state)
{
    (void)state;
    struct str foreign =
        kept("/registry/example.com/teas/ns/green",
             STR("{\"apiVersion\":\"example.com/v1\",\"kind\":\"Tea\",\"metadata\":{"
                 "\"name\":\"green\",\"creationTimestamp\":"
                 "\"2026-01-01T00:00:00Z\"},\"cups\":3}"));
    char *own = arena_dup(&arena, foreign.p, foreign.n);
    struct str now = { own, foreign.n };
    enum { MARK_AT = 9 };
    assert_true(stored_is_same(foreign, now));
    own[MARK_AT] = 7;
    assert_true(stored_is_same(foreign, now));
    assert_false(stored_is_same(now, foreign)); /* a schema that has changed is a change */
    own[foreign.n - 2] = '4';
    assert_false(stored_is_same(foreign, now));
}

static void keys_name_their_resource(void **state)
{
    (void)state;
    assert_true(str_eq(stored_resource(STR("/registry/pods/ns/a"))->plural, STR("pods")));
    assert_true(
        str_eq(stored_resource(STR("/registry/services/specs/ns/a"))->plural, STR("services")));
    assert_true(str_eq(stored_resource(STR("/registry/minions/a"))->plural, STR("nodes")));
    assert_null(stored_resource(STR("/registry/example.com/teas/ns/a")));
    assert_null(stored_resource(STR("/registry/ranges/serviceips")));
    assert_null(stored_resource(STR("/registry/masterleases/10.0.0.1")));
    assert_null(stored_resource(STR("/registry/pods")));
    assert_null(stored_resource(STR("/sampan/pods/a")));
}

static void what_is_no_object_stays(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        struct str value;
    } rows[] = {
        { "/registry/ranges/serviceips", STR("k8s\0\n\x11\n\x02v1\x12\x0fRangeAllocation") },
        { "/registry/ranges/servicenodeports/30000", STR("{}") },
        { "/sampan/uninitialized/registry/pods", STR("{}") },
        { "/registry/pods/ns/a", STR("k8s\0\xff\xff") },
        { "/registry/pods/ns/a", STR("k8s:enc:aescbc:v1:key1:abc") },
        { "/registry/pods/ns/a", STR("{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}") },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_true(str_eq(kept(rows[i].key, rows[i].value), rows[i].value));
}

static void damage_is_of_one_object(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct store_entry e = { .key = STR("/registry/pods/ns/a"), .value = STR("k8s\0\xff\xff") };
    assert_int_equal(form.codec.open(&form.codec, &arena, &e, &err), -ERR_DAMAGED);
    e = (struct store_entry){ .key = STR("/registry/ranges/serviceips"), .value = STR("k8s\0x") };
    assert_int_equal(form.codec.open(&form.codec, &arena, &e, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stored_kind),        cmocka_unit_test(definitions_are_json),
        cmocka_unit_test(custom_objects_are_json),  cmocka_unit_test(a_mark_alone_is_no_change),
        cmocka_unit_test(keys_name_their_resource), cmocka_unit_test(what_is_no_object_stays),
        cmocka_unit_test(damage_is_of_one_object),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
