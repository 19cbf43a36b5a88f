#include <sampan/object.h>

#include "base/idiom.h"
#include "client/object_room.h"
#include "client/suite_client.h"

static const char pod[] =
    "{\"apiVersion\":\"v1\",\"data\":{\"a\":[1,{\"b\":\"}]\\\"\"}]},\"kind\":\"Pod\","
    "\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\",\"generation\":7,"
    "\"labels\":{\"app\":\"web\",\"empty\":\"\"},"
    "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"u1\"},"
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web\",\"uid\":\"u2\","
    "\"controller\":true}],\"resourceVersion\":\"42\",\"uid\":\"abc\"},\"spec\":{}}";

static void facts(void **state)
{
    struct spn_arena *a = *state;
    struct spn_object *o = suite_object(a, pod);
    assert_text(spn_object_key(o), "shop/web-1");
    assert_text(spn_object_namespace(o), "shop");
    assert_text(spn_object_name(o), "web-1");
    assert_text(spn_object_uid(o), "abc");
    assert_text(spn_object_version(o), "42");
    assert_text(spn_object_json(o, a), pod);
    assert_true(spn_object_has_text(o, SPN_TEXT("ReplicaSet")));
    assert_false(spn_object_has_text(o, SPN_TEXT("StatefulSet")));
    assert_int_equal(spn_object_generation(o), 7);
    assert_false(spn_object_is_deleting(o));
    assert_text(spn_object_label(o, a, "app"), "web");
    assert_text(spn_object_label(o, a, "empty"), "");
    assert_null(spn_object_label(o, a, "other").p);
    spn_object_unref(o);
}

static void owner(void **state)
{
    struct spn_arena *a = *state;
    struct spn_object *o = suite_object(a, pod);
    struct spn_owner by;
    assert_true(spn_object_controller(o, a, &by));
    assert_text(by.kind, "ReplicaSet");
    assert_text(by.api_version, "apps/v1");
    assert_text(by.name, "web");
    assert_text(by.uid, "u2");
    spn_object_unref(o);
}

static void little_is_enough(void **state)
{
    struct spn_arena *a = *state;
    struct spn_object *o = suite_object(a, "{\"metadata\":{\"name\":\"n\",\"uid\":null}}");
    struct spn_owner by;
    assert_text(spn_object_key(o), "n");
    assert_text(spn_object_namespace(o), "");
    assert_int_equal(spn_object_uid(o).n, 0);
    assert_int_equal(spn_object_version(o).n, 0);
    assert_int_equal(spn_object_generation(o), 0);
    assert_false(spn_object_controller(o, a, &by));
    assert_null(spn_object_label(o, a, "app").p);
    spn_object_unref(o);
}

/* Quotes and backslashes in front of what is looked for. */
static void escapes(void **state)
{
    static const char *const texts[] = {
        "", "\\\\", "\\\"", "\\\\\\\"}{", "\\\"\\\\", "a\\nb\\\""
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct spn_text json = spn_arena_printf(
            *state, "{\"%s\":\"%s\",\"metadata\":{\"a\":\"%s\",\"name\":\"n\",\"uid\":\"u\"}}",
            texts[i], texts[i], texts[i]);
        struct spn_object *o = suite_object(*state, json.p);
        assert_text(spn_object_uid(o), "u");
        spn_object_unref(o);
    }
}

static void nameless(void **state)
{
    static const char *const bad[] = {
        "{}", "{\"metadata\":{}}", "{\"metadata\":{\"name\":3}}", "{\"metadata\":\"name\"}", "[]",
        "3"
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct spn_value *v;
        struct spn_object *o;
        struct spn_err err;
        assert_int_equal(spn_value_read_json(*state, spn_text_of(bad[i]), &v, &err), 0);
        assert_int_equal(spn_object_new(v, &o, &err), -SPN_INVALID);
    }
}

static void a_tree_is_the_readers_own(void **state)
{
    struct spn_arena *a = *state;
    struct spn_object *o = suite_object(a, pod);
    struct spn_value *v = spn_object_value(o, a);
    spn_value_set_text(a, spn_value_edit(a, v, "metadata"), "name", SPN_TEXT("changed"));
    assert_text(spn_object_json(o, a), pod);
    assert_text(spn_value_text(spn_value_get(spn_object_meta(o, a), "name")), "web-1");
    assert_text(spn_value_text(spn_value_dig(v, "metadata", "name")), "changed");
    spn_object_unref(o);
}

/* Behind so much that no mark reaches it. */
static void far_away(void **state)
{
    enum { LONG = 70000 };
    struct spn_arena *a = *state;
    char *filler = spn_arena_alloc(a, LONG + 1);
    memset(filler, 'x', LONG);
    struct spn_text json = spn_arena_printf(
        a,
        "{\"metadata\":{\"annotations\":{\"a\":\"%s\"},\"generation\":5,\"labels\":{\"app\":"
        "\"web\"},\"name\":\"n\",\"uid\":\"u\"}}",
        filler);
    struct spn_object *o = suite_object(a, json.p);
    assert_text(spn_object_uid(o), "u");
    assert_int_equal(spn_object_generation(o), 5);
    assert_text(spn_object_label(o, a, "app"), "web");
    assert_text(spn_object_json(o, a), json.p);
    spn_object_unref(o);
}

/* In a room, some of which go before others. */
static void rooms(void **state)
{
    struct object_room room = { 0 };
    struct spn_object *all[300];
    struct spn_err err;
    for (size_t i = 0; i < 300; i++) {
        struct spn_value *v;
        struct spn_text json = spn_arena_printf(
            *state, "{\"metadata\":{\"name\":\"n-%zu\"},\"data\":{\"fill\":\"%0*d\"}}", i,
            (int)(i * 37 % 20000) + 1, 7);
        assert_int_equal(spn_value_read_json(*state, json, &v, &err), 0);
        assert_int_equal(object_new_in(&room, v, &all[i], &err), 0);
    }
    object_room_done(&room);
    for (size_t i = 0; i < 300; i += 2)
        spn_object_unref(all[i]);
    for (size_t i = 1; i < 300; i += 2) {
        assert_text(spn_object_name(all[i]), spn_arena_printf(*state, "n-%zu", i).p);
        spn_object_unref(all[i]);
    }
}

static void deletion_and_references(void **state)
{
    struct spn_object *o = suite_object(
        *state, "{\"metadata\":{\"name\":\"n\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}");
    struct spn_objects two = { calloc(2, sizeof(*two.items)), 2 };
    two.items[0] = spn_object_ref(o);
    two.items[1] = spn_object_ref(o);
    spn_objects_done(&two);
    assert_int_equal(two.n, 0);
    assert_true(spn_object_is_deleting(o));
    spn_object_unref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_test(facts),
        suite_test(owner),
        suite_test(escapes),
        suite_test(nameless),
        suite_test(little_is_enough),
        suite_test(a_tree_is_the_readers_own),
        suite_test(far_away),
        suite_test(rooms),
        suite_test(deletion_and_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
