/* What was written is waited for, until the cache has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "controllers/common/own_writes.h"

static const struct spn_text key = { "n/s", 3 };

static struct spn_value *object(struct spn_arena *a, const char *uid, const char *version)
{
    struct spn_value *v;
    struct spn_text text = spn_arena_printf(
        a, "{metadata: {namespace: n, name: x, uid: %s, resourceVersion: '%s'}}", uid, version);
    assert_int_equal(spn_value_read_yaml(a, text, &v, NULL), 0);
    return v;
}

static void put(struct spn_cache *c, const struct spn_value *v)
{
    struct spn_object *o;
    assert_int_equal(spn_object_new(v, &o, NULL), 0);
    struct spn_object *old = NULL;
    spn_cache_put(c, o, &old);
    spn_object_unref(old);
    spn_object_unref(o);
}

static void test_written(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_cache *c = spn_cache_new();
    struct own_writes *ow = own_writes_new();
    assert_true(own_writes_are_seen(ow, key, c));
    own_writes_note(ow, key, object(a, "u1", "7"));
    assert_false(own_writes_are_seen(ow, key, c));
    assert_true(own_writes_are_seen(ow, SPN_TEXT("n/other"), c));
    put(c, object(a, "u1", "6"));
    assert_false(own_writes_are_seen(ow, key, c));
    put(c, object(a, "u1", "10")); /* a number, not a text */
    assert_true(own_writes_are_seen(ow, key, c));
    own_writes_free(ow);
    spn_cache_free(c);
    spn_arena_free(a);
}

static void test_deleted(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_cache *c = spn_cache_new();
    struct own_writes *ow = own_writes_new();
    put(c, object(a, "u1", "6"));
    own_writes_note_deleted(ow, key, object(a, "u1", "6"));
    assert_false(own_writes_are_seen(ow, key, c));
    put(c, object(a, "u2", "9")); /* another one of the name */
    assert_true(own_writes_are_seen(ow, key, c));
    own_writes_note(ow, key, object(a, "u2", "99"));
    own_writes_forget(ow, key);
    assert_true(own_writes_are_seen(ow, key, c));
    own_writes_free(ow);
    spn_cache_free(c);
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
