#include "server/audit/audit_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/codec/cbor.h"
#include "api/codec/proto.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http/gzip.h"

#define MAP                                                                       \
    "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\"," \
    "\"managedFields\":[{\"manager\":\"m\"}]},\"data\":{\"k\":\"v\"}}"
#define MAP_WITHOUT                                                                \
    "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\"}," \
    "\"data\":{\"k\":\"v\"}}"
#define STATUS                                                                           \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\"," \
    "\"message\":\"m\",\"code\":404}"

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

/* The object, "" for none, with the message of a Status in front. */
static const char *read_answer(const char *type, const char *encoding, struct str body, bool wants,
                               bool omits)
{
    const struct audit_form form = { str_of(type), str_of(encoding) };
    struct audit_answer answer;
    audit_answer_read(&arena, &form, body, wants, omits, &answer);
    const char *text =
        arena_printf(&arena, STR_FMT "%s" STR_FMT, STR_ARG(value_text(&answer.status, "message")),
                     answer.is_too_large ? "too large" : "", STR_ARG(buf_str(&answer.object)))
            .p;
    audit_answer_done(&answer);
    return text;
}

static struct str encode(const char *json, const char *how)
{
    struct value v;
    autobuf out = { 0 };
    assert_int_equal(json_read(&arena, str_of(json), NULL, &v, NULL), 0);
    const struct kind_type *type = kind_find(STR("v1"), value_text(&v, "kind"));
    if (strcmp(how, "proto") == 0)
        proto_envelope_write(&out, type, &v);
    else if (strcmp(how, "cbor") == 0)
        cbor_write(&out, type, &v);
    else if (strcmp(how, "pretty") == 0)
        json_write_pretty(&out, &v);
    else
        gzip_deflate(&out, str_of(json), 1);
    return arena_str(&arena, buf_str(&out));
}

static void every_form_is_read(void **state)
{
    const struct {
        const char *type, *encoding;
        struct str body;
        bool wants, omits;
        const char *want;
    } cases[] = {
        { "application/json", "", STR(MAP "\n"), true, false, MAP },
        { "application/json", "", STR(MAP), true, true, MAP_WITHOUT },
        { "application/json", "", STR(MAP), false, false, "" },
        { "application/json", "", encode(MAP, "pretty"), true, true, MAP_WITHOUT },
        { "application/json", "gzip", encode(MAP, "gzip"), true, false, MAP },
        { "application/yaml", "",
          STR("kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: c\ndata:\n  k: v\n"), true,
          false, MAP_WITHOUT },
        { "application/vnd.kubernetes.protobuf", "", encode(MAP_WITHOUT, "proto"), true, false,
          MAP_WITHOUT },
        { "application/json", "", STR(STATUS), false, false, "m" },
        { "application/json", "", STR(STATUS), true, false, "m" STATUS },
        { "application/json", "", encode(STATUS, "pretty"), false, false, "m" },
        { "application/vnd.kubernetes.protobuf", "", encode(STATUS, "proto"), false, false, "m" },
        { "application/cbor", "", encode(STATUS, "cbor"), false, false, "m" },
        /* What is no object is not shown. */
        { "text/plain", "", STR("ok"), true, false, "" },
        { "application/json", "", STR("{\"major\":\"1\"}"), true, false, "" },
        { "application/json", "", STR("{\"kind\":\"Pod\","), true, true, "" },
        { "application/vnd.kubernetes.protobuf", "", STR("k8s"), true, false, "" },
        { "application/json", "gzip", STR("not gzip"), true, false, "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(read_answer(cases[i].type, cases[i].encoding, cases[i].body,
                                        cases[i].wants, cases[i].omits),
                            cases[i].want);
}

static void managers_are_left_out_of_lists_and_tables(void **state)
{
    static const struct {
        const char *with, *without;
    } cases[] = {
        { "{\"kind\":\"ConfigMapList\",\"items\":[" MAP ",1,{\"metadata\":2}]}",
          "{\"kind\":\"ConfigMapList\",\"items\":[" MAP_WITHOUT ",1,{\"metadata\":2}]}" },
        { "{\"kind\":\"Table\",\"rows\":[{\"cells\":[],\"object\":" MAP "},{}]}",
          "{\"kind\":\"Table\",\"rows\":[{\"cells\":[],\"object\":" MAP_WITHOUT "},{}]}" },
        { "{\"kind\":\"Other\",\"items\":[" MAP "]}", "{\"kind\":\"Other\",\"items\":[" MAP "]}" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(read_answer("application/json", "", str_of(cases[i].with), true, true),
                            cases[i].without);
}

static void what_is_too_large_is_not_shown(void **state)
{
    autobuf body = { 0 }, packed = { 0 };
    (void)state;
    buf_str_add(&body, STR("{\"kind\":\"ConfigMap\",\"x\":\""));
    while (body.n < LIMIT_AUDIT_OBJECT_BYTES - 2)
        buf_byte(&body, 'x');
    buf_str_add(&body, STR("\"}"));
    assert_int_equal(body.n, LIMIT_AUDIT_OBJECT_BYTES);
    assert_int_equal(strlen(read_answer("application/json", "", buf_str(&body), true, false)),
                     LIMIT_AUDIT_OBJECT_BYTES);
    buf_byte(&body, ' ');
    assert_string_equal(read_answer("application/json", "", buf_str(&body), true, false),
                        "too large");
    assert_string_equal(read_answer("application/json", "", buf_str(&body), false, false), "");
    gzip_deflate(&packed, buf_str(&body), 1);
    assert_string_equal(read_answer("application/json", "gzip", buf_str(&packed), true, false),
                        "too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_form_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(managers_are_left_out_of_lists_and_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_too_large_is_not_shown, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
