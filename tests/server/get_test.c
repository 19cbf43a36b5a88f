/* GET: what takes long to make is made where nobody waits for it; and what a failure says. */
#include "live.h"

#include "base/idiom.h"
#include "server/http/reply.h"

/* Which of two requests that come together is answered first: 1 or 3. */
static uint32_t first_answer(const char *path, const char *other)
{
    struct harness h = { .plain = live.address };
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "GET", path, true);
    h2_add_request(&b, 3, "GET", other, true);
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_HEADERS, 0, &f));
    assert_int_equal(f.status, 200);
    uint32_t first = f.stream;
    assert_int_equal(h2_status(&p, 4 - first), 200);
    h2_close(&p);
    return first;
}

#define CONFIGMAPS "/api/v1/namespaces/default/configmaps/"

static void what_is_parsed_and_large_holds_up_nobody(void **state)
{
    (void)state;
    (void)live_put(&live, "default", "large", NULL, 1000000);
    (void)live_put(&live, "default", "small", NULL, 100);
    assert_int_equal(first_answer(CONFIGMAPS "large?pretty=true", CONFIGMAPS "small"), 3);
    assert_int_equal(first_answer(CONFIGMAPS "small?pretty=true", CONFIGMAPS "large"), 1);
    assert_int_equal(first_answer(CONFIGMAPS "large", CONFIGMAPS "small"), 1); /* nothing to do */
}

static void it_is_the_same_object(void **state)
{
    (void)state;
    (void)live_put(&live, "default", "large", NULL, 1000000);
    struct value plain = live_get_json(&live, CONFIGMAPS "large", 200),
                 pretty = live_get_json(&live, CONFIGMAPS "large?pretty=true", 200);
    assert_true(value_eq(&plain, &pretty));
    struct answer proto =
        live_get(&live, CONFIGMAPS "large", "Accept: application/vnd.kubernetes.protobuf\r\n");
    assert_int_equal(proto.status, 200);
    assert_true(proto.body.n > 1000000);
}

/* What the log says of the disk is not for clients. */
static void names_of_files_are_not_told(void **state)
{
    (void)state;
    static const enum err_code codes[] = { ERR_IO, ERR_NO_SPACE };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        struct err err = ERR_INIT(&live.arena);
        (void)err_set(&err, codes[i], "sync the log in /var/lib/sampan/store: no");
        struct value status = reply_status(&live.arena, &err);
        struct str message = value_str(value_get(&status, STR("message")));
        assert_true(message.n > 0);
        assert_int_equal(str_find(message, '/'), -1);
    }
    (void)live_put_bytes(&live, live_key(&live, "default", "junk"), STR("junk"));
    struct value status = live_get_json(&live, CONFIGMAPS "junk", 500);
    struct str message = value_str(value_get(&status, STR("message")));
    assert_non_null(memmem(message.p, message.n, "configmaps/default/junk", 23));
    assert_null(memmem(message.p, message.n, ".mdb", 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_parsed_and_large_holds_up_nobody, live_setup,
                                        live_teardown),
        cmocka_unit_test_setup_teardown(it_is_the_same_object, live_setup, live_teardown),
        cmocka_unit_test_setup_teardown(names_of_files_are_not_told, live_setup, live_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
