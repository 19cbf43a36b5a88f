/* Roles and bindings: what is allowed, why, and what a user holds; then random changes against a
 * model that looks at every binding. */
#include "auth/rbac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "auth/rbac_covers.h"
#include "auth/suite_auth.h"
#include "base/buf.h"
#include "base/idiom.h"

/* ---- The fixture ---- */

/* What was retired is freed at the end: readers of the test may still hold it. */
struct plane {
    struct arena arena;
    struct rbac *rbac;
    void **retired;
    size_t n_retired, cap;
};

static void keep_block(void *arg, void *block)
{
    struct plane *p = arg;
    if (p->n_retired == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 64;
        p->retired = realloc(p->retired, p->cap * sizeof(void *));
    }
    p->retired[p->n_retired++] = block;
}

static void free_retired(struct plane *p)
{
    while (p->n_retired)
        free(p->retired[--p->n_retired]);
}

static int setup(void **state)
{
    struct plane *p = calloc(1, sizeof(*p));
    arena_init(&p->arena);
    p->rbac = rbac_new(&(struct rbac_retire){ keep_block, p });
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct plane *p = *state;
    rbac_free(p->rbac);
    free_retired(p);
    free(p->retired);
    arena_done(&p->arena);
    free(p);
    return 0;
}

/* Both are JSON of rules and of subjects; NULL: gone. */
static void role(struct plane *p, const char *ns, const char *name, const char *rules)
{
    struct value obj = value_object();
    if (rules)
        value_put(&p->arena, &obj, STR("rules"), suite_tree(&p->arena, rules));
    rbac_set_role(p->rbac, str_of(ns), str_of(name), rules ? &obj : NULL);
}

static void binding(struct plane *p, const char *ns, const char *name, const char *ref,
                    const char *subjects)
{
    struct value obj = value_object();
    if (ref) {
        value_put(&p->arena, &obj, STR("roleRef"), suite_tree(&p->arena, ref));
        value_put(&p->arena, &obj, STR("subjects"), suite_tree(&p->arena, subjects));
    }
    rbac_set_binding(p->rbac, str_of(ns), str_of(name), ref ? &obj : NULL);
}

/* "VERB GROUP/RESOURCE/SUB NS NAME", with - for no namespace; or "VERB path PATH". */
static struct access question(struct plane *p, const struct user *user, const char *text)
{
    struct str rest = arena_str(&p->arena, str_of(text));
    struct access q = { .user = user, .verb = str_cut(&rest, ' ') };
    struct str what = str_cut(&rest, ' ');
    if (str_eq(what, STR("path"))) {
        q.path = rest;
        return q;
    }
    struct str ns = str_cut(&rest, ' ');
    q.is_resource = true;
    q.group = str_cut(&what, '/');
    q.resource = str_cut(&what, '/');
    q.sub = what;
    q.ns = str_eq(ns, STR("-")) ? STR("") : ns;
    q.name = rest;
    return q;
}

static bool allows(struct plane *p, const struct user *user, const char *text)
{
    struct access q = question(p, user, text);
    struct str reason;
    bool yes = rbac_allows(p->rbac, &q);
    assert_int_equal(rbac_explain(p->rbac, &p->arena, &q, &reason), yes);
    return yes;
}

static const struct str devs[] = { STR("devs"), STR("system:authenticated") };
static const struct user alice = { .name = STR("alice"), .groups = devs, .n_groups = 2 };
static const struct user bob = { .name = STR("bob") };
static const struct user robot = { .name = STR("system:serviceaccount:ci:robot") };

#define CLUSTER_ROLE(name) "{'kind':'ClusterRole','name':'" name "'}"
#define ROLE(name)         "{'kind':'Role','name':'" name "'}"
#define USER(name)         "[{'kind':'User','name':'" name "'}]"

/* ---- Rules ---- */

static void rules_match_as_upstream(void **state)
{
    struct plane *p = *state;
    static const struct {
        const char *rules, *question;
        bool yes;
    } cases[] = {
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]", "get /pods ns x", true },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]", "list /pods ns", false },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]", "get apps/pods ns x",
          false },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]", "get /pods/log ns x",
          false },
        { "[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]", "get a/b/c ns x", true },
        { "[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]", "get path /healthz", false },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods/log']}]", "get /pods/log - x",
          true },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods/log']}]", "get /pods - x", false },
        { "[{'verbs':['get'],'apiGroups':['*'],'resources':['*/scale']}]", "get apps/d/scale - x",
          true },
        { "[{'verbs':['get'],'apiGroups':['*'],'resources':['*/scale']}]", "get apps/d - x",
          false },
        { "[{'verbs':['get'],'apiGroups':['*'],'resources':['*/scale']}]", "get apps/d/xscale - x",
          false },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a','b']}]",
          "get /pods ns b", true },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a','b']}]",
          "get /pods ns c", false },
        { "[{'verbs':['list'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a']}]",
          "list /pods ns", false },
        { "[{'verbs':['get'],'nonResourceURLs':['/healthz','/apis/*']}]", "get path /healthz",
          true },
        { "[{'verbs':['get'],'nonResourceURLs':['/healthz','/apis/*']}]", "get path /healthz/x",
          false },
        { "[{'verbs':['get'],'nonResourceURLs':['/healthz','/apis/*']}]", "get path /apis/x/y",
          true },
        { "[{'verbs':['get'],'nonResourceURLs':['/healthz','/apis/*']}]", "get path /apis", false },
        { "[{'verbs':['get'],'nonResourceURLs':['*']}]", "get path /any/thing", true },
        { "[{'verbs':['get'],'nonResourceURLs':['*']}]", "post path /any/thing", false },
        { "[]", "get /pods ns x", false },
    };
    binding(p, "", "b", CLUSTER_ROLE("r"), USER("alice"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        role(p, "", "r", cases[i].rules);
        if (allows(p, &alice, cases[i].question) != cases[i].yes)
            fail_msg("%s, %s: not %d", cases[i].rules, cases[i].question, cases[i].yes);
    }
}

/* ---- Bindings ---- */

#define PODS "[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]"

static void a_binding_gives_its_role_where_it_stands(void **state)
{
    struct plane *p = *state;
    role(p, "", "reader", PODS);
    binding(p, "a", "b", CLUSTER_ROLE("reader"), USER("alice"));
    assert_true(allows(p, &alice, "get /pods a x"));
    assert_false(allows(p, &alice, "get /pods b x"));
    assert_false(allows(p, &alice, "get /pods - x"));
    assert_false(allows(p, &bob, "get /pods a x"));
    binding(p, "", "b", CLUSTER_ROLE("reader"), USER("bob"));
    assert_true(allows(p, &bob, "get /pods anywhere x"));
    assert_true(allows(p, &bob, "get /pods - x"));
    binding(p, "", "b", NULL, NULL);
    assert_false(allows(p, &bob, "get /pods a x"));
}

static void a_role_is_of_its_namespace(void **state)
{
    struct plane *p = *state;
    role(p, "a", "reader", PODS);
    binding(p, "a", "b", ROLE("reader"), USER("alice"));
    binding(p, "other", "b", ROLE("reader"), USER("alice"));
    assert_true(allows(p, &alice, "get /pods a x"));
    assert_false(allows(p, &alice, "get /pods other x"));
    role(p, "a", "reader", NULL);
    assert_false(allows(p, &alice, "get /pods a x"));
    role(p, "a", "reader", PODS);
    assert_true(allows(p, &alice, "get /pods a x"));
}

static void groups_and_service_accounts_are_subjects(void **state)
{
    struct plane *p = *state;
    role(p, "", "r", PODS);
    binding(p, "", "g", CLUSTER_ROLE("r"), "[{'kind':'Group','name':'devs'}]");
    assert_true(allows(p, &alice, "get /pods - x"));
    assert_false(allows(p, &(struct user){ .name = STR("devs") }, "get /pods - x"));
    binding(p, "", "s", CLUSTER_ROLE("r"),
            "[{'kind':'ServiceAccount','name':'robot','namespace':'ci'}]");
    assert_true(allows(p, &robot, "get /pods - x"));
    binding(p, "", "s", NULL, NULL);
    binding(p, "ci", "s", CLUSTER_ROLE("r"), "[{'kind':'ServiceAccount','name':'robot'}]");
    assert_true(allows(p, &robot, "get /pods ci x"));
    binding(p, "x", "s", CLUSTER_ROLE("r"), "[{'kind':'ServiceAccount','name':'robot'}]");
    assert_false(allows(p, &robot, "get /pods x x"));
    binding(p, "", "n", CLUSTER_ROLE("r"), "[{'kind':'ServiceAccount','name':'robot'}]");
    assert_false(allows(p, &robot, "get /pods - x")); /* without a namespace it is nobody */
}

static void a_binding_that_changes_takes_back(void **state)
{
    struct plane *p = *state;
    role(p, "", "r", PODS);
    role(p, "", "s", "[{'verbs':['list'],'apiGroups':[''],'resources':['pods']}]");
    binding(p, "", "b", CLUSTER_ROLE("r"),
            "[{'kind':'User','name':'alice'},{'kind':'User','name':'alice'},"
            "{'kind':'User','name':'bob'}]");
    assert_true(allows(p, &bob, "get /pods - x"));
    binding(p, "", "b", CLUSTER_ROLE("s"), USER("alice"));
    assert_false(allows(p, &bob, "get /pods - x"));
    assert_false(allows(p, &alice, "get /pods - x"));
    assert_true(allows(p, &alice, "list /pods -"));
    role(p, "", "s", NULL);
    binding(p, "", "b", NULL, NULL);
    binding(p, "", "b", NULL, NULL);
    assert_false(allows(p, &alice, "list /pods -"));
}

/* ---- Reasons ---- */

static void check_reason(struct plane *p, const struct user *user, const char *text,
                         const char *reason)
{
    struct access q = question(p, user, text);
    struct str said;
    (void)rbac_explain(p->rbac, &p->arena, &q, &said);
    assert_string_equal(str_cstr(&p->arena, said), reason);
}

static void reasons_name_binding_role_and_subject(void **state)
{
    struct plane *p = *state;
    role(p, "", "r", PODS);
    role(p, "ci", "l", "[{'verbs':['list'],'apiGroups':[''],'resources':['pods']}]");
    binding(p, "", "zb", CLUSTER_ROLE("r"),
            "[{'kind':'User','name':'x'},{'kind':'Group','name':'devs'}]");
    binding(p, "ci", "lb", ROLE("l"), "[{'kind':'ServiceAccount','name':'robot'}]");
    check_reason(
        p, &alice, "get /pods - x",
        "RBAC: allowed by ClusterRoleBinding \"zb\" of ClusterRole \"r\" to Group \"devs\"");
    binding(p, "", "ab", CLUSTER_ROLE("r"), USER("alice"));
    check_reason(
        p, &alice, "get /pods - x",
        "RBAC: allowed by ClusterRoleBinding \"ab\" of ClusterRole \"r\" to User \"alice\"");
    check_reason(p, &robot, "list /pods ci",
                 "RBAC: allowed by RoleBinding \"lb/ci\" of Role \"l\" to ServiceAccount "
                 "\"robot/ci\"");
    check_reason(p, &bob, "list /pods ci", "");
}

static void roles_that_are_missing_are_told(void **state)
{
    struct plane *p = *state;
    binding(p, "", "b1", CLUSTER_ROLE("gone"), USER("alice"));
    check_reason(p, &alice, "get /pods a x",
                 "RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found");
    binding(p, "a", "b2", ROLE("lost"), USER("alice"));
    binding(p, "a", "b3", ROLE("lost"), USER("alice"));
    check_reason(p, &alice, "get /pods a x",
                 "RBAC: [clusterrole.rbac.authorization.k8s.io \"gone\" not found, "
                 "role.rbac.authorization.k8s.io \"lost\" not found]");
}

/* ---- Escalation ---- */

static void check_uncovered(struct plane *p, const char *held, const char *rules, const char *text)
{
    struct err err = ERR_INIT(&p->arena);
    struct value h = suite_tree(&p->arena, held), r = suite_tree(&p->arena, rules);
    struct rbac_rules *owner = rbac_rules_new(&h), *wanted = rbac_rules_new(&r);
    const struct rbac_rule *all[8];
    struct str said;
    assert_in_range(owner->n, 0, ARRAY_LEN(all));
    for (size_t i = 0; i < owner->n; i++)
        all[i] = &owner->items[i];
    assert_int_equal(rbac_uncovered(&p->arena, all, owner->n, wanted, &said, &err), 0);
    if (!str_eq(said, str_of(text)))
        fail_msg("%s for %s:\n" STR_FMT, rules, held, STR_ARG(said));
    free(owner);
    free(wanted);
}

static void what_is_not_held_is_told(void **state)
{
    static const struct {
        const char *held, *wanted, *missing;
    } cases[] = {
        { "[]", PODS, "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}" },
        { PODS, PODS, "" },
        { "[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]", PODS, "" },
        { PODS, "[{'verbs':['*'],'apiGroups':[''],'resources':['pods']}]",
          "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"*\"]}" },
        { PODS, "[{'verbs':['get','list','watch'],'apiGroups':[''],'resources':['pods','nodes']}]",
          "{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\" \"list\" \"watch\"]}\n"
          "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\" \"watch\"]}" },
        { PODS, "[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a']}]",
          "" },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a']}]",
          "[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a','b']}]",
          "{APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"b\"], Verbs:[\"get\"]}" },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a']}]", PODS,
          "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}" },
        { "[{'verbs':['get'],'apiGroups':['*'],'resources':['*/scale']}]",
          "[{'verbs':['get'],'apiGroups':['apps'],'resources':['deployments/scale']}]", "" },
        { "[{'verbs':['get'],'apiGroups':['*'],'resources':['*/scale']}]",
          "[{'verbs':['get'],'apiGroups':['apps'],'resources':['deployments']}]",
          "{APIGroups:[\"apps\"], Resources:[\"deployments\"], Verbs:[\"get\"]}" },
        { "[{'verbs':['get'],'nonResourceURLs':['/apis/*']}]",
          "[{'verbs':['get','post'],'nonResourceURLs':['/apis/x','/y']}]",
          "{NonResourceURLs:[\"/apis/x\"], Verbs:[\"post\"]}\n"
          "{NonResourceURLs:[\"/y\"], Verbs:[\"get\"]}\n"
          "{NonResourceURLs:[\"/y\"], Verbs:[\"post\"]}" },
        { "[{'verbs':['get'],'apiGroups':[''],'resources':['pods']},"
          "{'verbs':['list'],'apiGroups':[''],'resources':['pods']}]",
          "[{'verbs':['get','list'],'apiGroups':[''],'resources':['pods']}]", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_uncovered(*state, cases[i].held, cases[i].wanted, cases[i].missing);
}

/* A small role can be taken apart into very much: that ends with the request's time. */
static void taking_apart_ends_with_the_allowance(void **state)
{
    struct plane *p = *state;
    enum { WORDS = 3000 };
    struct value rule = value_object(), rules = value_array();
    static const char *const fields[] = { "verbs", "apiGroups", "resources", "resourceNames" };
    for (size_t f = 0; f < ARRAY_LEN(fields); f++) {
        struct value words = value_array();
        for (int i = 0; i < WORDS; i++)
            value_put_item(&p->arena, &words, value_string(arena_printf(&p->arena, "w%d", i)));
        value_put(&p->arena, &rule, str_of(fields[f]), words);
    }
    value_put_item(&p->arena, &rules, rule);
    struct rbac_rules *wanted = rbac_rules_new(&rules);
    /* The holder has it in two halves: no part is missing, and no rule covers the whole. */
    struct rbac_rule halves[2] = { wanted->items[0], wanted->items[0] };
    halves[0].verbs.n = WORDS / 2;
    halves[1].verbs.items += WORDS / 2;
    halves[1].verbs.n -= WORDS / 2;
    const struct rbac_rule *held[] = { &halves[0], &halves[1] };
    struct err err = ERR_INIT(&p->arena);
    struct allowance late = { .end = ALLOWANCE_LATE };
    struct arena a;
    struct str said;
    arena_init(&a);
    arena_allow(&a, &late);
    assert_int_equal(rbac_uncovered(&a, held, 2, wanted, &said, &err), -ERR_TIMEOUT);
    arena_done(&a);
    free(wanted);
}

/* ---- Many ---- */

/* More roles than are looked at one by one: a table finds them, and follows what changes. */
static void many_roles_in_one_scope_are_all_found(void **state)
{
    struct plane *p = *state;
    enum { N = 300 };
    for (int i = 0; i < N; i++) {
        const char *name = str_cstr(&p->arena, arena_printf(&p->arena, "r%03d", i));
        struct str rules =
            i % 3 ? arena_printf(&p->arena,
                                 "[{'verbs':['get'],'apiGroups':['g'],'resources':['k%d','k%d/"
                                 "status']}]",
                                 i, i)
                  : arena_printf(&p->arena,
                                 "[{'verbs':['get'],'apiGroups':['g'],'resources':['k'],"
                                 "'resourceNames':['n%d','m%d']}]",
                                 i, i);
        role(p, "", name, str_cstr(&p->arena, rules));
        struct value obj = value_object(), ref = suite_tree(&p->arena, "{'kind':'ClusterRole'}");
        value_put(&p->arena, &ref, STR("name"), value_string(str_of(name)));
        value_put(&p->arena, &obj, STR("roleRef"), ref);
        value_put(&p->arena, &obj, STR("subjects"), suite_tree(&p->arena, USER("alice")));
        rbac_set_binding(p->rbac, STR(""), str_of(name), &obj);
    }
    for (int i = 0; i < N; i++) {
        struct str text = i % 3 ? arena_printf(&p->arena, "get g/k%d/status - x", i)
                                : arena_printf(&p->arena, "get g/k ns n%d", i);
        assert_true(allows(p, &alice, str_cstr(&p->arena, text)));
    }
    assert_false(allows(p, &alice, "get g/k ns x"));
    assert_false(allows(p, &alice, "get g/k301 ns x"));
    role(p, "", "r007", PODS);
    assert_true(allows(p, &alice, "get /pods - x"));
    assert_false(allows(p, &alice, "get g/k7 - x"));
    role(p, "", "r008", "[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]");
    assert_true(allows(p, &alice, "get any/thing - x"));
    binding(p, "", "r008", NULL, NULL);
    assert_false(allows(p, &alice, "get any/thing - x"));
    for (int i = 0; i < N; i++)
        binding(p, "", str_cstr(&p->arena, arena_printf(&p->arena, "r%03d", i)), NULL, NULL);
    assert_false(allows(p, &alice, "get /pods - x"));
}

/* ---- Against a model ---- */

enum { NAMES = 6, SCOPES = 3, BINDINGS = 40, ROLES = 12, STEPS = 4000 };

struct model {
    struct value roles[SCOPES][ROLES], bindings[SCOPES][BINDINGS]; /* null: there is none */
    uint64_t seed;
};

static unsigned dice(struct model *m, unsigned n)
{
    m->seed = m->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(m->seed >> 33) % n;
}

static const char *const scopes[SCOPES] = { "", "a", "b" };

static struct value random_words(struct plane *p, struct model *m, const char *stem)
{
    struct value words = value_array();
    for (unsigned i = 0, n = 1 + dice(m, 2); i < n; i++)
        value_put_item(&p->arena, &words,
                       value_string(dice(m, 12) ? arena_printf(&p->arena, "%s%u", stem, dice(m, 4))
                                                : STR("*")));
    return words;
}

static struct value random_role(struct plane *p, struct model *m)
{
    struct value role = value_object(), rules = value_array();
    for (unsigned i = 0, n = dice(m, 3); i < n; i++) {
        struct value rule = value_object();
        value_put(&p->arena, &rule, STR("verbs"), random_words(p, m, "v"));
        value_put(&p->arena, &rule, STR("apiGroups"), random_words(p, m, "g"));
        value_put(&p->arena, &rule, STR("resources"), random_words(p, m, "k"));
        if (!dice(m, 4))
            value_put(&p->arena, &rule, STR("resourceNames"), random_words(p, m, "n"));
        value_put_item(&p->arena, &rules, rule);
    }
    value_put(&p->arena, &role, STR("rules"), rules);
    return role;
}

static struct value random_binding(struct plane *p, struct model *m, bool is_cluster)
{
    struct value obj = value_object(), ref = value_object(), subjects = value_array();
    bool local = !is_cluster && dice(m, 2);
    value_put(&p->arena, &ref, STR("kind"), value_string(local ? STR("Role") : STR("ClusterRole")));
    value_put(&p->arena, &ref, STR("name"),
              value_string(arena_printf(&p->arena, "r%u", dice(m, ROLES))));
    for (unsigned i = 0, n = dice(m, 4); i < n; i++) {
        struct value s = value_object();
        value_put(&p->arena, &s, STR("kind"),
                  value_string(dice(m, 2) ? STR("User") : STR("Group")));
        value_put(&p->arena, &s, STR("name"),
                  value_string(arena_printf(&p->arena, "u%u", dice(m, NAMES))));
        value_put_item(&p->arena, &subjects, s);
    }
    value_put(&p->arena, &obj, STR("roleRef"), ref);
    value_put(&p->arena, &obj, STR("subjects"), subjects);
    return obj;
}

static bool words_match(const struct value *words, struct str word)
{
    value_each_item (w, words)
        if (str_eq(value_str(w), STR("*")) || str_eq(value_str(w), word))
            return true;
    return false;
}

static bool model_rule(const struct value *rule, const struct access *q)
{
    const struct value *names = value_get(rule, STR("resourceNames"));
    bool named = !names;
    value_each_item (n, names)
        named |= str_eq(value_str(n), q->name);
    return named && words_match(value_get(rule, STR("verbs")), q->verb) &&
           words_match(value_get(rule, STR("apiGroups")), q->group) &&
           words_match(value_get(rule, STR("resources")), q->resource);
}

static bool model_binding(const struct model *m, size_t scope, const struct value *b,
                          const struct access *q)
{
    bool is_meant = false;
    value_each_item (s, value_get(b, STR("subjects")))
        is_meant |= str_eq(value_text(s, "kind"), STR("User"))
                        ? str_eq(value_text(s, "name"), q->user->name)
                        : user_is_in(q->user, value_text(s, "name"));
    struct str name = value_str(value_dig(b, "roleRef", "name"));
    bool local = str_eq(value_str(value_dig(b, "roleRef", "kind")), STR("Role"));
    uint64_t at = 0;
    if (!is_meant || !str_to_u64(str_skip(name, 1), &at))
        return false;
    value_each_item (rule, value_get(&m->roles[local ? scope : 0][at], STR("rules")))
        if (model_rule(rule, q))
            return true;
    return false;
}

static bool model_allows(const struct model *m, const struct access *q)
{
    for (size_t s = 0; s < SCOPES; s++)
        for (size_t i = 0; (!s || str_eq(q->ns, str_of(scopes[s]))) && i < BINDINGS; i++)
            if (model_binding(m, s, &m->bindings[s][i], q))
                return true;
    return false;
}

static void change_model(struct plane *p, struct model *m)
{
    size_t s = dice(m, SCOPES), i = dice(m, BINDINGS), k = dice(m, ROLES);
    bool goes = !dice(m, 4);
    if (dice(m, 3)) {
        m->bindings[s][i] = goes ? value_null() : random_binding(p, m, s == 0);
        rbac_set_binding(p->rbac, str_of(scopes[s]), arena_printf(&p->arena, "b%zu", i),
                         goes ? NULL : &m->bindings[s][i]);
    } else {
        m->roles[s][k] = goes ? value_null() : random_role(p, m);
        rbac_set_role(p->rbac, str_of(scopes[s]), arena_printf(&p->arena, "r%zu", k),
                      goes ? NULL : &m->roles[s][k]);
    }
}

static void random_changes_agree_with_the_model(void **state)
{
    struct plane *p = *state;
    struct model *m = calloc(1, sizeof(*m));
    size_t n_yes = 0;
    m->seed = 7;
    for (int step = 0; step < STEPS; step++) {
        change_model(p, m);
        const struct str groups[] = { arena_printf(&p->arena, "u%u", dice(m, NAMES)) };
        const struct user user = { .name = arena_printf(&p->arena, "u%u", dice(m, NAMES)),
                                   .groups = groups,
                                   .n_groups = 1 };
        const char *text = str_cstr(
            &p->arena,
            arena_printf(&p->arena, "v%u g%u/k%u %s n%u", dice(m, 4), dice(m, 4), dice(m, 4),
                         (const char *[]){ "-", "a", "b" }[dice(m, 3)], dice(m, 4)));
        struct access q = question(p, &user, text);
        bool yes = model_allows(m, &q);
        n_yes += yes;
        if (allows(p, &user, text) != yes)
            fail_msg("step %d: " STR_FMT " %s: not %d", step, STR_ARG(user.name), text, yes);
        free_retired(p);
    }
    assert_in_range(n_yes, STEPS / 20, STEPS - STEPS / 20);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rules_match_as_upstream, setup, teardown),
        cmocka_unit_test_setup_teardown(a_binding_gives_its_role_where_it_stands, setup, teardown),
        cmocka_unit_test_setup_teardown(a_role_is_of_its_namespace, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_and_service_accounts_are_subjects, setup, teardown),
        cmocka_unit_test_setup_teardown(a_binding_that_changes_takes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(reasons_name_binding_role_and_subject, setup, teardown),
        cmocka_unit_test_setup_teardown(roles_that_are_missing_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_held_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(taking_apart_ends_with_the_allowance, setup, teardown),
        cmocka_unit_test_setup_teardown(many_roles_in_one_scope_are_all_found, setup, teardown),
        cmocka_unit_test_setup_teardown(random_changes_agree_with_the_model, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
