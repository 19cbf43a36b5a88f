/* What is written into the Node, and when it is worth a write. */
#include "node/register/node_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"

static const struct machine machine = {
    .cores = 2,
    .architecture = STR("amd64"),
    .boot_id = STR("boot-1"),
    .kernel = STR("6.1"),
};
static const struct str labels[] = { STR("zone=a"), STR("kubernetes.io/os=linux") };
static const struct str taints[] = { STR("k=v:NoSchedule"), STR("alone:NoExecute") };
static const struct str ip = STR("10.1.2.3");
static const struct register_options options = {
    .labels = labels,
    .n_labels = 2,
    .taints = taints,
    .n_taints = 2,
    .version = STR("v1.38.0"),
    .port = 10250,
};

static struct value parse(struct arena *a, const char *text)
{
    struct value v;
    struct err err = ERR_INIT(a);
    assert_int_equal(json_read(a, str_of(text), NULL, &v, &err), 0);
    return v;
}

static struct node_facts facts_of(struct arena *a)
{
    return (struct node_facts){ .name = STR("n1"),
                                .host_ips = &ip,
                                .n_host_ips = 1,
                                .capacity = parse(a, "{\"cpu\":\"2\",\"pods\":\"110\"}"),
                                .allocatable = parse(a, "{\"cpu\":\"1\",\"pods\":\"110\"}") };
}

static struct node_state state_of(const struct node_facts *facts, int64_t sec)
{
    return (struct node_state){
        .opt = &options, .facts = facts, .machine = &machine, .now_ns = sec * NS_PER_SEC
    };
}

static struct str condition(const struct value *node, const char *type, const char *key)
{
    value_each_item (c, value_dig(node, "status", "conditions")) {
        if (str_eq(value_text(c, "type"), str_of(type)))
            return value_str(value_get(c, str_of(key)));
    }
    return STR("");
}

static void assert_says(const struct node_events *events, size_t n, const char *reason)
{
    for (size_t i = 0; i < events->n; i++)
        if (str_eq(str_of(events->list[i].reason), str_of(reason))) {
            assert_int_equal(events->n, n);
            return;
        }
    fail_msg("no event %s", reason);
}

static void test_first(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const struct node_facts facts = facts_of(&a);
    struct node_state s = state_of(&facts, 10);
    const struct str faults[] = { STR("a"), STR("b"), STR("a") };
    s.faults = faults;
    s.n_faults = 3;
    struct node_events events = { 0 };
    const struct value node = node_status_first(&a, &s, &events);
    assert_says(&events, 3, "NodeHasSufficientPID");
    assert_true(str_eq(value_str(value_dig(&node, "metadata", "labels", "zone")), STR("a")));
    const struct value *list = value_dig(&node, "spec", "taints");
    assert_true(str_eq(value_text(value_at(list, 0), "value"), STR("v")));
    assert_null(value_get(value_at(list, 1), STR("value")));
    assert_true(str_eq(condition(&node, "Ready", "message"), STR("[a, b]")));
    assert_true(str_eq(condition(&node, "Ready", "reason"), STR("KubeletNotReady")));
    arena_done(&a);
}

/* A second look changes only heartbeats; becoming ready is a change and an event. */
static void test_changes(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const struct node_facts facts = facts_of(&a);
    const struct str fault = STR("not yet");
    struct node_state s = state_of(&facts, 10);
    struct node_events events = { 0 };
    s.faults = &fault;
    s.n_faults = 1;
    const struct value first = node_status_first(&a, &s, &events);
    struct value second = value_borrow(&first);
    events.n = 0;
    s.now_ns += NS_PER_SEC;
    node_status_update(&a, &s, &second, &events);
    assert_int_equal(events.n, 0);
    assert_false(node_status_differs(&a, &first, &second));
    assert_false(value_eq(&first, &second));

    s.n_faults = 0;
    s.pressures = NODE_DISK_PRESSURE;
    node_status_update(&a, &s, &second, &events);
    assert_says(&events, 2, "NodeReady");
    assert_says(&events, 2, "NodeHasDiskPressure");
    assert_true(node_status_differs(&a, &first, &second));
    assert_true(
        str_eq(condition(&second, "DiskPressure", "reason"), STR("KubeletHasDiskPressure")));
    assert_true(
        str_eq(condition(&second, "Ready", "lastTransitionTime"), STR("1970-01-01T00:00:11Z")));
    assert_true(str_eq(condition(&second, "PIDPressure", "lastTransitionTime"),
                       STR("1970-01-01T00:00:10Z")));
    arena_done(&a);
}

/* What others wrote stays; what was of another boot is told. */
static void test_others(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const struct node_facts facts = facts_of(&a);
    const struct node_state s = state_of(&facts, 10);
    struct node_events events = { 0 };
    struct value node = parse(&a, "{\"metadata\":{\"labels\":{\"mine\":\"x\"}},\"status\":{"
                                  "\"capacity\":{\"e.org/gpu\":\"4\"},\"allocatable\":{"
                                  "\"e.org/gone\":\"1\"},\"nodeInfo\":{\"bootID\":\"boot-0\"},"
                                  "\"conditions\":[{\"type\":\"NetworkUnavailable\"}]}}");
    assert_true(node_status_adopt(&a, &s, &node));
    assert_false(node_status_adopt(&a, &s, &node));
    node_status_update(&a, &s, &node, &events);
    assert_true(str_eq(value_str(value_dig(&node, "metadata", "labels", "mine")), STR("x")));
    assert_null(value_dig(&node, "metadata", "labels", "zone")); /* only of a new Node */
    assert_true(
        str_eq(value_str(value_dig(&node, "status", "allocatable", "e.org/gpu")), STR("4")));
    assert_null(value_dig(&node, "status", "allocatable", "e.org/gone"));
    assert_int_equal(value_dig(&node, "status", "conditions")->n, 5);
    assert_says(&events, 4, "Rebooted");
    arena_done(&a);
}

static void test_images(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const struct node_facts facts = facts_of(&a);
    struct node_state s = state_of(&facts, 10);
    const struct value images =
        parse(&a, "[{\"id\":\"a\",\"size\":5,\"repo_tags\":[\"t1\"]},{\"id\":\"b\",\"size\":\"9\","
                  "\"repo_digests\":[\"d1\",\"d2\",\"d3\",\"d4\"],\"repo_tags\":[\"t2\",\"t3\"]}]");
    struct node_events events = { 0 };
    s.images = &images;
    const struct value node = node_status_first(&a, &s, &events);
    const struct value *list = value_dig(&node, "status", "images");
    assert_int_equal(list->n, 2);
    assert_int_equal(value_get(value_at(list, 0), STR("names"))->n, 5);
    assert_true(
        str_eq(value_str(value_at(value_get(value_at(list, 1), STR("names")), 0)), STR("t1")));
    arena_done(&a);
}

static void test_versions(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "1.6.20~ds1", "containerd://1.6.20" },
        { "v1.7.0", "containerd://1.7.0" },
        { "v2.1.0-rc.1", "containerd://2.1.0-rc.1" },
        { "1.5", "containerd://1.5" },
    };
    struct arena a;
    arena_init(&a);
    const struct node_facts facts = facts_of(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct node_state s = state_of(&facts, 10);
        struct node_events events = { 0 };
        const struct value version =
            parse(&a, str_cstr(&a, arena_printf(&a,
                                                "{\"runtime_name\":\"containerd\",\"runtime_"
                                                "version\":\"%s\"}",
                                                rows[i][0])));
        s.runtime_version = &version;
        const struct value node = node_status_first(&a, &s, &events);
        assert_true(
            str_eq(value_str(value_dig(&node, "status", "nodeInfo", "containerRuntimeVersion")),
                   str_of(rows[i][1])));
    }
    arena_done(&a);
}

static void test_patch(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    const char *head = "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"},";
    const struct value old_node =
        parse(&a, str_cstr(&a, arena_printf(&a,
                                            "%s\"status\":{\"addresses\":[{\"type\":"
                                            "\"InternalIP\",\"address\":\"1.1.1.1\"}]}}",
                                            head)));
    const struct value new_node =
        parse(&a, str_cstr(&a, arena_printf(&a,
                                            "%s\"status\":{\"addresses\":[{\"type\":\"InternalIP\","
                                            "\"address\":\"1.1.1.1\"},{\"type\":\"InternalIP\","
                                            "\"address\":\"fd00::1\"}]}}",
                                            head)));
    struct str patch;
    assert_int_equal(node_status_patch(&a, &old_node, &new_node, &patch, &err), 0);
    const struct value tree = parse(&a, str_cstr(&a, patch));
    const struct value *list = value_dig(&tree, "status", "addresses");
    assert_int_equal(list->n, 3);
    assert_true(str_eq(value_text(value_at(list, 2), "$patch"), STR("replace")));
    assert_int_equal(node_status_patch(&a, &old_node, &old_node, &patch, &err), 0);
    assert_true(str_eq(patch, STR("{}")));
    arena_done(&a);
}

static void test_taints(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "k", "k=v", "k=v:Never", ":NoSchedule" };
    struct arena a;
    struct value taint;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT(&a);
        assert_int_equal(node_status_taint(&a, str_of(bad[i]), &taint, &err), -ERR_INVALID);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first),    cmocka_unit_test(test_changes),
        cmocka_unit_test(test_others),   cmocka_unit_test(test_images),
        cmocka_unit_test(test_versions), cmocka_unit_test(test_patch),
        cmocka_unit_test(test_taints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
