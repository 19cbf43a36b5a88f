#include "auth/rbac_rule.h"
#include "base/idiom.h"

#include "base/mem.h"
#include "base/banned.h"

/* ---- Reading ---- */

static const char *const fields[] = { "verbs", "apiGroups", "resources", "resourceNames",
                                      "nonResourceURLs" };
enum { N_FIELDS = ARRAY_LEN(fields) };

/* What the block has to hold. */
struct extent {
    size_t n_rules, n_words, n_bytes;
};

static struct extent measure(const struct value *rules)
{
    struct extent e = { 0 };
    value_each_item (rule, rules) {
        e.n_rules++;
        for (size_t i = 0; i < N_FIELDS; i++)
            value_each_item (word, value_get(rule, str_of(fields[i]))) {
                e.n_words++;
                e.n_bytes += value_str(word).n;
            }
    }
    return e;
}

/* Where the next words and bytes of the block go. */
struct filler {
    struct str *words;
    char *bytes;
};

static struct rbac_words fill(struct filler *f, const struct value *list)
{
    struct rbac_words words = { .items = f->words };
    value_each_item (item, list) {
        struct str text = value_str(item);
        if (text.n)
            memcpy(f->bytes, text.p, text.n);
        *f->words++ = (struct str){ f->bytes, text.n };
        f->bytes += text.n;
        words.n++;
    }
    return words;
}

struct rbac_rules *rbac_rules_new(const struct value *rules)
{
    const struct extent e = measure(rules);
    struct rbac_rules *all = mem_zalloc(sizeof(*all) + e.n_rules * sizeof(struct rbac_rule) +
                                        e.n_words * sizeof(struct str) + e.n_bytes);
    struct rbac_rule *items = (struct rbac_rule *)(all + 1);
    struct filler f = { .words = (struct str *)(items + e.n_rules) };
    f.bytes = (char *)(f.words + e.n_words);
    all->n = e.n_rules;
    all->items = items;
    value_each_item (rule, rules) {
        struct rbac_words *const parts[N_FIELDS] = { &items->verbs, &items->groups,
                                                     &items->resources, &items->names,
                                                     &items->urls };
        for (size_t i = 0; i < N_FIELDS; i++)
            *parts[i] = fill(&f, value_get(rule, str_of(fields[i])));
        items++;
    }
    return all;
}

/* ---- Asking ---- */

bool rbac_words_have(struct rbac_words words, struct str word)
{
    for (size_t i = 0; i < words.n; i++)
        if (str_eq(words.items[i], word))
            return true;
    return false;
}

static bool is_star(struct str word)
{
    return word.n == 1 && word.p[0] == '*';
}

static bool stands_for(struct rbac_words words, struct str word)
{
    for (size_t i = 0; i < words.n; i++)
        if (is_star(words.items[i]) || str_eq(words.items[i], word))
            return true;
    return false;
}

/* `word` of a rule is RESOURCE, RESOURCE/SUB or, for that of every resource, * /SUB. */
static bool is_resource(struct str word, const struct access *q)
{
    if (is_star(word))
        return true;
    if (!q->sub.n)
        return str_eq(word, q->resource);
    if (word.n <= q->sub.n || word.p[word.n - q->sub.n - 1] != '/' || !str_ends(word, q->sub))
        return false;
    struct str resource = str_take(word, word.n - q->sub.n - 1);
    return is_star(resource) || str_eq(resource, q->resource);
}

static bool has_resource(struct rbac_words words, const struct access *q)
{
    for (size_t i = 0; i < words.n; i++)
        if (is_resource(words.items[i], q))
            return true;
    return false;
}

bool rbac_url_covers(struct str rule, struct str path)
{
    if (str_eq(rule, path))
        return true;
    if (!rule.n || rule.p[rule.n - 1] != '*')
        return false;
    while (rule.n && rule.p[rule.n - 1] == '*')
        rule.n--;
    return str_starts(path, rule);
}

static bool has_url(struct rbac_words urls, struct str path)
{
    for (size_t i = 0; i < urls.n; i++)
        if (rbac_url_covers(urls.items[i], path))
            return true;
    return false;
}

bool rbac_rule_allows(const struct rbac_rule *rule, const struct access *q)
{
    if (!stands_for(rule->verbs, q->verb))
        return false;
    if (!q->is_resource)
        return has_url(rule->urls, q->path);
    return stands_for(rule->groups, q->group) && has_resource(rule->resources, q) &&
           (!rule->names.n || rbac_words_have(rule->names, q->name));
}
