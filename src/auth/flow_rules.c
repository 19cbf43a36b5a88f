#include "auth/flow_rules.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

struct words {
    const struct str *items;
    size_t n;
};

enum subject_kind { SUBJECT_OTHER, SUBJECT_USER, SUBJECT_GROUP, SUBJECT_ACCOUNT };

struct subject {
    enum subject_kind kind;
    struct str name, ns;
};

struct resource_rule {
    struct words verbs, groups, resources, namespaces;
    bool cluster_scope;
};

struct path_rule {
    struct words verbs, urls;
};

struct flow_rule {
    struct subject *subjects;
    struct resource_rule *resources;
    struct path_rule *paths;
    size_t n_subjects, n_resources, n_paths;
};

struct flow_rules {
    struct arena arena;
    struct flow_level_spec *levels;
    struct flow_schema *schemas;
    size_t n_levels, cap_levels, n_schemas, cap_schemas;
    const struct flow_schema *catch_all;
    bool is_sealed;
};

struct flow_rules *flow_rules_new(void)
{
    struct flow_rules *r = mem_new(struct flow_rules);
    arena_init(&r->arena);
    return r;
}

struct flow_rules *flow_rules_free(struct flow_rules *r)
{
    if (!r)
        return NULL;
    arena_done(&r->arena);
    free(r->levels);
    free(r->schemas);
    free(r);
    return NULL;
}

/* ---- Reading levels ---- */

static uint32_t number(const struct value *v, uint32_t otherwise)
{
    int64_t n;
    return value_to_int(v, &n) && n >= 0 && n <= UINT32_MAX ? (uint32_t)n : otherwise;
}

static bool can_deal(uint32_t n_queues, uint32_t hand_size)
{
    return n_queues && hand_size && hand_size <= n_queues && hand_size <= FLOW_HAND_MAX &&
           ceil(log2(n_queues) * hand_size) <= FLOW_ENTROPY_BITS_MAX;
}

static bool read_queuing(const struct value *queuing, struct flow_level_spec *ret)
{
    ret->n_queues = number(value_get(queuing, STR("queues")), 64);
    ret->hand_size = number(value_get(queuing, STR("handSize")), 8);
    ret->length = number(value_get(queuing, STR("queueLengthLimit")), 50);
    return can_deal(ret->n_queues, ret->hand_size);
}

static bool read_level(const struct value *spec, struct flow_level_spec *ret)
{
    ret->is_exempt = str_eq(value_text(spec, "type"), STR("Exempt"));
    const struct value *part = value_get(spec, ret->is_exempt ? STR("exempt") : STR("limited")),
                       *borrows = value_get(part, STR("borrowingLimitPercent"));
    int64_t percent;
    if (!part || ret->is_exempt != str_eq(ret->name, STR("exempt")))
        return false;
    ret->shares = number(value_get(part, STR("nominalConcurrencyShares")), 30);
    ret->lendable_percent = number(value_get(part, STR("lendablePercent")), 0);
    ret->borrowing_percent = value_to_int(borrows, &percent) ? (int32_t)percent : -1;
    const struct value *response = value_get(part, STR("limitResponse"));
    if (!str_eq(value_text(response, "type"), STR("Queue")))
        return true;
    return read_queuing(value_get(response, STR("queuing")), ret);
}

static struct flow_level_spec *new_level(struct flow_rules *r)
{
    assert(!r->is_sealed);
    if (r->n_levels == r->cap_levels) {
        r->cap_levels = r->cap_levels ? 2 * r->cap_levels : 16;
        r->levels = mem_resize(r->levels, r->cap_levels, sizeof(*r->levels));
    }
    r->levels[r->n_levels] = (struct flow_level_spec){ .borrowing_percent = -1 };
    return &r->levels[r->n_levels++];
}

static struct str meta(struct flow_rules *r, const struct value *obj, const char *field)
{
    return arena_str(&r->arena, value_str(value_dig(obj, "metadata", field)));
}

void flow_rules_add_level(struct flow_rules *r, const struct value *obj)
{
    struct flow_level_spec *level = new_level(r);
    level->name = meta(r, obj, "name");
    level->uid = meta(r, obj, "uid");
    if (!read_level(value_get(obj, STR("spec")), level))
        r->n_levels--;
}

/* ---- Reading schemas ---- */

static struct words read_words(struct arena *a, const struct value *list)
{
    struct str *items = arena_array(a, struct str, value_is(list, VALUE_ARRAY) ? list->n : 0);
    struct words words = { .items = items };
    value_each_item (it, list)
        items[words.n++] = arena_str(a, value_str(it));
    return words;
}

static struct subject read_subject(struct arena *a, const struct value *given)
{
    struct str kind = value_text(given, "kind");
    struct subject s = { .kind = SUBJECT_OTHER };
    const struct value *part = NULL;
    if (str_eq(kind, STR("User")) && (part = value_get(given, STR("user"))))
        s.kind = SUBJECT_USER;
    else if (str_eq(kind, STR("Group")) && (part = value_get(given, STR("group"))))
        s.kind = SUBJECT_GROUP;
    else if (str_eq(kind, STR("ServiceAccount")) &&
             (part = value_get(given, STR("serviceAccount"))))
        s.kind = SUBJECT_ACCOUNT;
    s.name = arena_str(a, value_text(part, "name"));
    s.ns = arena_str(a, value_text(part, "namespace"));
    return s;
}

static size_t count(const struct value *list)
{
    return value_is(list, VALUE_ARRAY) ? list->n : 0;
}

static struct flow_rule read_rule(struct arena *a, const struct value *given)
{
    const struct value *subjects = value_get(given, STR("subjects")),
                       *resources = value_get(given, STR("resourceRules")),
                       *paths = value_get(given, STR("nonResourceRules"));
    struct flow_rule rule = {
        .subjects = arena_array(a, struct subject, count(subjects)),
        .resources = arena_array(a, struct resource_rule, count(resources)),
        .paths = arena_array(a, struct path_rule, count(paths)),
    };
    value_each_item (s, subjects)
        rule.subjects[rule.n_subjects++] = read_subject(a, s);
    value_each_item (it, resources)
        rule.resources[rule.n_resources++] = (struct resource_rule){
            .verbs = read_words(a, value_get(it, STR("verbs"))),
            .groups = read_words(a, value_get(it, STR("apiGroups"))),
            .resources = read_words(a, value_get(it, STR("resources"))),
            .namespaces = read_words(a, value_get(it, STR("namespaces"))),
            .cluster_scope = value_is_true(value_get(it, STR("clusterScope"))),
        };
    value_each_item (it, paths)
        rule.paths[rule.n_paths++] = (struct path_rule){
            .verbs = read_words(a, value_get(it, STR("verbs"))),
            .urls = read_words(a, value_get(it, STR("nonResourceURLs"))),
        };
    return rule;
}

static enum flow_distinguisher read_method(const struct value *method)
{
    struct str type = value_text(method, "type");
    if (str_eq(type, STR("ByUser")))
        return FLOW_BY_USER;
    return str_eq(type, STR("ByNamespace")) ? FLOW_BY_NAMESPACE : FLOW_BY_NOTHING;
}

static struct flow_schema *new_schema(struct flow_rules *r)
{
    assert(!r->is_sealed);
    if (r->n_schemas == r->cap_schemas) {
        r->cap_schemas = r->cap_schemas ? 2 * r->cap_schemas : 16;
        r->schemas = mem_resize(r->schemas, r->cap_schemas, sizeof(*r->schemas));
    }
    r->schemas[r->n_schemas] = (struct flow_schema){ .by = FLOW_BY_NOTHING };
    return &r->schemas[r->n_schemas++];
}

void flow_rules_add_schema(struct flow_rules *r, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec")), *rules = value_get(spec, STR("rules"));
    struct flow_schema *s = new_schema(r);
    s->name = meta(r, obj, "name");
    s->uid = meta(r, obj, "uid");
    s->precedence = number(value_get(spec, STR("matchingPrecedence")), 1000);
    s->by = read_method(value_get(spec, STR("distinguisherMethod")));
    s->level_name =
        arena_str(&r->arena, value_str(value_dig(spec, "priorityLevelConfiguration", "name")));
    s->rules = arena_array(&r->arena, struct flow_rule, count(rules));
    value_each_item (it, rules)
        s->rules[s->n_rules++] = read_rule(&r->arena, it);
}

/* ---- Sealing ---- */

static struct flow_level_spec *find_level(const struct flow_rules *r, struct str name)
{
    for (size_t i = 0; i < r->n_levels; i++)
        if (str_eq(r->levels[i].name, name))
            return &r->levels[i];
    return NULL;
}

static struct flow_schema *find_schema(struct flow_rules *r, struct str name)
{
    for (size_t i = 0; i < r->n_schemas; i++)
        if (str_eq(r->schemas[i].name, name))
            return &r->schemas[i];
    return NULL;
}

static void imagine_levels(struct flow_rules *r)
{
    if (!find_level(r, STR("exempt"))) {
        struct flow_level_spec *l = new_level(r);
        l->name = STR("exempt");
        l->is_exempt = true;
    }
    if (!find_level(r, STR("catch-all"))) {
        struct flow_level_spec *l = new_level(r);
        l->name = STR("catch-all");
        l->shares = 5;
    }
}

static void imagine_schema(struct flow_rules *r, struct str name, int64_t precedence,
                           const struct str *groups, size_t n_groups)
{
    static const struct str all[] = { STR("*") };
    static struct resource_rule anything = { .verbs = { all, 1 },
                                             .groups = { all, 1 },
                                             .resources = { all, 1 },
                                             .namespaces = { all, 1 },
                                             .cluster_scope = true };
    static struct path_rule anywhere = { .verbs = { all, 1 }, .urls = { all, 1 } };
    if (find_schema(r, name))
        return;
    struct flow_schema *s = new_schema(r);
    s->name = s->level_name = name;
    s->precedence = precedence;
    s->rules = arena_new(&r->arena, struct flow_rule);
    s->n_rules = 1;
    *s->rules = (struct flow_rule){ .subjects = arena_array(&r->arena, struct subject, n_groups),
                                    .n_subjects = n_groups,
                                    .resources = &anything,
                                    .n_resources = 1,
                                    .paths = &anywhere,
                                    .n_paths = 1 };
    for (size_t i = 0; i < n_groups; i++)
        s->rules->subjects[i] = (struct subject){ .kind = SUBJECT_GROUP, .name = groups[i] };
}

/* Whose level is not there is left out. */
static void link_levels(struct flow_rules *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_schemas; i++) {
        struct flow_schema s = r->schemas[i];
        s.level = find_level(r, s.level_name);
        if (s.level)
            r->schemas[n++] = s;
    }
    r->n_schemas = n;
}

static int by_precedence(const void *x, const void *y)
{
    const struct flow_schema *a = x, *b = y;
    if (a->precedence != b->precedence)
        return a->precedence < b->precedence ? -1 : 1;
    return str_cmp(a->name, b->name);
}

void flow_rules_seal(struct flow_rules *r)
{
    static const struct str masters[] = { USER_MASTERS },
                            everybody[] = { USER_UNAUTHENTICATED, USER_AUTHENTICATED };
    imagine_levels(r);
    link_levels(r);
    imagine_schema(r, STR("exempt"), 1, masters, 1);
    imagine_schema(r, STR("catch-all"), 10000, everybody, 2);
    link_levels(r);
    qsort(r->schemas, r->n_schemas, sizeof(*r->schemas), by_precedence);
    r->catch_all = find_schema(r, STR("catch-all"));
    r->is_sealed = true;
}

size_t flow_rules_levels(const struct flow_rules *r, struct flow_level_spec **ret)
{
    *ret = r->levels;
    return r->n_levels;
}

size_t flow_rules_schemas(const struct flow_rules *r, struct flow_schema **ret)
{
    *ret = r->schemas;
    return r->n_schemas;
}

const struct flow_level_spec *flow_rules_level(const struct flow_rules *r, struct str name)
{
    return find_level(r, name);
}

/* ---- Asking ---- */

/* A star stands for everything, but only alone. */
static bool has_word(struct words words, struct str word)
{
    if (words.n == 1 && str_eq(words.items[0], STR("*")))
        return true;
    for (size_t i = 0; i < words.n; i++)
        if (str_eq(words.items[i], word))
            return true;
    return false;
}

static bool has_resource(struct words words, const struct access *q)
{
    if (!q->sub.n || (words.n == 1 && str_eq(words.items[0], STR("*"))))
        return has_word(words, q->resource);
    for (size_t i = 0; i < words.n; i++) {
        struct str sub = words.items[i], resource = str_cut(&sub, '/');
        if (str_eq(resource, q->resource) && str_eq(sub, q->sub))
            return true;
    }
    return false;
}

/* A rule's path stands for all that is below it, too. */
static bool has_url(struct words urls, struct str path)
{
    for (size_t i = 0; i < urls.n; i++) {
        struct str url = urls.items[i];
        if (str_eq(url, STR("*")) || str_eq(url, path))
            return true;
        if (url.n && url.p[url.n - 1] == '*')
            url.n--;
        bool has_slash = url.n && url.p[url.n - 1] == '/';
        if (str_starts(path, url) && (has_slash || (path.n > url.n && path.p[url.n] == '/')))
            return true;
    }
    return false;
}

/* Names are compared as they are: whoever has one was believed to have it. */
static bool is_account(const struct subject *s, struct str user)
{
    if (!str_starts(user, USER_SERVICE_ACCOUNT))
        return false;
    struct str rest = str_skip(user, USER_SERVICE_ACCOUNT.n);
    if (!str_starts(rest, s->ns) || rest.n == s->ns.n || rest.p[s->ns.n] != ':')
        return false;
    return str_eq(s->name, STR("*")) || str_eq(s->name, str_skip(rest, s->ns.n + 1));
}

static bool is_subject(const struct subject *s, const struct user *user)
{
    switch (s->kind) {
    case SUBJECT_USER:
        return str_eq(s->name, STR("*")) || str_eq(s->name, user->name);
    case SUBJECT_GROUP:
        return str_eq(s->name, STR("*")) || user_is_in(user, s->name);
    case SUBJECT_ACCOUNT:
        return is_account(s, user->name);
    case SUBJECT_OTHER:
        break;
    }
    return false;
}

static bool fits_resource(const struct resource_rule *rule, const struct access *q)
{
    return has_word(rule->verbs, q->verb) && has_resource(rule->resources, q) &&
           has_word(rule->groups, q->group) &&
           (q->ns.n ? has_word(rule->namespaces, q->ns) : rule->cluster_scope);
}

static bool fits_what(const struct flow_rule *rule, const struct access *q)
{
    for (size_t i = 0; q->is_resource && i < rule->n_resources; i++)
        if (fits_resource(&rule->resources[i], q))
            return true;
    for (size_t i = 0; !q->is_resource && i < rule->n_paths; i++)
        if (has_word(rule->paths[i].verbs, q->verb) && has_url(rule->paths[i].urls, q->path))
            return true;
    return false;
}

static bool fits(const struct flow_rule *rule, const struct access *q)
{
    for (size_t i = 0; i < rule->n_subjects; i++)
        if (is_subject(&rule->subjects[i], q->user))
            return fits_what(rule, q);
    return false;
}

const struct flow_schema *flow_rules_find(const struct flow_rules *r, const struct access *q)
{
    for (size_t i = 0; i < r->n_schemas; i++)
        for (size_t k = 0; k < r->schemas[i].n_rules; k++)
            if (fits(&r->schemas[i].rules[k], q))
                return &r->schemas[i];
    return r->catch_all;
}

struct str flow_schema_distinguish(const struct flow_schema *s, const struct access *q)
{
    switch (s->by) {
    case FLOW_BY_USER:
        return q->user->name;
    case FLOW_BY_NAMESPACE:
        return q->ns;
    case FLOW_BY_NOTHING:
        break;
    }
    return STR("");
}

uint64_t flow_hash(struct arena *a, struct str schema, struct str distinguisher)
{
    unsigned char sum[DIGEST_SHA256_BYTES];
    char *text = arena_alloc(a, schema.n + 1 + distinguisher.n, 1);
    memcpy(text, schema.p, schema.n);
    text[schema.n] = '\0';
    if (distinguisher.n)
        memcpy(text + schema.n + 1, distinguisher.p, distinguisher.n);
    digest_sha256((struct str){ text, schema.n + 1 + distinguisher.n }, sum);
    uint64_t hash = 0;
    for (size_t i = 0; i < 8; i++)
        hash |= (uint64_t)sum[i] << (8 * i);
    return hash;
}

/* Each card is drawn from those that are left, by its rank; ranks become cards by stepping over
 * what was drawn before. */
void flow_deal(uint64_t hash, size_t deck, size_t hand_size, size_t ret[static FLOW_HAND_MAX])
{
    size_t ranks[FLOW_HAND_MAX];
    for (size_t i = 0; i < hand_size; i++) {
        ranks[i] = hash % (deck - i);
        hash /= deck - i;
    }
    for (size_t i = 0; i < hand_size; i++) {
        ret[i] = ranks[i];
        for (size_t k = i; k > 0; k--)
            ret[i] += ret[i] >= ranks[k - 1];
    }
}
