#include "base/idiom.h"
#include "base/json.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static bool contains(struct str s, const char *part)
{
    return memmem(s.p, s.n, part, strlen(part)) != NULL;
}

static void assert_round_trip(struct str text, struct str want)
{
    struct err err = ERR_INIT(&arena);
    struct value v;
    if (json_read(&arena, text, NULL, &v, &err) < 0)
        fail_msg(STR_FMT ": " STR_FMT, STR_ARG(text), STR_ARG(err.msg));
    autobuf out = { 0 };
    json_write(&out, &v);
    if (!str_eq(buf_str(&out), want))
        fail_msg(STR_FMT " became " STR_FMT, STR_ARG(text), STR_ARG(buf_str(&out)));
    assert_int_equal(json_length(&v), out.n);
}

static void what_is_canonical_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.0",
        "1e3",
        "-1.25E-007",
        "0.1",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551615",
        "123456789012345678",
        "1234567890123456789",
        "99999999999999999999999999999999999999.000000000000000000001",
        "[]",
        "{}",
        "[[],{},[{}]]",
        "\"\"",
        "{\"b\":1,\"a\":{\"z\":[1,2,3]},\"b\":2}",
        "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\\u2028\\u2029\"",
        "\"gr\303\274n \342\202\254 \360\237\230\200 \177\"",
        "{\"a key that is longer than sixteen bytes, with \\\"quotes\\\"\":\"0123456789abcdef\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_round_trip(str_of(rows[i]), str_of(rows[i]));
}

static void other_spellings_become_canonical(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { " \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n", "{\"a\":[1,2],\"b\":{}}" },
        { "\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\/\"",
          "\"A\303\251\342\202\254\360\237\230\200/\"" },
        { "\"\\u2028 and \342\200\250, \342\200\251\"", "\"\\u2028 and \\u2028, \\u2029\"" },
        { "\"\\u000a\\u0008\\u007F\"", "\"\\n\\b\177\"" },
        { "\"ab\\ud800\"", "\"ab\357\277\275\"" },
        { "\"\\udc00\\ud800\"", "\"\357\277\275\357\277\275\"" },
        { "\"\\ud800\\u0041\"", "\"\357\277\275A\"" },
        { "\"\\ud800\\ud83d\\ude00\"", "\"\357\277\275\360\237\230\200\"" },
        { "\"<script>&</script>\"", "\"<script>&</script>\"" },
        { "\"\342\200\252 \342\201\250\"", "\"\342\200\252 \342\201\250\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_round_trip(str_of(rows[i].text), str_of(rows[i].want));
    assert_round_trip(STR("\"a\\u0000b\""), STR("\"a\\u0000b\""));
}

static void errors_say_what_and_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } rows[] = {
        { "", "unexpected end at byte 0: expected a value" },
        { "  ", "unexpected end at byte 2" },
        { "{\"a\":}", "unexpected '}' at byte 5: expected a value" },
        { "[1,]", "unexpected ']' at byte 3" },
        { "[1 2]", "unexpected '2' at byte 3: expected ',' or ']'" },
        { "{\"a\" 1}", "unexpected '1' at byte 5: ':'" },
        { "{a:1}", "unexpected 'a' at byte 1: expected a key in quotes" },
        { "{\"a\":1,}", "unexpected '}' at byte 7: expected a key in quotes" },
        { "{\"a\":1]", "unexpected ']' at byte 6: expected ',' or '}'" },
        { "\"abc", "unexpected end at byte 4: the string is not closed" },
        { "\"a\nb\"", "unexpected byte 0x0a at byte 2: a control" },
        { "\"\\x\"", "unexpected 'x' at byte 2: unknown escape" },
        { "\"\\u12g4\"", "unexpected 'g' at byte 5: \\u needs four" },
        { "\"\\ud800\\u00g1\"", "\\u needs four" },
        { "\"\377\"", "unexpected byte 0xff at byte 1: the string is not UTF-8" },
        { "01", "unexpected '1' at byte 1: a number must not start with 0" },
        { "-", "unexpected end at byte 1: a number must start with a digit" },
        { "1.", "unexpected end at byte 2: a digit must follow" },
        { "1e+", "unexpected end at byte 3: the exponent" },
        { "+1", "unexpected '+' at byte 0" },
        { "nul", "unexpected 'n' at byte 0" },
        { "1 1", "unexpected '1' at byte 2: nothing may follow" },
        { "{}x", "unexpected 'x' at byte 2: nothing may follow" },
        { "\"\\", "unexpected end at byte 2: unknown escape" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        struct value v;
        assert_int_equal(json_read(&arena, str_of(rows[i].text), NULL, &v, &err), -ERR_BAD_REQUEST);
        if (!contains(err.msg, rows[i].words))
            fail_msg("%s: " STR_FMT, rows[i].text, STR_ARG(err.msg));
        assert_int_equal(json_read(&arena, str_of(rows[i].text), NULL, &v, NULL), -ERR_BAD_REQUEST);
    }
    struct value v;
    assert_int_equal(json_read(&arena, (struct str){ NULL, 0 }, NULL, &v, NULL), -ERR_BAD_REQUEST);
    assert_int_equal(json_read(&arena, (struct str){ "\"\\\0\"", 4 }, NULL, &v, NULL),
                     -ERR_BAD_REQUEST);
}

/* CVE-2024-24786: each step eats something or fails. */
static void every_cut_short_text_is_refused(void **state)
{
    (void)state;
    const struct str text = STR("{\"@type\":\"type.googleapis.com/x\",\"v\":[1.5e3,true,null,"
                                "{\"u\":\"\\ud83d\\ude00\303\274\"}],\"n\":-12}");
    struct value v;
    assert_int_equal(json_read(&arena, text, NULL, &v, NULL), 0);
    for (size_t n = 0; n < text.n; n++) {
        /* In a piece of its own, so that a read past it is seen. */
        autofree char *cut = mem_dup(text.p, n);
        assert_int_equal(json_read(&arena, (struct str){ cut, n }, NULL, &v, NULL),
                         -ERR_BAD_REQUEST);
    }
    static const char *const rows[] = { "{\"@type\":",  "{\"@type\"",    "{\"@type",
                                        "{\"@type\":}", "{\"@type\":\"", "{\"@type\":,",
                                        "[{\"@type\":]" };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(json_read(&arena, str_of(rows[i]), NULL, &v, NULL), -ERR_BAD_REQUEST);
}

static struct str nested(const char *open, const char *middle, const char *close, size_t depth)
{
    struct buf text = { 0 };
    for (size_t i = 0; i < depth; i++)
        buf_str_add(&text, str_of(open));
    buf_str_add(&text, str_of(middle));
    for (size_t i = 0; i < depth; i++)
        buf_str_add(&text, str_of(close));
    struct str copy = arena_str(&arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

static void depth_is_bounded(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct value v;
    struct json_options three = { .max_depth = 3 };
    assert_int_equal(json_read(&arena, STR("[[{\"a\":1}]]"), &three, &v, &err), 0);
    assert_int_equal(json_read(&arena, STR("[[{\"a\":[]}]]"), &three, &v, &err), -ERR_BAD_REQUEST);
    assert_true(contains(err.msg, "at byte 7: nested too deeply"));

    struct str most = nested("{\"a\":[", "", "]}", LIMIT_JSON_DEPTH / 2);
    assert_round_trip(most, most);
    struct str more = nested("[", "", "]", LIMIT_JSON_DEPTH + 1);
    assert_int_equal(json_read(&arena, more, NULL, &v, &err), -ERR_BAD_REQUEST);
}

/* CVE-2026-48042: a million brackets, read on a thread with a small stack. */
static void *read_on_small_stack(void *text)
{
    struct json_options deep = { .max_depth = 2000000 };
    struct arena a;
    struct value v;
    arena_init(&a);
    int refused = json_read(&a, *(struct str *)text, NULL, &v, NULL);
    int accepted = json_read(&a, *(struct str *)text, &deep, &v, NULL);
    autobuf out = { 0 };
    if (accepted == 0)
        json_write(&out, &v);
    bool good = refused == -ERR_BAD_REQUEST && accepted == 0 && value_eq(&v, &v) &&
                str_eq(buf_str(&out), *(struct str *)text) && json_length(&v) == out.n;
    arena_done(&a);
    return good ? text : NULL;
}

static void a_million_brackets_need_no_stack(void **state)
{
    (void)state;
    struct str text = nested("[", "", "]", 1000000);
    pthread_attr_t attr;
    pthread_t thread;
    void *good = NULL;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, 64 << 10), 0);
    assert_int_equal(pthread_create(&thread, &attr, read_on_small_stack, &text), 0);
    assert_int_equal(pthread_join(thread, &good), 0);
    assert_non_null(good);
    (void)pthread_attr_destroy(&attr);

    struct value v;
    struct str open = str_take(text, 1000000);
    assert_int_equal(json_read(&arena, open, NULL, &v, NULL), -ERR_BAD_REQUEST);
}

static void duplicates_are_kept_and_reported(void **state)
{
    (void)state;
    struct str path;
    struct json_options opt = { .ret_duplicate = &path };
    struct value v;
    struct str text = STR("{\"spec\":{\"containers\":[{\"name\":1,\"na\\u006de\":2}]},\"spec\":0}");
    assert_int_equal(json_read(&arena, text, &opt, &v, NULL), 0);
    assert_true(str_eq(path, STR("spec.containers[0].name")));
    assert_int_equal(v.n, 2);
    assert_int_equal(json_read(&arena, STR("{\"a\":1,\"A\":2}"), &opt, &v, NULL), 0);
    assert_int_equal(path.n, 0);
}

/* 200,000 keys: a pairwise search would take minutes, and the runner would stop the test. */
static void duplicate_search_is_not_quadratic(void **state)
{
    (void)state;
    autobuf text = { 0 };
    buf_byte(&text, '{');
    for (int i = 0; i < 200000; i++)
        buf_printf(&text, "\"key%d\":%d,", i, i);
    buf_printf(&text, "\"key199999\":0}");
    struct str path;
    struct json_options opt = { .ret_duplicate = &path };
    struct value v, again;
    assert_int_equal(json_read(&arena, buf_str(&text), &opt, &v, NULL), 0);
    assert_true(str_eq(path, STR("key199999")));
    assert_int_equal(v.n, 200001);

    again = value_clone(&arena, &v);
    struct value_field first = again.fields[0];
    again.fields[0] = again.fields[1];
    again.fields[1] = first;
    assert_true(value_eq(&v, &again));
    value_drop_duplicates(&arena, &again);
    assert_int_equal(again.n, 200000);
}

static void plain_strings_are_not_copied(void **state)
{
    (void)state;
    struct str text = STR("{\"key\":\"plain gr\303\274n\"}");
    struct value v;
    assert_int_equal(json_read(&arena, text, NULL, &v, NULL), 0);
    assert_ptr_equal(v.fields[0].key.p, text.p + 2);
    assert_ptr_equal(v.fields[0].val.text, text.p + 8);
}

static void pretty_is_two_spaces(void **state)
{
    (void)state;
    struct value v;
    struct str text = STR("{\"a\":[1,{\"b\":null}],\"c\":{},\"d\":[],\"e\":\"x\"}");
    assert_int_equal(json_read(&arena, text, NULL, &v, NULL), 0);
    autobuf out = { 0 };
    json_write_pretty(&out, &v);
    struct str want = STR("{\n"
                          "  \"a\": [\n"
                          "    1,\n"
                          "    {\n"
                          "      \"b\": null\n"
                          "    }\n"
                          "  ],\n"
                          "  \"c\": {},\n"
                          "  \"d\": [],\n"
                          "  \"e\": \"x\"\n"
                          "}");
    assert_true(str_eq(buf_str(&out), want));
    struct value again;
    assert_int_equal(json_read(&arena, buf_str(&out), NULL, &again, NULL), 0);
    assert_true(value_eq(&v, &again));
}

static const char *escaped_form(int c, char text[static 8])
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        if (c >= 0x80)
            return "\\ufffd";
        (void)snprintf(text, 8, c < 0x20 ? "\\u%04x" : "%c", c);
        return text;
    }
}

/* CVE-2026-26309: every byte, with exactly one byte too little, enough and one more in the buffer,
 * at the front and behind plain text of every block length. */
static void escapes_fit_whatever_room_there_is(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        for (size_t before = 0; before < 40; before += 3) {
            char raw[48], spelled[8];
            memset(raw, 'x', sizeof(raw));
            raw[before] = (char)c;
            struct str s = { raw, before + 1 + before % 2 };
            autobuf want = { 0 };
            buf_byte(&want, '"');
            buf_add(&want, raw, before);
            buf_str_add(&want, str_of(escaped_form(c, spelled)));
            buf_add(&want, raw + before + 1, before % 2);
            buf_byte(&want, '"');
            for (size_t room = want.n - 1; room <= want.n + 1; room++) {
                autobuf out = { .p = mem_alloc(room), .cap = room };
                json_write_string(&out, s);
                if (!str_eq(buf_str(&out), buf_str(&want)))
                    fail_msg("byte %d behind %zu: " STR_FMT, c, before, STR_ARG(buf_str(&out)));
                struct value v = value_string(s);
                assert_int_equal(json_length(&v), out.n);
            }
        }
    }
}

static uint32_t seed;

static uint32_t pick(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

static struct str random_text(void)
{
    static const char *const parts[] = { "a",
                                         "key",
                                         "\"",
                                         "\\",
                                         "\n",
                                         "\001",
                                         "\303\274",
                                         "\342\200\250",
                                         "\342\202\254",
                                         "\360\237\230\200",
                                         "sixteen bytes or more",
                                         "\177",
                                         "/",
                                         "\t" };
    struct buf text = { 0 };
    for (uint32_t n = pick(8); n; n--)
        buf_str_add(&text, str_of(parts[pick(ARRAY_LEN(parts))]));
    struct str copy = arena_str(&arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

static struct value random_value(int depth)
{
    static const char *const numbers[] = { "-0", "1.50", "1e400", "18446744073709551616" };
    struct value v = value_array();
    switch (pick(depth ? 8 : 6)) {
    case 0:
        return value_null();
    case 1:
        return value_bool(pick(2));
    case 2:
        return value_int(
            (int64_t)(((uint64_t)pick(UINT32_MAX) << 32 | pick(UINT32_MAX)) >> pick(64)));
    case 3:
        return value_int(-(int64_t)pick(1000));
    case 4:
        return value_number(str_of(numbers[pick(4)]));
    case 5:
        return value_string(random_text());
    case 6:
        for (uint32_t n = pick(6); n; n--)
            value_push(&arena, &v, random_value(depth - 1));
        return v;
    default:
        v = value_object();
        for (uint32_t n = pick(6); n; n--)
            value_add(&arena, &v, random_text(), random_value(depth - 1));
        return v;
    }
}

static void random_trees_survive(void **state)
{
    (void)state;
    seed = 362436069u;
    for (int i = 0; i < 3000; i++) {
        arena_reset(&arena);
        struct value v = random_value(6), again;
        autobuf out = { 0 };
        autobuf pretty = { 0 };
        json_write(&out, &v);
        assert_int_equal(json_length(&v), out.n);
        assert_int_equal(json_read(&arena, buf_str(&out), NULL, &again, NULL), 0);
        assert_true(value_eq(&v, &again));
        json_write_pretty(&pretty, &v);
        assert_int_equal(json_read(&arena, buf_str(&pretty), NULL, &again, NULL), 0);
        assert_true(value_eq(&v, &again));
    }
}

static void no_more_is_read_than_allowed(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct allowance w = { .max = 1u << 20 };
    autobuf text = { 0 };
    struct value v;
    buf_byte(&text, '[');
    for (int i = 0; i < 500000; i++)
        buf_str_add(&text, i % 2 ? STR("{},") : STR("1,"));
    buf_str_add(&text, STR("1]"));
    assert_int_equal(json_read(&a, buf_str(&text), NULL, &v, &err), 0);
    arena_done(&a);
    arena_allow(&a, &w);
    assert_int_equal(json_read(&a, buf_str(&text), NULL, &v, NULL), -ERR_TOO_LARGE);
    arena_done(&a);
    assert_int_equal(atomic_load(&w.held), 0);
    assert_true(text.n > w.max);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_canonical_stays_as_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_spellings_become_canonical, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_say_what_and_where, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_cut_short_text_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_million_brackets_need_no_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(duplicates_are_kept_and_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(duplicate_search_is_not_quadratic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plain_strings_are_not_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pretty_is_two_spaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(escapes_fit_whatever_room_there_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_trees_survive, set_up, tear_down),
        cmocka_unit_test(no_more_is_read_than_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
