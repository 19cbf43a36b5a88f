#include "server/object/format.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

#define PROTO   "application/vnd.kubernetes.protobuf"
#define TABLE   ";as=Table;v=v1;g=meta.k8s.io"
#define PARTIAL ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
/* What kubectl get sends. */
#define KUBECTL                                                                         \
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;" \
    "g=meta.k8s.io,application/json"

static void forms_of_objects(void **state)
{
    static const struct {
        const char *accept;
        enum format_endpoint endpoint;
        bool has_proto;
        int media; /* -1: refused */
        struct format want;
    } cases[] = {
        { "", FORMAT_OF_ONE, true, FORMAT_JSON },
        { "*/*", FORMAT_OF_ONE, true, FORMAT_JSON },
        { "application/*", FORMAT_OF_ONE, true, FORMAT_JSON },
        { PROTO, FORMAT_OF_ONE, true, FORMAT_PROTO },
        { PROTO ",application/json", FORMAT_OF_COLLECTION, true, FORMAT_PROTO },
        /* Clients of built-in kinds ask so of custom ones too. */
        { PROTO ",application/json", FORMAT_OF_COLLECTION, false, FORMAT_JSON },
        { PROTO, FORMAT_OF_ONE, false, -1 },
        { PROTO PARTIAL, FORMAT_OF_ONE, false, FORMAT_PROTO, { .as = FORMAT_PARTIAL } },
        { PROTO TABLE, FORMAT_OF_ONE, true, -1 },
        { KUBECTL, FORMAT_OF_COLLECTION, true, FORMAT_JSON, { .as = FORMAT_TABLE } },
        { "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
          FORMAT_OF_ONE,
          true,
          FORMAT_JSON,
          { .as = FORMAT_TABLE, .beta = true } },
        { "application/json;as=Table;v=v2;g=meta.k8s.io", FORMAT_OF_ONE, true, -1 },
        { "application/json;as=Table;v=v2;g=meta.k8s.io,application/yaml", FORMAT_OF_ONE, true,
          FORMAT_YAML },
        { "application/json;as=Chair;v=v1;g=meta.k8s.io", FORMAT_OF_ONE, true, -1 },
        { "application/yaml" TABLE, FORMAT_OF_ONE, true, FORMAT_YAML, { .as = FORMAT_TABLE } },
        { "application/json;q=0.1,application/yaml;q=0.9", FORMAT_OF_ONE, true, FORMAT_YAML },
        { "application/yaml", FORMAT_OF_WATCH, true, -1 },
        { "application/cbor-seq", FORMAT_OF_WATCH, true, FORMAT_CBOR },
        { "application/cbor-seq", FORMAT_OF_ONE, true, -1 },
        { "application/cbor", FORMAT_OF_ONE, true, FORMAT_CBOR },
        { "application/json;pretty=1", FORMAT_OF_ONE, true, FORMAT_JSON, { .pretty = true } },
        { "application/json;managedFields=0",
          FORMAT_OF_ONE,
          true,
          FORMAT_JSON,
          { .managers = FORMAT_MANAGERS_HIDDEN } },
        { "application/json;managedFields=1",
          FORMAT_OF_ONE,
          true,
          FORMAT_JSON,
          { .managers = FORMAT_MANAGERS_SHOWN } },
        { "text/html", FORMAT_OF_ONE, true, -1 },
        { "text/html", FORMAT_OF_ANYTHING, true, FORMAT_JSON },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct format got;
        int r = format_choose(&arena, str_of(cases[i].accept), cases[i].endpoint,
                              cases[i].has_proto, &got, NULL);
        const struct format *want = &cases[i].want;
        if (r != (cases[i].media < 0 ? -ERR_NOT_ACCEPTABLE : 0))
            fail_msg("%s: %d", cases[i].accept, r);
        if (r == 0 &&
            ((int)got.media != cases[i].media || got.as != want->as || got.beta != want->beta ||
             got.pretty != want->pretty || got.managers != want->managers))
            fail_msg("%s", cases[i].accept);
    }
}

static void forms_of_documents(void **state)
{
    static const struct format_kind kinds[] = {
        { STR("apidiscovery.k8s.io"), STR("v2"), STR("APIGroupDiscoveryList") },
        { STR("apidiscovery.k8s.io"), STR("v2beta1"), STR("APIGroupDiscoveryList") },
    };
#define AGGREGATED(v) "application/json;g=apidiscovery.k8s.io;v=" v ";as=APIGroupDiscoveryList"
    static const struct {
        const char *accept;
        int kind; /* -1: none */
    } cases[] = {
        { AGGREGATED("v2") "," AGGREGATED("v2beta1") ",application/json", 0 },
        { AGGREGATED("v2beta1") ",application/json", 1 },
        { AGGREGATED("v3") ",application/json", -1 },
        { "application/json," AGGREGATED("v2"), 0 }, /* wanted less, and given */
        { "application/json", -1 },
        { "", -1 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct format f;
        size_t kind = 9;
        bool found = format_choose_kind(&arena, str_of(cases[i].accept), kinds, 2, &f, &kind);
        if (found != (cases[i].kind >= 0) || (found && kind != (size_t)cases[i].kind))
            fail_msg("%s", cases[i].accept);
    }
    struct format f;
    assert_int_equal(format_choose_plain(&arena, STR(AGGREGATED("v2")), &f, NULL),
                     -ERR_NOT_ACCEPTABLE);
    assert_int_equal(format_choose_plain(&arena, STR("application/yaml"), &f, NULL), 0);
    assert_int_equal(f.media, FORMAT_YAML);
}

/* Whoever is refused is told, in a form that he may not even have asked for. */
static void forms_of_refusals(void **state)
{
    (void)state;
    assert_int_equal(format_of_refusal(&arena, STR("image/png")).media, FORMAT_JSON);
    assert_int_equal(format_of_refusal(&arena, STR("")).media, FORMAT_JSON);
    assert_int_equal(format_of_refusal(&arena, STR(PROTO)).media, FORMAT_PROTO);
    assert_int_equal(format_of_refusal(&arena, STR(KUBECTL)).as, FORMAT_OBJECT);
}

static void routes(void **state)
{
    static const struct {
        const char *accept;
        bool one, many;
    } cases[] = {
        { "", true, true },
        { "*/*", true, true },
        { "application/json ; q=0.5", true, true },
        { "text/html, */*", true, true },
        { "application/*", false, false },
        { "application/cbor-seq", false, true },
        { "APPLICATION/JSON", false, false },
        { "text/html", false, false },
    };
    struct err err = ERR_INIT(&arena);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str accept = str_of(cases[i].accept);
        if ((format_route(accept, FORMAT_OF_ONE, NULL) == 0) != cases[i].one ||
            (format_route(accept, FORMAT_OF_COLLECTION, NULL) == 0) != cases[i].many)
            fail_msg("%s", cases[i].accept);
    }
    (void)format_route(STR("text/html"), FORMAT_OF_COLLECTION, &err);
    assert_string_equal(str_cstr(&arena, err.msg),
                        "406: Not Acceptable\n\nAvailable representations: application/json, "
                        "application/yaml, " PROTO ", application/json;stream=watch, " PROTO
                        ";stream=watch");
}

static void content_types(void **state)
{
    static const struct {
        const char *type;
        int media; /* -1: none that we read */
    } cases[] = {
        { "", FORMAT_JSON },
        { "application/json", FORMAT_JSON },
        { "Application/JSON", FORMAT_JSON },
        { "application/json; charset=\"utf-8\"; a=b", FORMAT_JSON },
        { "application/json;", FORMAT_JSON },
        { "application/json; charset", -1 },
        { "application/json; =utf-8", -1 },
        { "application/json; charset=\"utf-8", -1 },
        { "application/json; charset=utf-8 a", -1 },
        { "application/yaml", FORMAT_YAML },
        { "application/cbor", FORMAT_CBOR },
        { PROTO, FORMAT_PROTO },
        { "application/x-www-form-urlencoded", -1 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        enum format_media media;
        bool known = format_of_content(str_of(cases[i].type), &media);
        if (known != (cases[i].media >= 0) || (known && (int)media != cases[i].media))
            fail_msg("%s", cases[i].type);
    }
    assert_true(str_eq(format_content_type(FORMAT_PROTO, true), STR(PROTO ";stream=watch")));
    assert_true(str_eq(format_content_type(FORMAT_CBOR, true), STR("application/cbor-seq")));
    assert_true(str_eq(format_content_type(FORMAT_JSON, true), STR("application/json")));
}

static void white_space(void **state)
{
    static const struct {
        const char *pretty, *agent; /* NULL: no parameter */
        bool want;
    } cases[] = {
        { NULL, "curl/8.0", true },
        { NULL, "Wget/1.2", true },
        { NULL, "Mozilla/5.0 (X11)", true },
        { NULL, "kubectl/v1", false },
        { NULL, "", false },
        { "false", "curl/8.0", false },
        { "0", "curl/8.0", false },
        { "", "curl/8.0", false },
        { "1", "kubectl/v1", true },
        { "true", "", true },
        { "yes", "", false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str pretty = cases[i].pretty ? str_of(cases[i].pretty) : (struct str){ NULL, 0 };
        if (format_pretty(pretty, str_of(cases[i].agent)) != cases[i].want)
            fail_msg("%s %s", cases[i].pretty, cases[i].agent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(forms_of_objects, setup, teardown),
        cmocka_unit_test_setup_teardown(forms_of_documents, setup, teardown),
        cmocka_unit_test_setup_teardown(forms_of_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(routes, setup, teardown),
        cmocka_unit_test_setup_teardown(content_types, setup, teardown),
        cmocka_unit_test_setup_teardown(white_space, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
