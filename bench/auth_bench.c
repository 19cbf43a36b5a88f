/* auth_bench - how long a decision takes: allowed and refused, where a user has 10,000 bindings in
 * one way or another, against the same decision in a cluster with a single binding. Then what a
 * token costs: verifying its signature, and the rest of it. */
#include <stdio.h>
#include <stdlib.h>

#include "auth/account_token.h"
#include "auth/rbac.h"
#include "base/idiom.h"
#include "base/json.h"
#include "measure.h"

enum { MANY = 10000 };

static struct arena arena;
static const struct rbac *asked;
static struct access question;
static bool answer;

static void free_block(void *arg, void *block)
{
    (void)arg;
    free(block);
}

static struct value tree(const char *json)
{
    struct value v;
    measure_must(json_read(&arena, str_of(json), NULL, &v, NULL) == 0, json);
    return v;
}

/* A role that allows to get one resource. */
static void set_role(struct rbac *r, struct str ns, struct str name, const char *resource)
{
    struct value role =
        tree(str_cstr(&arena, arena_printf(&arena,
                                           "{\"rules\":[{\"apiGroups\":[\"\"],\"verbs\":[\"get\","
                                           "\"list\"],\"resources\":[\"%s\"]}]}",
                                           resource)));
    rbac_set_role(r, ns, name, &role);
}

static void bind(struct rbac *r, struct str ns, struct str name, struct str role, const char *user)
{
    struct value binding = tree(
        str_cstr(&arena, arena_printf(&arena,
                                      "{\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"" STR_FMT
                                      "\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"%s\"}]}",
                                      STR_ARG(role), user)));
    rbac_set_binding(r, ns, name, &binding);
}

static struct str numbered(const char *stem, int i)
{
    return arena_printf(&arena, "%s%d", stem, i);
}

/* ---- Clusters ---- */

static void one_binding(struct rbac *r)
{
    set_role(r, STR(""), STR("pods"), "pods");
    bind(r, STR(""), STR("b"), STR("pods"), "ann");
}

static void in_many_namespaces(struct rbac *r)
{
    set_role(r, STR(""), STR("pods"), "pods");
    for (int i = 0; i < MANY; i++)
        bind(r, numbered("ns", i), STR("b"), STR("pods"), "ann");
}

static void many_of_one_role(struct rbac *r)
{
    set_role(r, STR(""), STR("pods"), "pods");
    for (int i = 0; i < MANY; i++)
        bind(r, STR(""), numbered("b", i), STR("pods"), "ann");
}

static void many_of_many_roles(struct rbac *r)
{
    for (int i = 0; i < MANY; i++) {
        struct str name = numbered("r", i);
        set_role(r, STR(""), name, i == MANY / 2 ? "pods" : str_cstr(&arena, numbered("kind", i)));
        bind(r, STR(""), name, name, "ann");
    }
}

static void of_many_users(struct rbac *r)
{
    one_binding(r);
    for (int i = 0; i < MANY; i++)
        bind(r, STR(""), numbered("b", i), STR("pods"), str_cstr(&arena, numbered("user", i)));
}

static const struct {
    const char *name;
    void (*fill)(struct rbac *r);
} clusters[] = {
    { "one binding", one_binding },
    { "10,000 in namespaces", in_many_namespaces },
    { "10,000 of one role", many_of_one_role },
    { "10,000 of 10,000 roles", many_of_many_roles },
    { "10,000 of other users", of_many_users },
};

static void decide(void)
{
    answer = rbac_allows(asked, &question);
}

static double decision_us(const char *resource, bool want)
{
    question.resource = str_of(resource);
    double us = measure_us(measure_thread_ns, decide);
    measure_must(answer == want, resource);
    return us;
}

static void measure_decisions(void)
{
    static const struct str groups[] = { STR("team"), STR("system:authenticated") };
    static const struct user ann = { .name = STR("ann"), .groups = groups, .n_groups = 2 };
    double base = 0;
    question = (struct access){ .user = &ann,
                                .is_resource = true,
                                .verb = STR("get"),
                                .version = STR("v1"),
                                .ns = STR("ns77"),
                                .name = STR("p") };
    printf("%-26s %10s %10s %8s\n", "a user's bindings", "allowed", "refused", "ratio");
    for (size_t i = 0; i < ARRAY_LEN(clusters); i++) {
        struct rbac *r = rbac_new(&(struct rbac_retire){ free_block, NULL });
        clusters[i].fill(r);
        asked = r;
        double yes = decision_us("pods", true), no = decision_us("secrets", false);
        base = base ? base : yes;
        printf("%-26s %7.3f us %7.3f us %8.2f\n", clusters[i].name, yes, no, yes / base);
        rbac_free(r);
    }
}

/* ---- Tokens ---- */

static struct account_rules rules;
static struct str token;
static struct account_claims claims;

static void open_token(void)
{
    struct arena a;
    arena_init(&a);
    measure_must(account_token_open(&rules, &a, token, &claims, NULL) == 1, "a token");
    arena_done(&a);
}

static void measure_tokens(void)
{
    static const struct str issuer[] = { STR("https://issuer") };
    struct err err = ERR_INIT(&arena);
    struct signature_key *key;
    struct str pem;
    measure_must(signature_make(&arena, &pem, &err) == 0 &&
                     signature_key_read(pem, &key, &err) == 0,
                 "a key");
    const struct signature_key *const keys[] = { key };
    struct value body = tree("{\"iss\":\"https://issuer\",\"aud\":[\"https://issuer\"],\"exp\":"
                             "1800000000,\"kubernetes.io\":{\"namespace\":\"ns\"}}");
    measure_must(jwt_sign(&arena, key, &body, &token, &err) == 0, "sign");
    rules = (struct account_rules){ .issuers = issuer,
                                    .n_issuers = 1,
                                    .keys = keys,
                                    .n_keys = 1,
                                    .audiences = issuer,
                                    .n_audiences = 1 };
    printf("verifying a token (ES256)  %7.1f us; a loop remembers it\n",
           measure_us(measure_thread_ns, open_token));
    signature_key_free(key);
}

int main(void)
{
    arena_init(&arena);
    measure_decisions();
    measure_tokens();
    arena_done(&arena);
    return 0;
}
