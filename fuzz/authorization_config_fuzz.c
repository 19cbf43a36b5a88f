/* A configuration that is read has authorizers within its limits, and its match conditions can be
 * asked, with the same answer each time; one that is not says why. */
#include <stdlib.h>

#include "auth/authorization_config.h"
#include "base/clock.h"
#include "base/idiom.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void ask(const struct match_conditions *c)
{
    static const struct str groups[] = { STR("devs") };
    static const struct user user = { .name = STR("alice"), .groups = groups, .n_groups = 1 };
    static const struct access asked[] = {
        { .user = &user, .is_resource = true, .verb = STR("get"), .resource = STR("pods") },
        { .user = &user, .verb = STR("get"), .path = STR("/healthz") },
    };
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a), again = ERR_INIT(&a);
        int r = match_conditions_hold(c, &a, &asked[i], 10000, &err);
        must(r == match_conditions_hold(c, &a, &asked[i], 10000, &again));
        must(r >= 0 || (err.msg.n && str_eq(err.msg, again.msg)));
        arena_done(&a);
    }
}

static void check(const struct authorizer_config *c)
{
    const struct authorization_webhook *w = &c->webhook;
    must(c->type < AUTHORIZER_TYPES && c->name.n && c->name.n <= 253);
    if (c->type != AUTHORIZER_WEBHOOK)
        return;
    must(w->timeout_ns > 0 && w->timeout_ns <= 30 * NS_PER_SEC);
    must(w->allowed_ttl_ns >= 0 && w->refused_ttl_ns >= 0);
    must(!w->kubeconfig.n || w->kubeconfig.p[0] == '/');
    if (w->conditions)
        ask(w->conditions);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const struct authorization_reading reading = { 0 };
    struct authorization_config config;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    if (authorization_config_read(&a, (struct str){ (const char *)bytes, n }, &reading, &config,
                                  &err) < 0) {
        must(err.msg.n > 0);
    } else {
        must(config.n > 0 && config.n <= AUTHORIZATION_AUTHORIZERS_MAX);
        for (size_t i = 0; i < config.n; i++)
            check(&config.at[i]);
    }
    arena_done(&a);
    return 0;
}
