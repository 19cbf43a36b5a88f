/* claims.c - see claims.h. */
#include "claims.h"

#include <stdlib.h>

struct claim {
    struct claim *next;
    struct prefix range;
    size_t n;
    char key[];
};

struct claims {
    struct claim *first;
};

struct claims *claims_new(void)
{
    struct claims *c = calloc(1, sizeof(*c));
    if (!c)
        abort();
    return c;
}

struct claims *claims_free(struct claims *c)
{
    while (c && c->first) {
        struct claim *next = c->first->next;
        free(c->first);
        c->first = next;
    }
    free(c);
    return NULL;
}

/* Where the pointer to it is, or would be. */
static struct claim **place_of(struct claims *c, struct spn_text key)
{
    struct claim **at = &c->first;
    while (*at && !spn_text_eq((struct spn_text){ (*at)->key, (*at)->n }, key))
        at = &(*at)->next;
    return at;
}

static void claim_add(struct claim **at, struct spn_text key, const struct prefix *range)
{
    struct claim *claim = calloc(1, sizeof(*claim) + key.n + 1);
    if (!claim)
        abort();
    claim->range = *range;
    claim->n = key.n;
    memcpy(claim->key, key.p, key.n);
    *at = claim;
}

static void claim_drop(struct claim **at)
{
    struct claim *claim = *at;
    *at = claim->next;
    free(claim);
}

bool claims_set(struct claims *c, struct spn_text key, const struct prefix *range)
{
    struct claim **at = place_of(c, key);
    if (*at && prefix_eq(&(*at)->range, range))
        return false;
    if (*at && range->family)
        (*at)->range = *range;
    else if (*at)
        claim_drop(at);
    else if (range->family)
        claim_add(at, key, range);
    else
        return false;
    return true;
}

struct prefix claims_get(const struct claims *c, struct spn_text key)
{
    struct claim *const *at = place_of((struct claims *)c, key);
    return *at ? (*at)->range : (struct prefix){ 0 };
}
