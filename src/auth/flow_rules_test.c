/* Which flow a request belongs to: schemas as a fresh server has them and some of our own, flows'
 * hashes and hands against what upstream's arithmetic gives for them. */
#include "auth/flow_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/suite_auth.h"
#include "base/buf.h"
#include "base/idiom.h"

static const char *const levels[] = {
    "{'metadata':{'name':'exempt','uid':'l0'},'spec':{'type':'Exempt','exempt':{}}}",
    "{'metadata':{'name':'low','uid':'l1'},'spec':{'type':'Limited','limited':{"
    "'nominalConcurrencyShares':20,'lendablePercent':50,'limitResponse':{'type':'Queue','queuing':{"
    "'queues':128,'handSize':6,'queueLengthLimit':50}}}}}",
    "{'metadata':{'name':'reject','uid':'l2'},'spec':{'type':'Limited','limited':{"
    "'nominalConcurrencyShares':10,'borrowingLimitPercent':25,'limitResponse':{'type':'Reject'}}}}",
    /* These contradict themselves. */
    "{'metadata':{'name':'mine'},'spec':{'type':'Exempt','exempt':{}}}",
    "{'metadata':{'name':'unsplit'},'spec':{'type':'Limited','limited':{'limitResponse':{"
    "'type':'Queue','queuing':{'queues':1024,'handSize':7,'queueLengthLimit':5}}}}}",
    "{'metadata':{'name':'greedy'},'spec':{'type':'Limited','limited':{'limitResponse':{"
    "'type':'Queue','queuing':{'queues':4,'handSize':5,'queueLengthLimit':5}}}}}",
};

#define ANY_RESOURCE                                                       \
    "'resourceRules':[{'verbs':['*'],'apiGroups':['*'],'resources':['*']," \
    "'clusterScope':true,'namespaces':['*']}]"
#define SCHEMA(name, precedence, level, subject, what)                                            \
    "{'metadata':{'name':'" name "','uid':'u-" name "'},'spec':{'matchingPrecedence':" precedence \
    ",'priorityLevelConfiguration':{'name':'" level "'},'distinguisherMethod':{'type':'ByUser'}," \
    "'rules':[{'subjects':[" subject "]," what "}]}}"
#define USER(name)  "{'kind':'User','user':{'name':'" name "'}}"
#define GROUP(name) "{'kind':'Group','group':{'name':'" name "'}}"
#define ACCOUNT(ns, name) \
    "{'kind':'ServiceAccount','serviceAccount':{'namespace':'" ns "','name':'" name "'}}"

static const char *const schemas[] = {
    SCHEMA("everybody", "9000", "low", GROUP("*"), ANY_RESOURCE),
    SCHEMA("dangling", "5", "nowhere", GROUP("*"), ANY_RESOURCE),
    SCHEMA("broken", "6", "greedy", GROUP("*"), ANY_RESOURCE),
    SCHEMA("b-same", "50", "low", USER("eve"), ANY_RESOURCE),
    SCHEMA("a-same", "50", "low", USER("eve"), ANY_RESOURCE),
    SCHEMA("all-of-ns", "60", "low", ACCOUNT("kube-system", "*"), ANY_RESOURCE),
    SCHEMA("one-account", "40", "low", ACCOUNT("kube-system", "gc"), ANY_RESOURCE),
    SCHEMA("any-user-status", "70", "low", USER("*"),
           "'resourceRules':[{'verbs':['get','patch'],'apiGroups':[''],'resources':['pods/status'],"
           "'namespaces':['one','two']}]"),
    SCHEMA("cluster", "80", "reject", USER("*"),
           "'resourceRules':[{'verbs':['*'],'apiGroups':[''],'resources':['nodes'],"
           "'clusterScope':true,'namespaces':[]}]"),
    SCHEMA("star-in-list", "90", "reject", USER("*"),
           "'resourceRules':[{'verbs':['*','get'],'apiGroups':[''],'resources':['secrets'],"
           "'namespaces':['*']}]"),
    SCHEMA("paths", "10", "exempt", GROUP("system:authenticated"),
           "'nonResourceRules':[{'verbs':['get'],'nonResourceURLs':['/healthz','/logs/*']}]"),
};

static struct flow_rules *make(struct arena *a)
{
    struct flow_rules *r = flow_rules_new();
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        struct value v = suite_tree(a, levels[i]);
        flow_rules_add_level(r, &v);
    }
    for (size_t i = 0; i < ARRAY_LEN(schemas); i++) {
        struct value v = suite_tree(a, schemas[i]);
        flow_rules_add_schema(r, &v);
    }
    flow_rules_seal(r);
    return r;
}

static void find_by_first_that_matches(void **state)
{
    (void)state;
    static const struct {
        const char *user, *group, *verb, *api_group, *resource, *sub, *ns, *path, *want;
    } rows[] = {
        { "root", "system:masters", "get", "", "pods", "", "x", "", "exempt" },
        { "eve", "g", "get", "", "pods", "", "x", "", "a-same" },
        { "system:serviceaccount:kube-system:gc", "g", "get", "", "pods", "", "x", "",
          "one-account" },
        { "system:serviceaccount:kube-system:gc2", "g", "get", "", "pods", "", "x", "",
          "all-of-ns" },
        { "system:serviceaccount:kube-systems:gc", "g", "get", "", "pods", "", "x", "",
          "everybody" },
        { "system:serviceaccount:kube-system", "g", "get", "", "pods", "", "x", "", "everybody" },
        { "bob", "g", "get", "", "pods", "status", "one", "", "any-user-status" },
        { "bob", "g", "update", "", "pods", "status", "one", "", "everybody" },
        { "bob", "g", "get", "", "pods", "status", "three", "", "everybody" },
        { "bob", "g", "get", "", "pods", "", "one", "", "everybody" },
        { "bob", "g", "get", "apps", "pods", "status", "one", "", "everybody" },
        { "bob", "g", "get", "", "nodes", "", "", "", "cluster" },
        { "bob", "g", "get", "", "nodes", "status", "", "", "everybody" },
        { "bob", "g", "get", "", "secrets", "", "x", "", "star-in-list" },
        { "bob", "g", "list", "", "secrets", "", "x", "", "everybody" },
        { "bob", "system:authenticated", "get", "", "", "", "", "/healthz", "paths" },
        { "bob", "system:authenticated", "get", "", "", "", "", "/healthz/etcd", "paths" },
        { "bob", "system:authenticated", "get", "", "", "", "", "/healthzz", "catch-all" },
        { "bob", "system:authenticated", "get", "", "", "", "", "/logs/a/b", "paths" },
        { "bob", "system:authenticated", "get", "", "", "", "", "/logs", "catch-all" },
        { "bob", "system:authenticated", "post", "", "", "", "", "/healthz", "catch-all" },
        { "bob", "g", "get", "", "", "", "", "/healthz", "catch-all" }, /* for want of another */
    };
    struct arena a;
    arena_init(&a);
    struct flow_rules *r = make(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct str group = str_of(rows[i].group);
        const struct user user = { .name = str_of(rows[i].user), .groups = &group, .n_groups = 1 };
        const struct access q = {
            .user = &user,
            .verb = str_of(rows[i].verb),
            .is_resource = rows[i].resource[0] != '\0',
            .group = str_of(rows[i].api_group),
            .resource = str_of(rows[i].resource),
            .sub = str_of(rows[i].sub),
            .ns = str_of(rows[i].ns),
            .path = str_of(rows[i].path),
        };
        const struct flow_schema *s = flow_rules_find(r, &q);
        if (!str_eq(s->name, str_of(rows[i].want)))
            fail_msg("row %zu: " STR_FMT ", not %s", i, STR_ARG(s->name), rows[i].want);
        assert_non_null(s->level);
    }
    flow_rules_free(r);
    arena_done(&a);
}

static void levels_are_read_or_passed_over(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct flow_rules *r = make(&a);
    const struct flow_level_spec *low = flow_rules_level(r, STR("low")),
                                 *reject = flow_rules_level(r, STR("reject"));
    assert_int_equal(low->shares, 20);
    assert_int_equal(low->lendable_percent, 50);
    assert_int_equal(low->borrowing_percent, -1);
    assert_int_equal(low->n_queues, 128);
    assert_int_equal(low->hand_size, 6);
    assert_int_equal(reject->n_queues, 0);
    assert_int_equal(reject->borrowing_percent, 25);
    assert_true(flow_rules_level(r, STR("exempt"))->is_exempt);
    assert_true(str_eq(flow_rules_level(r, STR("exempt"))->uid, STR("l0")));
    assert_non_null(flow_rules_level(r, STR("catch-all"))); /* imagined */
    assert_null(flow_rules_level(r, STR("mine")));
    assert_null(flow_rules_level(r, STR("unsplit")));
    assert_null(flow_rules_level(r, STR("greedy")));
    flow_rules_free(r);
    arena_done(&a);
}

static void without_objects_there_are_two_schemas(void **state)
{
    (void)state;
    struct flow_rules *r = flow_rules_new();
    flow_rules_seal(r);
    const struct str masters = USER_MASTERS;
    const struct user root = { .name = STR("root"), .groups = &masters, .n_groups = 1 },
                      nobody = { .name = STR("nobody") };
    struct access q = { .user = &root, .verb = STR("get"), .path = STR("/") };
    assert_true(str_eq(flow_rules_find(r, &q)->name, STR("exempt")));
    q.user = &nobody;
    assert_true(str_eq(flow_rules_find(r, &q)->name, STR("catch-all")));
    assert_int_equal(flow_rules_find(r, &q)->uid.n, 0);
    flow_rules_free(r);
}

static void distinguish_by_user_or_namespace(void **state)
{
    (void)state;
    const struct user user = { .name = STR("bob") };
    const struct access q = { .user = &user, .ns = STR("one") };
    struct flow_schema s = { .by = FLOW_BY_USER };
    assert_true(str_eq(flow_schema_distinguish(&s, &q), STR("bob")));
    s.by = FLOW_BY_NAMESPACE;
    assert_true(str_eq(flow_schema_distinguish(&s, &q), STR("one")));
    s.by = FLOW_BY_NOTHING;
    assert_int_equal(flow_schema_distinguish(&s, &q).n, 0);
}

static void hashes_and_hands_are_upstreams(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *by;
        uint64_t hash;
        size_t deck, n, hand[FLOW_HAND_MAX];
    } rows[] = {
        { "global-default", "alice", 0xf4de3bd42ccdf6b7u, 128, 6, { 55, 62, 126, 125, 105, 1 } },
        { "global-default", "bob", 0x6cc15f39b7bdc3b9u, 128, 6, { 57, 101, 58, 46, 116, 53 } },
        { "system-nodes", "system:node:a", 0x6acc35453a79eea7u, 64, 6, { 39, 38, 30, 56, 55, 0 } },
        { "service-accounts", "", 0xa8db662c2ca2434fu, 16, 4, { 15, 0, 3, 7 } },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t hand[FLOW_HAND_MAX];
        uint64_t hash = flow_hash(&a, str_of(rows[i].schema), str_of(rows[i].by));
        assert_int_equal(hash, rows[i].hash);
        flow_deal(hash, rows[i].deck, rows[i].n, hand);
        for (size_t k = 0; k < rows[i].n; k++)
            assert_int_equal(hand[k], rows[i].hand[k]);
    }
    arena_done(&a);
}

static void hands_have_no_card_twice(void **state)
{
    (void)state;
    for (uint64_t hash = 1; hash < 1u << 30; hash = hash * 3 + 7) {
        size_t hand[FLOW_HAND_MAX];
        flow_deal(hash * 0x9E3779B97F4A7C15u, 16, 15, hand);
        for (size_t i = 0; i < 15; i++) {
            assert_in_range(hand[i], 0, 15);
            for (size_t k = 0; k < i; k++)
                assert_int_not_equal(hand[i], hand[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(find_by_first_that_matches),
        cmocka_unit_test(levels_are_read_or_passed_over),
        cmocka_unit_test(without_objects_there_are_two_schemas),
        cmocka_unit_test(distinguish_by_user_or_namespace),
        cmocka_unit_test(hashes_and_hands_are_upstreams),
        cmocka_unit_test(hands_have_no_card_twice),
    };
    return cmocka_run_group_tests_name("flow rules", tests, NULL, NULL);
}
