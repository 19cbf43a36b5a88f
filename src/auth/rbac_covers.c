#include "auth/rbac_covers.h"

#include <stdlib.h>

#include "api/go/quote.h"
#include "base/banned.h"

enum {
    MISSING_MAX = 1000, /* parts that are told */
    LOOK_EVERY = 256,   /* parts, before the allowance is looked at */
};

static bool has_all(struct rbac_words owner, struct rbac_words words)
{
    for (size_t i = 0; i < words.n; i++)
        if (!rbac_words_have(owner, words.items[i]))
            return false;
    return true;
}

static bool has_star_or_all(struct rbac_words owner, struct rbac_words words)
{
    return rbac_words_have(owner, STR("*")) || has_all(owner, words);
}

/* RESOURCE/SUB is also covered by * /SUB. */
static bool covers_resource(struct rbac_words owner, struct str resource)
{
    ptrdiff_t slash = str_find(resource, '/');
    if (rbac_words_have(owner, resource))
        return true;
    for (size_t i = 0; slash >= 0 && i < owner.n; i++)
        if (str_starts(owner.items[i], STR("*/")) &&
            str_eq(str_skip(owner.items[i], 1), str_skip(resource, (size_t)slash)))
            return true;
    return false;
}

static bool covers_resources(struct rbac_words owner, struct rbac_words words)
{
    if (rbac_words_have(owner, STR("*")))
        return true;
    for (size_t i = 0; i < words.n; i++)
        if (!covers_resource(owner, words.items[i]))
            return false;
    return true;
}

static bool covers_url(struct rbac_words owner, struct str url)
{
    for (size_t i = 0; i < owner.n; i++)
        if (rbac_url_covers(owner.items[i], url))
            return true;
    return false;
}

static bool covers_urls(struct rbac_words owner, struct rbac_words words)
{
    for (size_t i = 0; i < words.n; i++)
        if (!covers_url(owner, words.items[i]))
            return false;
    return true;
}

static bool rule_covers(const struct rbac_rule *owner, const struct rbac_rule *rule)
{
    return has_star_or_all(owner->verbs, rule->verbs) &&
           has_star_or_all(owner->groups, rule->groups) &&
           covers_resources(owner->resources, rule->resources) &&
           covers_urls(owner->urls, rule->urls) &&
           (!owner->names.n || (rule->names.n && has_all(owner->names, rule->names)));
}

/* ---- Taking apart ---- */

struct search {
    struct arena *arena;
    const struct rbac_rule *const *held;
    size_t n_held, n_looked, n_missing;
    struct rbac_rule missing[MISSING_MAX]; /* simple ones with more than one verb */
};

static bool is_covered(const struct search *s, const struct rbac_rule *rule)
{
    for (size_t i = 0; i < s->n_held; i++)
        if (rule_covers(s->held[i], rule))
            return true;
    return false;
}

static struct rbac_words one(const struct str *word)
{
    return (struct rbac_words){ word, 1 };
}

/* Parts that differ in the verb alone are told together, unless they are of paths. */
static bool joins(const struct rbac_rule *there, const struct rbac_rule *part)
{
    return !there->urls.n && !part->urls.n && there->names.n == part->names.n &&
           (!part->names.n || str_eq(there->names.items[0], part->names.items[0])) &&
           str_eq(there->groups.items[0], part->groups.items[0]) &&
           str_eq(there->resources.items[0], part->resources.items[0]);
}

static void add_missing(struct search *s, const struct rbac_rule *part)
{
    for (size_t i = 0; i < s->n_missing; i++) {
        struct rbac_rule *there = &s->missing[i];
        if (!joins(there, part))
            continue;
        struct str *verbs = arena_array(s->arena, struct str, there->verbs.n + 1);
        memcpy(verbs, there->verbs.items, there->verbs.n * sizeof(*verbs));
        verbs[there->verbs.n] = part->verbs.items[0];
        there->verbs = (struct rbac_words){ verbs, there->verbs.n + 1 };
        return;
    }
    s->missing[s->n_missing++] = *part;
}

/* False: enough. */
static bool look_at(struct search *s, const struct rbac_rule *part)
{
    if (s->n_missing == MISSING_MAX || (++s->n_looked % LOOK_EVERY == 0 && arena_spent(s->arena)))
        return false;
    if (!is_covered(s, part))
        add_missing(s, part);
    return true;
}

/* Of one group and resource. */
static bool look_at_resource(struct search *s, const struct rbac_rule *rule,
                             const struct str *group, const struct str *resource)
{
    for (size_t v = 0; v < rule->verbs.n; v++) {
        struct rbac_rule part = { .verbs = one(&rule->verbs.items[v]),
                                  .groups = one(group),
                                  .resources = one(resource) };
        if (!rule->names.n && !look_at(s, &part))
            return false;
        for (size_t i = 0; i < rule->names.n; i++) {
            part.names = one(&rule->names.items[i]);
            if (!look_at(s, &part))
                return false;
        }
    }
    return true;
}

static bool look_at_urls(struct search *s, const struct rbac_rule *rule)
{
    for (size_t u = 0; u < rule->urls.n; u++)
        for (size_t v = 0; v < rule->verbs.n; v++) {
            const struct rbac_rule part = { .verbs = one(&rule->verbs.items[v]),
                                            .urls = one(&rule->urls.items[u]) };
            if (!look_at(s, &part))
                return false;
        }
    return true;
}

static bool look_at_rule(struct search *s, const struct rbac_rule *rule)
{
    if (is_covered(s, rule))
        return true; /* and so is every part of it */
    for (size_t g = 0; g < rule->groups.n; g++)
        for (size_t k = 0; k < rule->resources.n; k++)
            if (!look_at_resource(s, rule, &rule->groups.items[g], &rule->resources.items[k]))
                return false;
    return look_at_urls(s, rule);
}

/* ---- Telling ---- */

static void tell_words(struct buf *out, const char *name, struct rbac_words words)
{
    if (!words.n)
        return;
    if (out->p[out->n - 1] != '{')
        buf_str_add(out, STR(", "));
    buf_str_add(out, str_of(name));
    buf_str_add(out, STR(":["));
    for (size_t i = 0; i < words.n; i++) {
        if (i)
            buf_byte(out, ' ');
        quote_go(out, words.items[i]);
    }
    buf_byte(out, ']');
}

static struct str tell_rule(struct arena *a, const struct rbac_rule *rule)
{
    autobuf out = { 0 };
    buf_byte(&out, '{');
    tell_words(&out, "APIGroups", rule->groups);
    tell_words(&out, "Resources", rule->resources);
    tell_words(&out, "NonResourceURLs", rule->urls);
    tell_words(&out, "ResourceNames", rule->names);
    tell_words(&out, "Verbs", rule->verbs);
    buf_byte(&out, '}');
    return arena_str(a, buf_str(&out));
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static struct str tell(struct search *s)
{
    autobuf out = { 0 };
    struct str *lines = arena_array(s->arena, struct str, s->n_missing);
    for (size_t i = 0; i < s->n_missing; i++)
        lines[i] = tell_rule(s->arena, &s->missing[i]);
    if (s->n_missing)
        qsort(lines, s->n_missing, sizeof(*lines), by_text);
    for (size_t i = 0; i < s->n_missing; i++) {
        if (i && str_eq(lines[i], lines[i - 1]))
            continue;
        if (i)
            buf_byte(&out, '\n');
        buf_str_add(&out, lines[i]);
    }
    return arena_str(s->arena, buf_str(&out));
}

int rbac_uncovered(struct arena *a, const struct rbac_rule *const *held, size_t n_held,
                   const struct rbac_rules *rules, struct str *ret, struct err *err)
{
    struct search *s = arena_new(a, struct search);
    s->arena = a;
    s->held = held;
    s->n_held = n_held;
    for (size_t i = 0; i < rules->n; i++)
        if (!look_at_rule(s, &rules->items[i]))
            break;
    if (arena_spent(a))
        return allowance_error(a->allowance, err);
    *ret = tell(s);
    return 0;
}
