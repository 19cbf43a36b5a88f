#include "server/audit/audit_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/go/goduration.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"

static const struct str groups[] = { STR("devs"), STR("say \"hi\"") }, values[] = { STR("1") };
static const struct user_extra extra[] = {
    { STR("z"), values, 1 },
    { STR("a"), values, 1 },
};
static const struct user alice = { .name = STR("alice"),
                                   .uid = STR("u1"),
                                   .groups = groups,
                                   .n_groups = 2,
                                   .extra = extra,
                                   .n_extra = 2 },
                         bob = { .name = STR("bob") };

static struct audit_facts some_facts(void)
{
    return (struct audit_facts){ .level = AUDIT_METADATA,
                                 .stage = AUDIT_REQUEST_RECEIVED,
                                 .id = STR("i"),
                                 .uri = STR("/api/v1/pods?x=1"),
                                 .verb = STR("list"),
                                 .received_ns = 1500 * NS_PER_SEC,
                                 .stage_ns = 1500 * NS_PER_SEC + 1000 };
}

static void check(const struct audit_facts *f, const char *want)
{
    autobuf out = { 0 };
    (void)audit_text_json(&out, f);
    buf_byte(&out, '\0');
    assert_string_equal(out.p, want);
}

#define HEAD                                                                               \
    "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":\"Metadata\","       \
    "\"auditID\":\"i\",\"stage\":\"RequestReceived\",\"requestURI\":\"/api/v1/pods?x=1\"," \
    "\"verb\":\"list\","
#define TIMES                                                       \
    "\"requestReceivedTimestamp\":\"1970-01-01T00:25:00.000000Z\"," \
    "\"stageTimestamp\":\"1970-01-01T00:25:00.000001Z\""

static void what_is_not_known_is_left_out(void **state)
{
    const struct audit_facts f = some_facts();
    (void)state;
    check(&f, HEAD "\"user\":{}," TIMES "}");
}

static void fields_are_in_upstreams_order(void **state)
{
    struct audit_annotation first = { NULL, STR("b"), STR("2") },
                            all = { &first, STR("c"), STR("") };
    struct audit_annotation last = { &all, STR("a"), STR("\n") };
    struct audit_facts f = some_facts();
    (void)state;
    f.user = &alice;
    f.impersonated = &bob;
    f.constraint = STR("impersonate:user-info");
    f.sources[f.n_sources++] = STR("1.2.3.4");
    f.sources[f.n_sources++] = STR("::1");
    f.user_agent = STR("curl");
    f.has_object = true;
    f.resource = STR("pods");
    f.version = STR("v1");
    f.sub = STR("log");
    f.name = STR("p");
    f.code = 201;
    f.request = STR("{\"a\":1}");
    f.answer = STR("{\"b\":2}");
    f.annotations = &last;
    check(&f, HEAD "\"user\":{\"username\":\"alice\",\"uid\":\"u1\",\"groups\":[\"devs\","
                   "\"say \\\"hi\\\"\"],\"extra\":{\"a\":[\"1\"],\"z\":[\"1\"]}},"
                   "\"impersonatedUser\":{\"username\":\"bob\"},\"authenticationMetadata\":{"
                   "\"impersonationConstraint\":\"impersonate:user-info\"},"
                   "\"sourceIPs\":[\"1.2.3.4\",\"::1\"],\"userAgent\":\"curl\","
                   "\"objectRef\":{\"resource\":\"pods\",\"name\":\"p\",\"apiVersion\":\"v1\","
                   "\"subresource\":\"log\"},\"responseStatus\":{\"metadata\":{},\"code\":201},"
                   "\"requestObject\":{\"a\":1},\"responseObject\":{\"b\":2}," TIMES
                   ",\"annotations\":{\"a\":\"\\n\",\"b\":\"2\",\"c\":\"\"}}");
}

static void a_status_is_shown_without_what_is_not_bounded(void **state)
{
    struct arena a;
    struct value status;
    struct audit_facts f = some_facts();
    (void)state;
    arena_init(&a);
    assert_int_equal(json_read(&a,
                               STR("{\"kind\":\"Status\",\"metadata\":{\"continue\":\"x\"},"
                                   "\"status\":\"Failure\",\"message\":\"m\",\"reason\":\"r\","
                                   "\"details\":{\"name\":\"n\"},\"code\":1}"),
                               NULL, &status, NULL),
                     0);
    f.code = 404;
    f.status = &status;
    check(&f, HEAD "\"user\":{},\"responseStatus\":{\"metadata\":{},\"status\":\"Failure\","
                   "\"message\":\"m\",\"reason\":\"r\",\"details\":{\"name\":\"n\"},"
                   "\"code\":404}," TIMES "}");
    arena_done(&a);
}

static void the_place_of_the_answer_is_known(void **state)
{
    struct audit_facts f = some_facts();
    autobuf without = { 0 }, with = { 0 };
    (void)state;
    f.request = STR("{}");
    size_t at = audit_text_json(&without, &f);
    f.answer = STR("[1]");
    assert_int_equal(audit_text_json(&with, &f), at);
    struct str piece = STR(",\"responseObject\":[1]");
    assert_memory_equal(with.p, without.p, at);
    assert_memory_equal(with.p + at, piece.p, piece.n);
    assert_memory_equal(with.p + at + piece.n, without.p + at, without.n - at);
}

static void words_are_one_line(void **state)
{
    struct audit_facts f = some_facts();
    autobuf out = { 0 };
    (void)state;
    audit_text_words(&out, &f);
    buf_byte(&out, '\0');
    assert_string_equal(out.p,
                        "1970-01-01T00:25:00.000000Z AUDIT: id=\"i\" stage=\"RequestReceived\" "
                        "ip=\"<unknown>\" method=\"list\" user=\"<none>\" groups=\"<none>\" "
                        "as=\"<self>\" asgroups=\"<lookup>\" user-agent=\"\" "
                        "namespace=\"<none>\" uri=\"/api/v1/pods?x=1\" response=\"<deferred>\"");
    f.user = &alice;
    f.code = 200;
    buf_reset(&out);
    audit_text_words(&out, &f);
    assert_non_null(memmem(out.p, out.n, STR("groups=\"\\\"devs\\\",\\\"say ").p, 20));
    assert_true(str_ends(buf_str(&out), STR("response=\"200\"")));
}

static void durations_are_gos(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        { 0, "0s" },
        { 1500, "1.5\u00b5s" },
        { 7, "7ns" },
        { -1500 * NS_PER_MS, "-1.5s" },
        { INT64_MIN, "-2562047h47m16.854775808s" },
        { 512345678, "512.345678ms" },
        { 700 * NS_PER_MS, "700ms" },
        { NS_PER_SEC, "1s" },
        { 1500 * NS_PER_MS, "1.5s" },
        { 62500 * NS_PER_MS, "1m2.5s" },
        { 3600 * NS_PER_SEC, "1h0m0s" },
        { 3600 * NS_PER_SEC + 1, "1h0m0.000000001s" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autobuf out = { 0 };
        goduration_write(&out, cases[i].ns);
        buf_byte(&out, '\0');
        assert_string_equal(out.p, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(fields_are_in_upstreams_order),
        cmocka_unit_test(a_status_is_shown_without_what_is_not_bounded),
        cmocka_unit_test(the_place_of_the_answer_is_known),
        cmocka_unit_test(words_are_one_line),
        cmocka_unit_test(durations_are_gos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
