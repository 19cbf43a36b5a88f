/* What a webhook is sent about a question, and what match conditions see of it. */
#include "auth/access_review.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const char *text_of(struct value v)
{
    autobuf out = { 0 };
    json_write(&out, &v);
    return str_cstr(&arena, buf_str(&out));
}

static struct access question(void)
{
    static const struct str groups[] = { STR("a"), STR("b") }, values[] = { STR("v") };
    static const struct user_extra extra[] = { { STR("k"), values, 1 } };
    static const struct user ann = { .name = STR("ann"),
                                     .uid = STR("u"),
                                     .groups = groups,
                                     .n_groups = 2,
                                     .extra = extra,
                                     .n_extra = 1 };
    struct err err = ERR_INIT(&arena);
    struct access q = { .user = &ann,
                        .is_resource = true,
                        .verb = STR("list"),
                        .version = STR("v1"),
                        .resource = STR("pods"),
                        .ns = STR("n") };
    assert_int_equal(fields_parse(&arena, STR("x=1,y!=2"), NULL, &q.fields, &err), 0);
    assert_int_equal(labels_parse(&arena, STR("a=b,c in (d,e),!f,g>3,h"), &q.labels, &err), 0);
    return q;
}

#define SELECTORS                                                                          \
    "\"fieldSelector\":{\"requirements\":[{\"key\":\"x\",\"operator\":\"In\",\"values\":[" \
    "\"1\"]},{\"key\":\"y\",\"operator\":\"NotIn\",\"values\":[\"2\"]}]},"                 \
    "\"labelSelector\":{\"requirements\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[" \
    "\"b\"]},{\"key\":\"c\",\"operator\":\"In\",\"values\":[\"d\",\"e\"]},{\"key\":\"f\"," \
    "\"operator\":\"DoesNotExist\"},{\"key\":\"h\",\"operator\":\"Exists\"}]}"

static void what_is_empty_is_not_sent(void **state)
{
    const struct access q = question();
    (void)state;
    assert_string_equal(
        text_of(access_review_spec(&arena, &q, true)),
        "{\"resourceAttributes\":{\"namespace\":\"n\",\"verb\":\"list\",\"version\":\"v1\","
        "\"resource\":\"pods\"," SELECTORS "},\"user\":\"ann\",\"groups\":[\"a\",\"b\"],"
        "\"extra\":{\"k\":[\"v\"]},\"uid\":\"u\"}");
}

static void v1beta1_has_another_word_for_groups(void **state)
{
    static const struct str groups[] = { STR("g") };
    static const struct user bob = { .name = STR("bob"), .groups = groups, .n_groups = 1 };
    const struct access q = { .user = &bob, .verb = STR("get"), .path = STR("/healthz") };
    (void)state;
    assert_string_equal(text_of(access_review_spec(&arena, &q, false)),
                        "{\"nonResourceAttributes\":{\"path\":\"/healthz\",\"verb\":\"get\"},"
                        "\"user\":\"bob\",\"group\":[\"g\"]}");
}

static void conditions_see_all_texts(void **state)
{
    const struct access q = question();
    (void)state;
    assert_string_equal(
        text_of(access_review_request(&arena, &q)),
        "{\"resourceAttributes\":{\"namespace\":\"n\",\"verb\":\"list\",\"group\":\"\",\"version\":"
        "\"v1\",\"resource\":\"pods\",\"subresource\":\"\",\"name\":\"\"," SELECTORS "},"
        "\"user\":\"ann\",\"groups\":[\"a\",\"b\"],\"extra\":{\"k\":[\"v\"]},\"uid\":\"u\"}");
}

/* The copy asks the same, whatever happens to the original. */
static void a_copy_asks_the_same(void **state)
{
    const struct access q = question();
    struct arena other;
    (void)state;
    const char *want = text_of(access_review_spec(&arena, &q, true));
    arena_init(&other);
    const struct access copy = access_copy(&other, &q);
    assert_ptr_not_equal(copy.user->groups[0].p, q.user->groups[0].p);
    assert_ptr_not_equal(copy.labels.reqs, q.labels.reqs);
    assert_string_equal(text_of(access_review_spec(&arena, &copy, true)), want);
    arena_done(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_empty_is_not_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(v1beta1_has_another_word_for_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(conditions_see_all_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(a_copy_asks_the_same, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
