/* What pods seem to use, and how it is told. */
#include "node/simulated/usage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/str.h"

#define POD(name, notes, requests)                                                        \
    "{\"metadata\":{\"name\":\"" name                                                     \
    "\",\"namespace\":\"n\",\"uid\":\"u\",\"annotations\":{" notes                        \
    "}},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{" requests \
    "}}}]},\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"state\":{"                \
    "\"running\":{\"startedAt\":\"1970-01-01T00:00:10Z\"}}},{\"name\":\"d\",\"state\":{}}]}}"

static void add(struct spn_arena *a, struct usage_list *list, const char *text)
{
    struct spn_value *v;
    struct spn_err err = { 0 };
    assert_int_equal(spn_value_read_json(a, spn_text_of(text), &v, &err), 0);
    usage_add(a, list, v);
}

static void test_amounts(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        int64_t cpu_milli, memory;
    } rows[] = {
        { POD("p", "", ""), 1, 8 << 20 },
        { POD("p", "", "\"cpu\":\"1\",\"memory\":\"64Mi\""), 500, 32 << 20 },
        { POD("p", "\"simulate.sampan.io/cpu\":\"250m\",\"simulate.sampan.io/memory\":\"1k\"",
              "\"cpu\":\"1\""),
          250, 1000 },
        { POD("p", "\"simulate.sampan.io/cpu\":\"much\"", ""), 1, 8 << 20 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_arena *a = spn_arena_new();
        struct usage_list list = { 0 };
        add(a, &list, rows[i].pod);
        assert_int_equal(list.n, 1);
        assert_int_equal(list.all[0].cpu_nano, rows[i].cpu_milli * 1000000);
        assert_int_equal(list.all[0].memory, rows[i].memory);
        usage_done(&list);
        spn_arena_free(a);
    }
}

static void has(const struct buf *out, const char *part)
{
    if (!memmem(out->p, out->n, part, strlen(part)))
        fail_msg("no '%s' in %.*s", part, (int)out->n, out->p);
}

static void test_forms(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct usage_list list = { 0 };
    autobuf text = { 0 }, json = { 0 };
    add(a, &list, POD("p", "\"simulate.sampan.io/cpu\":\"2\"", ""));
    add(a, &list, POD("q", "", ""));
    usage_metrics(&text, &list, 20 * NS_PER_SEC);
    has(&text, "# TYPE container_cpu_usage_seconds_total counter\n");
    has(&text, "container_cpu_usage_seconds_total{container=\"c\",namespace=\"n\",pod=\"p\"} "
               "20.000000 20000\n");
    has(&text, "pod_memory_working_set_bytes{namespace=\"n\",pod=\"q\"} 8388608 20000\n");
    has(&text, "node_cpu_usage_seconds_total 20.010000 20000\n");
    usage_summary(&json, &list, 20 * NS_PER_SEC);
    struct spn_value *v;
    struct spn_err err = { 0 };
    assert_int_equal(spn_value_read_json(a, (struct spn_text){ json.p, json.n }, &v, &err), 0);
    assert_int_equal(spn_value_count(spn_value_get(v, "pods")), 2);
    has(&json, "\"usageNanoCores\":2000000000,\"usageCoreNanoSeconds\":20000000000}");
    usage_done(&list);
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_amounts),
                                        cmocka_unit_test(test_forms) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
