/* A configuration of whose tokens are believed is refused with a reason, or it is complete: each
 * issuer has an https URL and an audience, each expression is compiled. What it makes of a token is
 * the same each time. */
#include <stdlib.h>

#include "auth/openid_token.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_source(const struct authentication_source *s)
{
    must(!s->program == !s->expression.n);
    must(!s->claim.n || !s->expression.n);
}

static void check_jwt(const struct authentication_jwt *jwt)
{
    must(str_eq_nocase(str_take(jwt->url, 6), STR("https:")));
    must(jwt->n_audiences > 0 && !jwt->egress.n);
    must(jwt->username.claim.n || jwt->username.expression.n);
    check_source(&jwt->username);
    check_source(&jwt->groups);
    check_source(&jwt->uid);
    for (size_t i = 0; i < jwt->n_extra; i++)
        must(jwt->extra[i].program != NULL);
    for (size_t i = 0; i < jwt->n_claim_rules; i++)
        must(!jwt->claim_rules[i].program == !jwt->claim_rules[i].expression.n);
    for (size_t i = 0; i < jwt->n_user_rules; i++)
        must(jwt->user_rules[i].program != NULL);
}

static void check_user(struct arena *a, const struct authentication_jwt *jwt)
{
    struct err err = ERR_INIT(a), again = ERR_INIT(a);
    struct jwt t = { .alg = STR("RS256") };
    struct user u, v;
    must(json_read(a,
                   STR("{\"sub\":\"jane\",\"email\":\"j@e\",\"email_verified\":true,\"groups\":["
                       "\"a\",\"b\"],\"exp\":10,\"a.b\":{\"c\":[1,null]},\"jti\":\"7\"}"),
                   NULL, &t.claims, &err) == 0);
    int r = openid_token_user(jwt, a, &t, NULL, OPENID_BUDGET, &u, &err);
    must(r == openid_token_user(jwt, a, &t, NULL, OPENID_BUDGET, &v, &again));
    if (r < 0)
        must(r == -ERR_UNAUTHORIZED && err.msg.n && str_eq(err.msg, again.msg));
    else
        must(u.name.n && str_eq(u.name, v.name) && u.n_groups == v.n_groups);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    const struct str ours = STR("https://kubernetes.default.svc");
    const struct authentication_own own = { &ours, 1 };
    struct authentication_config c;
    if (authentication_config_read(&a, (struct str){ (const char *)bytes, n }, &own, &c, &err) < 0)
        must(err.code == ERR_INVALID && err.msg.n > 0);
    else
        must(c.n_jwt <= AUTHENTICATION_JWT_MAX && c.n_algorithms > 0);
    for (size_t i = 0; !err.code && i < c.n_jwt; i++) {
        check_jwt(&c.jwt[i]);
        check_user(&a, &c.jwt[i]);
    }
    arena_done(&a);
    return 0;
}
