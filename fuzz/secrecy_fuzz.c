/* A configuration of what is encrypted at rest is refused with a reason, or it is complete: each of
 * its rules has a provider with keys that fit, and what it seals it opens again as fresh. */
#include <stdlib.h>

#include "server/secrecy/secrecy_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_provider(const struct secrecy_provider *p)
{
    if (p->type == SECRECY_KMS)
        must(p->name.n && str_starts(p->endpoint, STR("unix:")) && p->timeout_ns > 0);
    else if (p->type != SECRECY_IDENTITY)
        must(p->n_keys > 0);
    for (size_t i = 0; i < p->n_keys; i++)
        must(p->keys[i].name.n &&
             cipher_takes_key((enum cipher)(p->type - SECRECY_AESGCM), p->keys[i].secret.n));
}

static bool is_plain_or_known(const struct secrecy_chain *c)
{
    for (size_t i = 0; c && i < c->n_providers; i++)
        if (c->providers[i]->type == SECRECY_KMS) /* there is no service here */
            return false;
    return true;
}

static void check_key(struct arena *a, const struct secrecy_set *s, struct str key)
{
    struct str value = STR("J and more");
    struct store_entry e = { .key = key, .value = value };
    autobuf sealed = { 0 };
    if (!is_plain_or_known(secrecy_set_find(s, key)))
        return;
    int r = secrecy_set_seal(s, key, value, &sealed, NULL);
    must(r >= 0);
    if (r > 0)
        e.value = buf_str(&sealed);
    must(secrecy_set_open(s, a, &e, NULL) == 0);
    must(str_eq(e.value, value) && !e.is_stale);
}

static void check(struct arena *a, const struct secrecy_config *c)
{
    must(c->n_rules > 0);
    for (size_t i = 0; i < c->n_rules; i++) {
        must(c->rules[i].n_resources > 0 && c->rules[i].n_providers > 0);
        for (size_t j = 0; j < c->rules[i].n_providers; j++)
            check_provider(&c->rules[i].providers[j]);
    }
    struct secrecy_set s;
    secrecy_set_init(&s, a, c);
    check_key(a, &s, STR("/registry/secrets/a/b"));
    check_key(a, &s, STR("/registry/deployments/a/b"));
    check_key(a, &s, STR("/registry/example.com/widgets/a/b"));
    secrecy_set_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct secrecy_config c;
    if (secrecy_config_read(&a, "f", (struct str){ (const char *)bytes, n }, &c, &err) == 0)
        check(&a, &c);
    else
        must(err.code == ERR_INVALID && err.msg.n > 0);
    arena_done(&a);
    return 0;
}
