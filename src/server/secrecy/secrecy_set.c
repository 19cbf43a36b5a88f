#include "server/secrecy/secrecy_set.h"

#include "api/kind.h"
#include "base/idiom.h"
#include "server/secrecy/secrecy_kms.h"
#include "base/banned.h"

static const struct str sealed_prefix = { "k8s:enc:", 8 };

static const struct form {
    struct str prefix;
    enum cipher cipher;
    const char *no_key;
} forms[] = {
    [SECRECY_AESGCM] = { { "k8s:enc:aesgcm:v1:", 18 },
                         CIPHER_AESGCM,
                         "no matching key was found for the provided AES transformer" },
    [SECRECY_AESCBC] = { { "k8s:enc:aescbc:v1:", 18 },
                         CIPHER_AESCBC,
                         "no matching key was found for the provided AES transformer" },
    [SECRECY_SECRETBOX] = { { "k8s:enc:secretbox:v1:", 21 },
                            CIPHER_SECRETBOX,
                            "no matching key was found for the provided Secretbox transformer" },
    [SECRECY_KMS] = { { "k8s:enc:kms:v2:", 15 }, 0, NULL },
};

/* ---- Whose a key is ---- */

/* Stands in the map for what is built in and not encrypted. */
static struct secrecy_chain nobody;

static struct secrecy_chain *chain_named(const struct secrecy_set *s, struct str group,
                                         struct str plural)
{
    for (size_t i = 0; i < s->n_chains; i++)
        if (str_eq(s->chains[i].resource.group, group) &&
            str_eq(s->chains[i].resource.plural, plural))
            return &s->chains[i];
    return NULL;
}

/* By its own name, its group's star, or the star of all. */
static struct secrecy_chain *chain_for(const struct secrecy_set *s, struct str group,
                                       struct str plural)
{
    struct secrecy_chain *c = chain_named(s, group, plural);
    if (!c)
        c = chain_named(s, group, STR("*"));
    return c ? c : chain_named(s, STR("*"), STR("*"));
}

static void chain_add(struct arena *a, struct secrecy_chain *c, const struct secrecy_rule *rule)
{
    size_t n = c->n_providers + rule->n_providers;
    const struct secrecy_provider **all = arena_array(a, const struct secrecy_provider *, n);
    for (size_t i = 0; i < c->n_providers; i++)
        all[i] = c->providers[i];
    for (size_t i = 0; i < rule->n_providers; i++)
        all[c->n_providers + i] = &rule->providers[i];
    c->providers = all;
    c->n_providers = n;
}

static void add_rule(struct secrecy_set *s, struct arena *a, const struct secrecy_rule *rule)
{
    for (size_t i = 0; i < rule->n_resources; i++) {
        const struct secrecy_resource *r = &rule->resources[i];
        struct secrecy_chain *c = chain_named(s, r->group, r->plural);
        if (!c) {
            c = &s->chains[s->n_chains++];
            c->resource = *r;
        }
        chain_add(a, c, rule);
    }
    for (size_t i = 0; i < rule->n_providers; i++)
        s->has_kms |= rule->providers[i].type == SECRECY_KMS;
}

static void add_built_in(struct secrecy_set *s, const struct kind_resource *r)
{
    if (!r->etcd_prefix.n || kind_stored(r) != r)
        return;
    struct secrecy_chain *c = chain_for(s, r->group, r->plural);
    (void)map_set(&s->built_in, r->etcd_prefix, c ? c : &nobody);
}

void secrecy_set_init(struct secrecy_set *s, struct arena *a, const struct secrecy_config *config)
{
    *s = (struct secrecy_set){ 0 };
    size_t n = 0;
    for (size_t i = 0; i < config->n_rules; i++)
        n += config->rules[i].n_resources;
    s->chains = arena_array(a, struct secrecy_chain, n);
    for (size_t i = 0; i < config->n_rules; i++)
        add_rule(s, a, &config->rules[i]);
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++)
            add_built_in(s, &kind_versions[v].resources[i]);
}

void secrecy_set_done(struct secrecy_set *s)
{
    map_done(&s->built_in);
}

/* Where the next slash is, from `at` on; or the end. */
static size_t next_slash(struct str key, size_t at)
{
    const char *p = at < key.n ? memchr(key.p + at, '/', key.n - at) : NULL;
    return p ? (size_t)(p - key.p) : key.n;
}

/* /registry/secrets/NS/NAME, /registry/services/specs/NS/NAME, /registry/GROUP/PLURAL/NAME. */
const struct secrecy_chain *secrecy_set_find(const struct secrecy_set *s, struct str key)
{
    static const struct str root = { "/registry/", 10 };
    if (!str_starts(key, root))
        return NULL;
    size_t first = next_slash(key, root.n), second = next_slash(key, first + 1);
    const struct secrecy_chain *c = map_get(&s->built_in, str_take(key, first));
    if (!c)
        c = map_get(&s->built_in, str_take(key, second));
    if (c)
        return c == &nobody ? NULL : c;
    struct str group = str_skip(str_take(key, first), root.n),
               plural = str_skip(str_take(key, second), first + 1);
    return str_find(group, '.') >= 0 ? chain_for(s, group, plural) : NULL;
}

/* ---- Opening ---- */

/* What was tried in vain; equal faults are told once. */
struct faults {
    struct str said[8]; /* more are not told */
    size_t n;
};

static void fault_add(struct faults *f, struct str what)
{
    for (size_t i = 0; i < f->n; i++)
        if (str_eq(f->said[i], what))
            return;
    if (f->n < ARRAY_LEN(f->said))
        f->said[f->n++] = what;
}

/* One, or several in brackets. */
static struct str fault_text(struct arena *a, const struct faults *f)
{
    if (f->n == 1)
        return f->said[0];
    autobuf text = { 0 };
    for (size_t i = 0; i < f->n; i++) {
        buf_str_add(&text, i ? STR(", ") : STR("["));
        buf_str_add(&text, f->said[i]);
    }
    buf_byte(&text, ']');
    return arena_str(a, buf_str(&text));
}

static int cannot_open(struct str key, struct str why, struct err *err)
{
    if (!err)
        return -ERR_DAMAGED;
    struct str kept = arena_str(err->arena, why);
    int r = err_set(err, ERR_DAMAGED, "unable to transform key \"" STR_FMT "\": " STR_FMT,
                    STR_ARG(key), STR_ARG(kept));
    err_add_cause(err, STR(""), STR(""), kept);
    return r;
}

/* 1 if one of the keys has opened it, else 0. */
static int open_by_keys(const struct secrecy_provider *p, struct str key, struct str sealed,
                        struct arena *a, struct str *ret, bool *ret_stale, struct faults *faults)
{
    char *text = arena_alloc(a, sealed.n + 1, 1);
    struct faults tried = { 0 };
    bool done = false;
    for (size_t i = 0; i < p->n_keys && !done; i++) {
        const struct secrecy_key *k = &p->keys[i];
        struct str rest = str_skip(sealed, k->name.n + 1);
        struct err why = ERR_INIT(a);
        if (sealed.n <= k->name.n || sealed.p[k->name.n] != ':' || !str_starts(sealed, k->name))
            continue;
        done = cipher_open(forms[p->type].cipher, k->secret, key, rest, text, &ret->n, &why) == 0;
        ret->p = text;
        *ret_stale = i != 0;
        if (!done)
            fault_add(&tried, why.msg);
    }
    if (!done && tried.n == 0)
        fault_add(&tried, str_of(forms[p->type].no_key));
    if (!done)
        fault_add(faults, fault_text(a, &tried));
    return done;
}

static int open_by(const struct secrecy_provider *p, const struct store_entry *e, struct arena *a,
                   struct str *ret, bool *ret_stale, struct faults *faults)
{
    bool is_sealed = str_starts(e->value, sealed_prefix);
    *ret_stale = false;
    if (p->type == SECRECY_IDENTITY) {
        *ret = e->value;
        return !is_sealed;
    }
    const struct form *form = &forms[p->type];
    if (!is_sealed || !str_starts(e->value, form->prefix))
        return 0;
    struct str rest = str_skip(e->value, form->prefix.n);
    if (p->type != SECRECY_KMS)
        return open_by_keys(p, e->key, rest, a, ret, ret_stale, faults);
    if (rest.n <= p->name.n || rest.p[p->name.n] != ':' || !str_starts(rest, p->name))
        return 0;
    struct err why = ERR_INIT(a);
    int r =
        secrecy_kms_open(p->kms, e->key, str_skip(rest, p->name.n + 1), a, ret, ret_stale, &why);
    if (r < 0)
        fault_add(faults, why.msg);
    return r == 0;
}

static int open_by_chain(const struct secrecy_chain *c, struct arena *a, struct store_entry *e,
                         struct err *err)
{
    struct faults faults = { 0 };
    for (size_t i = 0; i < c->n_providers; i++) {
        struct str plain;
        bool is_stale;
        if (!open_by(c->providers[i], e, a, &plain, &is_stale, &faults))
            continue;
        e->value = plain;
        e->is_stale = is_stale || i != 0;
        return 0;
    }
    return cannot_open(e->key, faults.n ? fault_text(a, &faults) : STR("no matching prefix found"),
                       err);
}

int secrecy_set_open(const struct secrecy_set *s, struct arena *a, struct store_entry *e,
                     struct err *err)
{
    const struct secrecy_chain *c = secrecy_set_find(s, e->key);
    if (!c && str_starts(e->value, sealed_prefix))
        return cannot_open(e->key, STR("identity transformer tried to read encrypted data"), err);
    if (!c)
        return 0;
    return open_by_chain(c, a, e, err);
}

/* ---- Sealing ---- */

static int seal_by(const struct secrecy_provider *p, struct str key, struct str value,
                   struct buf *out, struct err *err)
{
    struct str name = p->type == SECRECY_KMS ? p->name : p->keys[0].name;
    buf_str_add(out, forms[p->type].prefix);
    buf_str_add(out, name);
    buf_byte(out, ':');
    if (p->type == SECRECY_KMS)
        return secrecy_kms_seal(p->kms, key, value, out, err);
    return cipher_seal(forms[p->type].cipher, p->keys[0].secret, key, value, out, err);
}

int secrecy_set_seal(const struct secrecy_set *s, struct str key, struct str value, struct buf *out,
                     struct err *err)
{
    const struct secrecy_chain *c = secrecy_set_find(s, key);
    if (!c || c->providers[0]->type == SECRECY_IDENTITY)
        return 0;
    int r = seal_by(c->providers[0], key, value, out, err);
    return r < 0 ? r : 1;
}
