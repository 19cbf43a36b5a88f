#include "base/idiom.h"
#include "base/yaml.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/limits.h"

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

struct row {
    const char *yaml, *json;
};

static void check_reads(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct err err = ERR_INIT(&arena);
        struct value v;
        autobuf out = { 0 };
        if (yaml_read(&arena, str_of(rows[i].yaml), NULL, &v, &err) < 0)
            fail_msg("%s: " STR_FMT, rows[i].yaml, STR_ARG(err.msg));
        json_write(&out, &v);
        if (!str_eq(buf_str(&out), str_of(rows[i].json)))
            fail_msg("%s: " STR_FMT, rows[i].yaml, STR_ARG(buf_str(&out)));
    }
}

#define CHECK_READS(rows) check_reads((rows), ARRAY_LEN(rows))

static void scalars_resolve_as_go_yaml_does(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "[y, Y, yes, Yes, YES, true, True, TRUE, on, On, ON]",
          "[true,true,true,true,true,true,true,true,true,true,true]" },
        { "[n, N, no, No, NO, false, False, FALSE, off, Off, OFF]",
          "[false,false,false,false,false,false,false,false,false,false,false]" },
        { "[yEs, tRUE, oN, nuLL, 'yes', \"on\", ~, null, Null, NULL, '']",
          "[\"yEs\",\"tRUE\",\"oN\",\"nuLL\",\"yes\",\"on\",null,null,null,null,\"\"]" },
        { "a:\nb: \n", "{\"a\":null,\"b\":null}" },
        { "[0, -1, +1, 017, 0o17, 0x1F, -0x1f, 0b101, 1_000, 08, -0]",
          "[0,-1,1,15,15,31,-31,5,1000,8,-0]" },
        { "[9223372036854775807, 9223372036854775808, 18446744073709551615, 0xffffffffffffffff]",
          "[9223372036854775807,9223372036854775808,18446744073709551615,18446744073709551615]" },
        { "[9007199254740993, 99999999999999999999999]",
          "[9007199254740993,99999999999999999999999]" },
        { "[1.0, 1.50, .5, +1.5, 1., -.5e3, 1e3, 1_000.5, 007.5, 1E+2]",
          "[1.0,1.50,0.5,1.5,1,-0.5e3,1e3,1000.5,7.5,1E+2]" },
        { "[1e400, 0x, 1_a, 12:30:45, 1.2.3, +, -, ., 0o8, 0b2, 1e]",
          "[\"1e400\",\"0x\",\"1_a\",\"12:30:45\",\"1.2.3\",\"+\",\"-\",\".\",\"0o8\",\"0b2\","
          "\"1e\"]" },
        { "[2001-01-01, 2001-12-14T21:59:43Z, <<]",
          "[\"2001-01-01\",\"2001-12-14T21:59:43Z\",\"<<\"]" },
        { "[!!str 12, !!int '12', !!float 3, !!bool 'yes', !!null '', !!timestamp 2001-01-01]",
          "[\"12\",12,3,true,null,\"2001-01-01\"]" },
        { "[!!binary aGVsbG8=, !own 12, ! 12]", "[\"hello\",\"12\",\"12\"]" },
        { "!!set {a: 1}", "{\"a\":1}" },
        { "a: |\n  x\n  y\nb: >-\n  x\n  y\n", "{\"a\":\"x\\ny\\n\",\"b\":\"x y\"}" },
        { "\"\\u00e9\\x41\\0\\/\"", "\"\303\251A\\u0000/\"" },
        { "", "null" },
        { "# nothing\n", "null" },
        { "\xef\xbb\xbf"
          "a: 1",
          "{\"a\":1}" },
    };
    CHECK_READS(rows);
}

static void keys_become_strings(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "{1: a, 0x10: b, true: c, no: d, 1.5: e, 1.0: f, -0: g}",
          "{\"1\":\"a\",\"16\":\"b\",\"true\":\"c\",\"false\":\"d\",\"1.5\":\"e\",\"1\":\"f\","
          "\"0\":\"g\"}" },
        { "{1000000.0: a, 123456.0: b, 0.0001: c, 0.00001: d, 1e40: e, .inf: f, -.inf: g, .nan: h}",
          "{\"1e+06\":\"a\",\"123456\":\"b\",\"0.0001\":\"c\",\"1e-05\":\"d\",\".inf\":\"e\","
          "\".inf\":\"f\",\"-.inf\":\"g\",\".nan\":\"h\"}" },
        { "2001-01-01: a", "{\"2001-01-01\":\"a\"}" },
        { "? |\n  a\n  b\n: 1", "{\"a\\nb\\n\":1}" },
        { "[&k key, {*k : 1}]", "[\"key\",{\"key\":1}]" },
    };
    CHECK_READS(rows);
}

static void aliases_and_merges(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "a: &x {k: [1]}\nb: *x\n", "{\"a\":{\"k\":[1]},\"b\":{\"k\":[1]}}" },
        { "a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}" },
        { "a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3}\n",
          "{\"a\":{\"k\":1,\"l\":2},\"b\":{\"k\":3,\"l\":2}}" },
        { "a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {<<: [*x, *y], m: 3}\n",
          "{\"a\":{\"k\":1},\"b\":{\"k\":2,\"l\":2},\"c\":{\"k\":1,\"l\":2,\"m\":3}}" },
        { "{<<: {a: 1}, b: 2}", "{\"a\":1,\"b\":2}" },
        { "{'<<': 1, \"<<\": 2}", "{\"<<\":1,\"<<\":2}" },
        { "!!merge <<: {a: 1}", "{\"a\":1}" },
    };
    CHECK_READS(rows);

    /* Editing what an alias brought leaves the anchored tree alone. */
    struct value v;
    assert_int_equal(yaml_read(&arena, STR("[&x {k: [1]}, *x]"), NULL, &v, NULL), 0);
    struct value *second = value_edit_at(&arena, &v, 1);
    value_push(&arena, value_edit(&arena, second, STR("k")), value_int(2));
    autobuf out = { 0 };
    json_write(&out, &v);
    assert_true(str_eq(buf_str(&out), STR("[{\"k\":[1]},{\"k\":[1,2]}]")));
}

static void errors_say_what_and_where(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *words;
    } rows[] = {
        { "a: b: c", "yaml: mapping values are not allowed" },
        { "a: 1\n\tb: 2", "yaml: line 2: found a tab character that violates indentation" },
        { "a: [1, 2", "yaml: line 1: did not find expected ','" },
        { "x: 1\ny: *a", "yaml: line 2: the alias refers to an unknown anchor" },
        { "a: &x [*x]", "yaml: line 1: the anchor contains itself" },
        { "[1, .inf]", "line 1: JSON has no infinity" },
        { "!!float .nan", "JSON has no infinity" },
        { "!!int abc", "does not have the type of its tag" },
        { "!!bool 1", "does not have the type of its tag" },
        { "!!null x", "does not have the type of its tag" },
        { "!!timestamp noon", "does not have the type of its tag" },
        { "!!binary '***'", "not base64" },
        { "!!binary /w==", "not UTF-8 text" },
        { "{[a]: b}", "a collection cannot be a key" },
        { "? {a: b}\n: c", "a collection cannot be a key" },
        { "~: a", "a key of this type is not supported" },
        { "18446744073709551615: a", "a key of this type is not supported" },
        { "[&x [1], {*x : 1}]", "a key of this type is not supported" },
        { "<<: 1", "can be merged" },
        { "<<: [1]", "can be merged" },
        { "a: &x [{b: 1}]\nc: {<<: *x}", "can be merged" },
        { "--- a\n--- b\n", "more than one document" },
        { "--- null\n--- null\n", "more than one document" },
        { "%YAML 1.2\n--- a", "only YAML 1.1" },
        { "a: \"\\ud800\"", "invalid Unicode" },
        { "a: \377", "invalid leading UTF-8 octet" },
        { "a: \001", "control characters are not allowed" },
        { "\xff\xfe"
          "a\0",
          "UTF-8" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        struct value v;
        int r = yaml_read(&arena, str_of(rows[i].yaml), NULL, &v, &err);
        if (r != -ERR_BAD_REQUEST)
            fail_msg("%s: %d", rows[i].yaml, r);
        if (!memmem(err.msg.p, err.msg.n, rows[i].words, strlen(rows[i].words)))
            fail_msg("%s: " STR_FMT, rows[i].yaml, STR_ARG(err.msg));
        assert_int_equal(yaml_read(&arena, str_of(rows[i].yaml), NULL, &v, NULL), r);
    }
}

static void duplicates_are_kept_and_reported(void **state)
{
    (void)state;
    struct str path = STR("before");
    struct yaml_options opt = { .ret_duplicate = &path };
    struct value v;
    struct str text = STR("spec:\n  containers:\n  - name: a\n    name: b\nspec: 1\n");
    assert_int_equal(yaml_read(&arena, text, &opt, &v, NULL), 0);
    assert_true(str_eq(path, STR("spec.containers[0].name")));
    assert_int_equal(v.n, 2);
    assert_int_equal(yaml_read(&arena, STR("{1: a, '1': b}"), &opt, &v, NULL), 0);
    assert_true(str_eq(path, STR("1")));
    assert_int_equal(yaml_read(&arena, STR("[&x {a: 1}, {<<: *x, a: 2}]"), &opt, &v, NULL), 0);
    assert_int_equal(path.n, 0);
    path = STR("before");
    assert_int_equal(yaml_read(&arena, STR(""), &opt, &v, NULL), 0);
    assert_int_equal(path.n, 0);
}

static void streams_skip_empty_documents(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct str text =
        STR("# head\n---\na: 1\n---\n# nothing\n---\n~\n---\nb: &x 2\n...\n---\nc: 3\n");
    struct yaml_stream *s = yaml_stream_new(&arena, text, NULL);
    struct value v;
    static const char *const keys[] = { "a", "b", "c" };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(yaml_stream_next(s, &v, &err), 1);
        assert_true(str_eq(v.fields[0].key, str_of(keys[i])));
    }
    assert_int_equal(yaml_stream_next(s, &v, &err), 0);
    assert_int_equal(yaml_stream_next(s, &v, &err), 0);
    s = yaml_stream_free(s);

    /* An anchor ends with its document, and an error ends the stream. */
    s = yaml_stream_new(&arena, STR("a: &x 1\n---\nb: *x\n---\nc: 1\n"), NULL);
    assert_int_equal(yaml_stream_next(s, &v, &err), 1);
    assert_int_equal(yaml_stream_next(s, &v, &err), -ERR_BAD_REQUEST);
    assert_int_equal(yaml_stream_next(s, &v, &err), 0);
    s = yaml_stream_free(s);
    assert_null(yaml_stream_free(s));
}

/* Hang guard for texts of 3 MiB: each takes well under a second without sanitizers. */
static int read_within_bounds(struct str text)
{
    struct value v;
    time_t start = time(NULL);
    int r = yaml_read(&arena, text, NULL, &v, NULL);
    assert_true(time(NULL) - start <= 10);
    return r;
}

static struct str repeated(const char *head, const char *unit, const char *tail, size_t total)
{
    struct buf text = { 0 };
    buf_str_add(&text, str_of(head));
    while (text.n < total)
        buf_str_add(&text, str_of(unit));
    buf_str_add(&text, str_of(tail));
    struct str copy = arena_str(&arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

/* CVE-2019-11253: nine levels of nine aliases each; also its cousins. */
static void aliases_cannot_explode(void **state)
{
    (void)state;
    autobuf text = { 0 };
    buf_printf(&text, "apiVersion: v1\ndata:\n a: &a [x,x,x,x,x,x,x,x,x]\n");
    for (char c = 'b'; c <= 'i'; c++)
        buf_printf(&text, " %c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1, c - 1,
                   c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
    buf_printf(&text, "kind: ConfigMap\nmetadata: {name: bomb}\n");
    struct err err = ERR_INIT(&arena);
    struct value v;
    assert_int_equal(yaml_read(&arena, buf_str(&text), NULL, &v, &err), -ERR_BAD_REQUEST);
    assert_non_null(memmem(err.msg.p, err.msg.n, "expands too much", 16));
    assert_true(arena.held < 1 << 20);

    /* The same by merging, and one large text many times. */
    struct str merges = repeated("a: &a {b: 1, c: 2}\nx: {<<: [", "*a,", "]}", 3000);
    assert_int_equal(yaml_read(&arena, merges, NULL, &v, NULL), 0);
    assert_int_equal(value_dig(&v, "x")->n, 2);
    autobuf large = { 0 };
    buf_printf(&large, "- &a ");
    for (int i = 0; i < 1 << 20; i++)
        buf_byte(&large, 'x');
    for (int i = 0; i < 20; i++)
        buf_printf(&large, "\n- *a");
    assert_int_equal(yaml_read(&arena, buf_str(&large), NULL, &v, &err), -ERR_BAD_REQUEST);

    /* Ordinary reuse is no attack. */
    struct str reuse = repeated("- &a {b: 1}\n", "- *a\n", "", 2000);
    assert_int_equal(yaml_read(&arena, reuse, NULL, &v, NULL), 0);
}

static void aliases_count_towards_depth(void **state)
{
    (void)state;
    autobuf text = { 0 };
    buf_printf(&text, "- &a0 ");
    for (int i = 0; i < 900; i++)
        buf_byte(&text, '[');
    for (int i = 0; i < 900; i++)
        buf_byte(&text, ']');
    struct value v;
    assert_int_equal(yaml_read(&arena, buf_str(&text), NULL, &v, NULL), 0);
    buf_printf(&text, "\n- ");
    for (int i = 0; i < 200; i++)
        buf_byte(&text, '[');
    buf_printf(&text, "*a0");
    for (int i = 0; i < 200; i++)
        buf_byte(&text, ']');
    struct err err = ERR_INIT(&arena);
    assert_int_equal(yaml_read(&arena, buf_str(&text), NULL, &v, &err), -ERR_BAD_REQUEST);
    assert_non_null(memmem(err.msg.p, err.msg.n, "too deeply", 10));
}

static void depth_is_bounded(void **state)
{
    (void)state;
    autobuf text = { 0 };
    struct value v, again;
    for (size_t depth = LIMIT_YAML_DEPTH; depth <= LIMIT_YAML_DEPTH + 1; depth++) {
        buf_reset(&text);
        for (size_t i = 0; i < depth; i++)
            buf_byte(&text, '[');
        for (size_t i = 0; i < depth; i++)
            buf_byte(&text, ']');
        int want = depth <= LIMIT_YAML_DEPTH ? 0 : -ERR_BAD_REQUEST;
        assert_int_equal(yaml_read(&arena, buf_str(&text), NULL, &v, NULL), want);
    }
    autobuf out = { 0 };
    yaml_write(&out, &v);
    assert_int_equal(yaml_read(&arena, buf_str(&out), NULL, &again, NULL), 0);
    assert_true(value_eq(&v, &again));
}

/* CVE-2019-11254 and the nesting rows: what makes a scanner quadratic or deep. */
static void hostile_shapes_end_soon(void **state)
{
    (void)state;
    static const struct {
        const char *head, *unit, *tail;
        int r;
    } rows[] = {
        { "", "- ", "\n", -ERR_BAD_REQUEST },
        { "", "? ", "\n", -ERR_BAD_REQUEST },
        { "", "?\n", "", -ERR_BAD_REQUEST },
        { "", "[", "", -ERR_BAD_REQUEST },
        { "", "{", "", -ERR_BAD_REQUEST },
        { "", "[? ", "", -ERR_BAD_REQUEST },
        { "", "{a: ", "", -ERR_BAD_REQUEST },
        { "", "a: ", "\n", -ERR_BAD_REQUEST },
        { "", "]", "", -ERR_BAD_REQUEST },
        { "", "! ", "\n", -ERR_BAD_REQUEST },
        { "", "&a ", "", -ERR_BAD_REQUEST },
        { "", "%TAG !a! tag:x\n", "--- a", -ERR_BAD_REQUEST },
        { "\"", " \n", "\"", 0 },
        { "a", " ", "b", 0 },
        { "[", "a, ", "]", 0 },
        { "", "- a\n", "", 0 },
        { "", "---\n", "", -ERR_BAD_REQUEST },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        arena_reset(&arena);
        struct str text = repeated(rows[i].head, rows[i].unit, rows[i].tail, LIMIT_BODY_BYTES);
        if (read_within_bounds(text) != rows[i].r)
            fail_msg("%s", rows[i].unit);
    }
}

static void deep_flow_costs_no_more_than_its_budget(void **state)
{
    (void)state;
    autobuf text = { 0 };
    for (int i = 0; i < 990; i++)
        buf_byte(&text, '[');
    while (text.n < LIMIT_BODY_BYTES)
        buf_str_add(&text, STR("a,"));
    assert_int_equal(read_within_bounds(buf_str(&text)), -ERR_BAD_REQUEST);

    buf_reset(&text);
    for (int i = 0; text.n < LIMIT_BODY_BYTES; i++)
        buf_printf(&text, "%%TAG !a%d! tag:x\n", i);
    buf_str_add(&text, STR("--- a\n"));
    assert_int_equal(read_within_bounds(buf_str(&text)), -ERR_BAD_REQUEST);
}

/* CVE-2014-9130, CVE-2014-2525, CVE-2013-6393: the shapes that broke libyaml. */
static void published_libyaml_shapes_do_no_harm(void **state)
{
    (void)state;
    struct value v;
    static const char *const wrapped[] = { "x: [ \"\n  y\": z ]", "a\n  b: c", "{ a\n b : c }",
                                           "? a\n  b\n: c", "- \"a\n  b\": c\n- d" };
    for (size_t i = 0; i < ARRAY_LEN(wrapped); i++)
        (void)yaml_read(&arena, str_of(wrapped[i]), NULL, &v, NULL);
    struct str uri = repeated("--- !<tag:", "%C3%BC", "> x", 100000);
    assert_int_equal(yaml_read(&arena, uri, NULL, &v, NULL), 0);
    struct str tag = repeated("--- !", "a", " x", 1 << 20);
    assert_int_equal(yaml_read(&arena, tag, NULL, &v, NULL), 0);
    struct str cut = repeated("--- !<tag:", "%C3%BC", "%", 100000);
    assert_int_equal(yaml_read(&arena, cut, NULL, &v, NULL), -ERR_BAD_REQUEST);
}

static void *read_on_small_stack(void *text)
{
    struct arena a;
    struct value v;
    arena_init(&a);
    int r = yaml_read(&a, *(struct str *)text, NULL, &v, NULL);
    arena_done(&a);
    return r == -ERR_BAD_REQUEST ? text : NULL;
}

static void brackets_need_no_stack(void **state)
{
    (void)state;
    struct str text = repeated("", "[", "", 100000);
    pthread_attr_t attr;
    pthread_t thread;
    void *good = NULL;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, 64 << 10), 0);
    assert_int_equal(pthread_create(&thread, &attr, read_on_small_stack, &text), 0);
    assert_int_equal(pthread_join(thread, &good), 0);
    assert_non_null(good);
    (void)pthread_attr_destroy(&attr);
}

static void writes_what_go_writes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "a: 1\nb:\n- x\n- - z\n  - c: {}\n    d: []\n- {}\n",
          "{\"a\":1,\"b\":[\"x\",[\"z\",{\"c\":{},\"d\":[]}],{}]}" },
        { "null\n", "null" },
        { "[]\n", "[]" },
        { "- true\n- null\n- -5\n- 1.50\n", "[true,null,-5,1.50]" },
        { "\"true\": \"yes\"\n\"1\": \"0x1f\"\n\"\": \"\"\n",
          "{\"true\":\"yes\",\"1\":\"0x1f\",\"\":\"\"}" },
        { "- \"2001-01-01T00:00:00Z\"\n- \"12:30\"\n- \"~\"\n- 1.2.3\n- 10.0.0.1\n",
          "[\"2001-01-01T00:00:00Z\",\"12:30\",\"~\",\"1.2.3\",\"10.0.0.1\"]" },
        { "- '#a'\n- 'a: b'\n- a:b\n- 'a #b'\n- a#b\n- '- a'\n- -a\n- '*x'\n- ' a'\n- 'a '\n- "
          "it's\n",
          "[\"#a\",\"a: b\",\"a:b\",\"a #b\",\"a#b\",\"- a\",\"-a\",\"*x\",\" a\",\"a "
          "\",\"it's\"]" },
        { "- '''a'''\n- '---'\n- '{a}'\n- a,b\n- a\\b\n",
          "[\"'a'\",\"---\",\"{a}\",\"a,b\",\"a\\\\b\"]" },
        { "- |\n  a\n  b\n- |-\n  a\n\n  b\n- |+\n  a\n\n- |2-\n   a\n  b\n- \"a \\nb\"\n- "
          "\"a\\tb\\n\"\n",
          "[\"a\\nb\\n\",\"a\\n\\nb\",\"a\\n\\n\",\" a\\nb\",\"a \\nb\",\"a\\tb\\n\"]" },
        { "- \"a\\tb\"\n- \"\\0\\x7F\\e\"\n- \"\\U0001F600\"\n- gr\303\274n\n- \"\\L\"\n",
          "[\"a\\tb\",\"\\u0000\177\\u001b\",\"\360\237\230\200\",\"gr\303\274n\",\"\\u2028\"]" },
        { "? |-\n  a\n  b\n: - 1\n  - c: 2\n", "{\"a\\nb\":[1,{\"c\":2}]}" },
        { "\"<<\": <<\n", "{\"<<\":\"<<\"}" },
        { "a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
          "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
          "  cccc dddd\n",
          "{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
          "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb cccc dddd\"}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v, again;
        autobuf out = { 0 };
        assert_int_equal(json_read(&arena, str_of(rows[i].json), NULL, &v, NULL), 0);
        yaml_write(&out, &v);
        if (!str_eq(buf_str(&out), str_of(rows[i].yaml)))
            fail_msg("%s became\n" STR_FMT, rows[i].json, STR_ARG(buf_str(&out)));
        assert_int_equal(yaml_read(&arena, buf_str(&out), NULL, &again, NULL), 0);
        assert_true(value_eq(&v, &again));
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
    static const char *const parts[] = {
        "a",
        "- ",
        ": ",
        "#",
        " #",
        "\n",
        "\n\n",
        " ",
        "  ",
        "\t",
        "\"",
        "'",
        "\\",
        "---",
        "...",
        "?",
        "!",
        "&",
        "*",
        "%",
        "{",
        "]",
        ",",
        "|",
        ">",
        "true",
        "1",
        "~",
        "1.5",
        "<<",
        "12:30",
        "null",
        "0x1f",
        "\303\274",
        "\302\205",
        "\342\200\250",
        "\357\273\277",
        "\360\237\230\200",
        "\001",
        "\r",
        "a long text of several words ",
        "=",
        "word",
        ":",
        "-",
    };
    struct buf text = { 0 };
    for (uint32_t n = pick(7); n; n--)
        buf_str_add(&text, str_of(parts[pick(ARRAY_LEN(parts))]));
    struct str copy = arena_str(&arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

static struct value random_value(int depth)
{
    static const char *const numbers[] = { "-0", "1.50", "1e300", "18446744073709551616", "1E-7" };
    struct value v = value_array();
    switch (pick(depth ? 9 : 6)) {
    case 0:
        return pick(2) ? value_null() : value_bool(pick(2));
    case 1:
        return value_int((int64_t)((uint64_t)pick(UINT32_MAX) << pick(32)) - 1000);
    case 2:
        return value_number(str_of(numbers[pick(5)]));
    case 6:
        for (uint32_t n = pick(5); n; n--)
            value_push(&arena, &v, random_value(depth - 1));
        return v;
    case 7:
    case 8:
        v = value_object();
        for (uint32_t n = pick(5); n; n--)
            value_add(&arena, &v, random_text(), random_value(depth - 1));
        return v;
    default:
        return value_string(random_text());
    }
}

static void random_trees_survive(void **state)
{
    (void)state;
    seed = 521288629u;
    for (int i = 0; i < 5000; i++) {
        arena_reset(&arena);
        struct value v = random_value(5), again;
        struct err err = ERR_INIT(&arena);
        autobuf out = { 0 };
        yaml_write(&out, &v);
        if (yaml_read(&arena, buf_str(&out), NULL, &again, &err) < 0)
            fail_msg(STR_FMT "\n" STR_FMT, STR_ARG(buf_str(&out)), STR_ARG(err.msg));
        if (!value_eq(&v, &again))
            fail_msg(STR_FMT, STR_ARG(buf_str(&out)));
    }
}

static void duplicates_have_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "a: 1\nb: 2\n", "" },
        { "a: 1\na: 2\n", "line 2: key \"a\" already set in map|" },
        { "{\"a\":{\"b\":1,\n\"b\":2},\"a\":\n3}",
          "line 2: key \"b\" already set in map|line 3: key \"a\" already set in map|" },
        { "- {x: 1}\n- {x: 1}\n", "" },
        { "a:\n  - k: 1\n    k:\n      k: 2\n", "line 4: key \"k\" already set in map|" },
        { "? [a, b]\n: 1\n? {a: 1, a: 1}\n: 2\nc: 3\nc: 4\n",
          "line 6: key \"c\" already set in map|" },
        { "a: &x 1\n*x : 2\nb: *x\nb: *x\n", "line 4: key \"b\" already set in map|" },
        { "a: 1\n---\na: 1\na: 2\n", "" },
        { "a: 1\na: [", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str notes[4];
        autobuf all = { 0 };
        size_t n = yaml_duplicates(&arena, str_of(rows[i].text), notes, 4);
        for (size_t j = 0; j < n; j++)
            buf_printf(&all, STR_FMT "|", STR_ARG(notes[j]));
        buf_byte(&all, '\0');
        assert_string_equal(all.p, rows[i].want);
    }
    autobuf deep = { 0 };
    for (int i = 0; i < 9000; i++)
        buf_str_add(&deep, STR("{\"a\":"));
    for (int i = 0; i < 100000; i++)
        buf_str_add(&deep, STR("[[],"));
    assert_int_equal(yaml_duplicates(&arena, buf_str(&deep), NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scalars_resolve_as_go_yaml_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_become_strings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(aliases_and_merges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_say_what_and_where, set_up, tear_down),
        cmocka_unit_test_setup_teardown(duplicates_are_kept_and_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(duplicates_have_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(streams_skip_empty_documents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(aliases_cannot_explode, set_up, tear_down),
        cmocka_unit_test_setup_teardown(aliases_count_towards_depth, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_shapes_end_soon, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deep_flow_costs_no_more_than_its_budget, set_up, tear_down),
        cmocka_unit_test_setup_teardown(published_libyaml_shapes_do_no_harm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(brackets_need_no_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(writes_what_go_writes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_trees_survive, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
