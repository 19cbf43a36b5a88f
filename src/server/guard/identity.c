#include "server/guard/identity.h"

#include <stdlib.h>

#include "api/kind.h"
#include "auth/bootstrap_token.h"
#include "auth/token_file.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "server/core/api.h"
#include "server/guard/bearer.h"
#include "server/guard/identity_proxy.h"
#include "server/guard/token_cache.h"
#include "server/object/stored.h"
#include "base/banned.h"

struct identity {
    struct store *store;
    const struct clock *clock;
    struct arena arena;        /* of the names */
    struct token_file *tokens; /* NULL: none */
    bool no_anonymous, bootstrap_tokens;
    const struct authentication_anonymous *anonymous; /* NULL: no_anonymous says it */
    struct identity_names issuers, audiences;
    struct identity_proxy proxy;
    struct signature_key *keys[IDENTITY_KEYS_MAX]; /* the first one signs, if has_signing_key */
    bool has_signing_key;
    struct account_rules accounts;
    struct token_cache *caches[API_LOOPS_MAX];
    struct token_asker askers[IDENTITY_ASKERS_MAX]; /* in this order, after all of the above */
    size_t n_askers;
};

static const struct str anonymous_groups[] = { USER_UNAUTHENTICATED };
static const struct user anonymous = {
    .name = USER_ANONYMOUS,
    .groups = anonymous_groups,
    .n_groups = ARRAY_LEN(anonymous_groups),
};

/* ---- Certificates ---- */

static int owner_of(struct arena *a, const struct tls_peer *cert, const struct user **ret,
                    struct err *err)
{
    if (!cert->common_name.n)
        return err_set(err, ERR_UNAUTHORIZED, "the client certificate has no common name");
    struct user *user = arena_new(a, struct user);
    struct user_extra *extra = arena_new(a, struct user_extra);
    struct str *id = arena_new(a, struct str);
    *id = arena_printf(a, "X509SHA256=" STR_FMT, STR_ARG(cert->fingerprint));
    *extra = (struct user_extra){ STR("authentication.kubernetes.io/credential-id"), id, 1 };
    *user = (struct user){
        .name = cert->common_name,
        .uid = cert->uid,
        .groups = cert->organizations,
        .n_groups = cert->n_organizations,
        .extra = extra,
        .n_extra = 1,
    };
    user_add_authenticated(a, user);
    *ret = user;
    return 0;
}

/* ---- Tokens ---- */

/* Of the others the metadata is enough. */
static bool is_whole(const char *plural)
{
    return strcmp(plural, "secrets") == 0 || strcmp(plural, "serviceaccounts") == 0;
}

/* What a token names, as the store has it now. */
static int read_object(void *arg, struct arena *a, const char *plural, struct str ns,
                       struct str name, struct value *ret, struct err *err)
{
    const struct identity *i = arg;
    const struct kind_resource *stored = kind_stored_named(STR(""), str_of(plural));
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(i->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = store_snap_get(snap, stored_key(a, stored, ns, name), &e, err);
    if (r > 0) {
        e.value = arena_str(a, e.value);
        int read = is_whole(plural) ? stored_read(a, stored->type, &e, ret, err)
                                    : stored_read_meta(a, &e, ret, err);
        r = read < 0 ? read : 1;
    }
    store_snap_end(snap);
    return r;
}

static int account_of(const struct identity *i, struct arena *a, struct str token,
                      const struct account_claims *claims, const struct str *audiences,
                      size_t n_audiences, struct account_user *ret, struct err *err)
{
    const struct account_objects objects = { read_object, (void *)i };
    if (!n_audiences) {
        audiences = i->audiences.items;
        n_audiences = i->accounts.n_audiences;
    }
    return account_token_user(&i->accounts, a, token, claims, audiences, n_audiences,
                              clock_wall_ns(i->clock) / NS_PER_SEC, &objects, ret, err);
}

static int unknown_token(struct err *err)
{
    return err_set(err, ERR_UNAUTHORIZED, "invalid bearer token");
}

/* 1 if it is a token by which a node joins, 0 if it is none of those. */
static int joining_user(const struct identity *i, struct arena *a, struct str token,
                        struct user *ret, struct err *err)
{
    struct str name;
    struct value secret;
    if (!i->bootstrap_tokens || !bootstrap_token_secret(a, token, &name))
        return 0;
    int r = read_object((void *)i, a, "secrets", STR("kube-system"), name, &secret, err);
    if (r <= 0)
        return r;
    return bootstrap_token_user(a, token, &secret, clock_wall_ns(i->clock) / NS_PER_SEC, ret, err);
}

/* A static token is for this server alone. */
static int static_user(const struct identity *i, struct arena *a, struct str token,
                       const struct str *audiences, size_t n_audiences, struct account_user *ret)
{
    const struct user *user = i->tokens ? token_file_user(i->tokens, token) : NULL;
    struct str *both = arena_array(a, struct str, i->accounts.n_audiences);
    *ret = (struct account_user){ .audiences = both };
    if (!user)
        return 0;
    for (size_t k = 0; k < i->accounts.n_audiences; k++) {
        bool wanted = !n_audiences;
        for (size_t j = 0; j < n_audiences; j++)
            wanted |= str_eq(audiences[j], i->audiences.items[k]);
        if (wanted)
            both[ret->n_audiences++] = i->audiences.items[k];
    }
    ret->user = *user;
    return ret->n_audiences > 0;
}

/* ---- Tokens that others know ---- */

/* What several have said against a token, as upstream prints it. */
struct refusals {
    struct buf text;
    size_t n;
};

static void refusals_add(struct refusals *all, struct str text)
{
    buf_printf(&all->text, "%s" STR_FMT, all->n ? ", " : "", STR_ARG(text));
    all->n++;
}

/* TOKEN_KNOWN, TOKEN_UNKNOWN or TOKEN_LATER. */
static int ask_others(const struct identity *i, struct arena *a, struct str token,
                      const struct str *audiences, size_t n_audiences, enum token_patience patience,
                      struct account_user *ret, struct refusals *refusals)
{
    for (size_t k = 0; k < i->n_askers; k++) {
        const struct token_asker *asker = &i->askers[k];
        struct err err = ERR_INIT(a);
        int r = asker->ask(asker->self, a, token, audiences, n_audiences, patience, ret, &err);
        if (r > 0) {
            user_add_authenticated(a, &ret->user);
            return r;
        }
        if (r < 0)
            refusals_add(refusals, err.msg);
    }
    return TOKEN_UNKNOWN;
}

/* By what this server knows itself. 0: nothing; or why it is not believed. */
static int own_user(const struct identity *i, struct arena *a, struct str token,
                    const struct str *audiences, size_t n_audiences, struct account_user *ret,
                    struct err *err)
{
    struct account_claims claims;
    if (static_user(i, a, token, audiences, n_audiences, ret))
        return 1;
    int joins = joining_user(i, a, token, &ret->user, err);
    if (joins) {
        ret->audiences = i->audiences.items;
        ret->n_audiences = i->audiences.n;
        return joins;
    }
    int r = account_token_open(&i->accounts, a, token, &claims, err);
    if (r <= 0)
        return r;
    r = account_of(i, a, token, &claims, audiences, n_audiences, ret, err);
    return r < 0 ? r : 1;
}

/* The words of all that did not believe it. */
static int refuse_token(struct arena *a, const struct refusals *refusals, struct err *err)
{
    if (!refusals->n)
        return unknown_token(err);
    return err_set(err, ERR_UNAUTHORIZED, "[invalid bearer token, " STR_FMT "]",
                   STR_ARG(arena_str(a, buf_str(&refusals->text))));
}

static int find_token(const struct identity *i, struct arena *a, struct str token,
                      const struct str *audiences, size_t n_audiences, struct account_user *ret,
                      struct refusals *refusals, struct err *err)
{
    int r = own_user(i, a, token, audiences, n_audiences, ret, err);
    if (r > 0)
        return 0;
    if (r < 0 && err->code != ERR_UNAUTHORIZED)
        return r;
    if (r < 0)
        refusals_add(refusals, err->msg);
    err_clear(err);
    r = ask_others(i, a, token, audiences, n_audiences, TOKEN_WAITS, ret, refusals);
    return r == TOKEN_KNOWN ? 0 : refuse_token(a, refusals, err);
}

int identity_of_token(const struct identity *i, struct arena *a, struct str token,
                      const struct str *audiences, size_t n_audiences, struct account_user *ret,
                      struct err *err)
{
    struct refusals refusals = { 0 };
    int r = find_token(i, a, token, audiences, n_audiences, ret, &refusals, err);
    buf_done(&refusals.text);
    return r;
}

int identity_of_bearer(const struct identity *i, struct arena *a, struct str token,
                       const struct user **ret, struct err *err)
{
    struct account_user *found = arena_new(a, struct account_user);
    int r = identity_of_token(i, a, token, NULL, 0, found, err);
    if (r < 0)
        return r;
    *ret = &found->user;
    return 0;
}

/* As own_user() on a loop, which remembers what it has verified. */
static int own_bearer(const struct identity *i, size_t loop, struct arena *a, struct str token,
                      const struct user **ret, struct err *err)
{
    *ret = i->tokens ? token_file_user(i->tokens, token) : NULL;
    if (*ret)
        return 1;
    const struct account_claims *claims;
    struct account_user *user = arena_new(a, struct account_user);
    int joins = joining_user(i, a, token, &user->user, err);
    *ret = &user->user;
    if (joins)
        return joins;
    int r = token_cache_open(i->caches[loop], &i->accounts, token, &claims, err);
    if (r <= 0)
        return r;
    r = account_of(i, a, token, claims, NULL, 0, user, err);
    user->user.use = &user->use;
    return r < 0 ? r : 1;
}

static int token_owner(const struct identity *i, size_t loop, struct arena *a, struct str token,
                       const struct user **ret, struct err *err)
{
    int r = own_bearer(i, loop, a, token, ret, err);
    if (r > 0)
        return 0;
    if (!i->n_askers || (r < 0 && err->code != ERR_UNAUTHORIZED))
        return r < 0 ? r : unknown_token(err);
    struct account_user *found = arena_new(a, struct account_user);
    struct refusals refusals = { 0 };
    err_clear(err);
    r = ask_others(i, a, token, NULL, 0, TOKEN_AT_ONCE, found, &refusals);
    *ret = &found->user;
    if (r == TOKEN_UNKNOWN)
        r = refuse_token(a, &refusals, err);
    else
        r = r == TOKEN_LATER ? IDENTITY_LATER : 0;
    buf_done(&refusals.text);
    return r;
}

static bool may_be_anonymous(const struct identity *i, struct str path)
{
    return i->anonymous ? authentication_anonymous_may(i->anonymous, path) : !i->no_anonymous;
}

int identity_find(const struct identity *i, size_t loop, struct arena *a,
                  const struct http_request *http, const struct user **ret, struct err *err)
{
    const struct tls_peer *cert = &http->peer->cert;
    struct err refused = ERR_INIT(a);
    int proxy = cert->is_proxy ? identity_proxied(&i->proxy, a, http, ret, &refused) : 0;
    if (proxy > 0)
        return 0;
    if (cert->verified)
        return owner_of(a, cert, ret, err);
    struct str token;
    int r = bearer_find(a, http, &token, err);
    if (r < 0)
        return r;
    if (token.n)
        return token_owner(i, loop, a, token, ret, err);
    if (proxy < 0 || cert->is_proxy || cert->is_stranger)
        return err_set(err, ERR_UNAUTHORIZED, "the client certificate is not believed");
    if (!may_be_anonymous(i, http->path))
        return err_set(err, ERR_UNAUTHORIZED, "no credentials were shown");
    *ret = &anonymous;
    return 0;
}

const struct account_rules *identity_accounts(const struct identity *i)
{
    return &i->accounts;
}

const struct signature_key *identity_signing_key(const struct identity *i)
{
    return i->has_signing_key ? i->keys[0] : NULL;
}

/* ---- Beginning and end ---- */

/* Lines of the file come first, so that messages number them right. */
static int read_tokens(const struct identity_options *opt, struct token_file **ret, struct err *err)
{
    enum { FILE_MAX_BYTES = 16 << 20 };
    autobuf text = { 0 };
    int r = opt->token_file ? file_read(opt->token_file, FILE_MAX_BYTES, &text, err) : 0;
    if (r < 0)
        return r;
    buf_byte(&text, '\n');
    buf_str_add(&text, opt->more_tokens);
    return token_file_read(buf_str(&text), str_of(opt->token_file ? opt->token_file : ""), ret,
                           err);
}

static int read_keys(struct identity *i, const struct identity_options *opt, struct err *err)
{
    size_t n = 0;
    if (opt->signing_key.n) {
        int r = signature_key_read(opt->signing_key, &i->keys[0], err);
        if (r < 0)
            return err_wrap(err, "the key that signs tokens");
        i->has_signing_key = true;
    }
    if (opt->more_keys.n) {
        int r = signature_keys_read(opt->more_keys, IDENTITY_KEYS_MAX - i->has_signing_key,
                                    i->keys + i->has_signing_key, &n, err);
        if (r < 0)
            return err_wrap(err, "the keys that tokens are verified by");
    }
    i->accounts.keys = (const struct signature_key *const *)i->keys;
    i->accounts.n_keys = n + i->has_signing_key;
    return 0;
}

static void copy_names(struct arena *a, const struct identity_names *from,
                       struct identity_names *to)
{
    for (to->n = 0; to->n < from->n; to->n++)
        to->items[to->n] = arena_str(a, from->items[to->n]);
}

/* Names of headers are compared in lower case. */
static void copy_headers(struct arena *a, const struct identity_names *from,
                         struct identity_names *to)
{
    for (to->n = 0; to->n < from->n; to->n++) {
        struct str name = from->items[to->n];
        char *text = arena_dup(a, name.p, name.n);
        for (size_t k = 0; k < name.n; k++)
            text[k] = (char)(text[k] >= 'A' && text[k] <= 'Z' ? text[k] | 0x20 : text[k]);
        to->items[to->n] = (struct str){ text, name.n };
    }
}

static void copy_or(struct arena *a, const struct identity_names *from, struct str usual,
                    struct identity_names *to)
{
    copy_names(a, from, to);
    if (!to->n)
        to->items[to->n++] = arena_str(a, usual);
}

static void set_names(struct identity *i, const struct identity_options *opt)
{
    copy_or(&i->arena, &opt->issuers, IDENTITY_ISSUER, &i->issuers);
    copy_names(&i->arena, opt->audiences.n ? &opt->audiences : &i->issuers, &i->audiences);
    copy_names(&i->arena, &opt->proxy.allowed, &i->proxy.allowed);
    copy_headers(&i->arena, &opt->proxy.user_headers, &i->proxy.user_headers);
    copy_headers(&i->arena, &opt->proxy.uid_headers, &i->proxy.uid_headers);
    copy_headers(&i->arena, &opt->proxy.group_headers, &i->proxy.group_headers);
    copy_headers(&i->arena, &opt->proxy.extra_prefixes, &i->proxy.extra_prefixes);
    i->accounts.issuers = i->issuers.items;
    i->accounts.n_issuers = i->issuers.n;
    i->accounts.audiences = i->audiences.items;
    i->accounts.n_audiences = i->audiences.n;
    i->accounts.keys_uri = arena_str(&i->arena, opt->keys_uri);
    i->accounts.max_sec = opt->token_max_sec;
    i->accounts.no_extension = opt->no_token_extension;
}

/* In the order in which they are asked. */
static int make_askers(struct identity *i, const struct identity_options *opt, struct err *err)
{
    if (opt->asker)
        i->askers[i->n_askers++] = *opt->asker;
    if (opt->webhook.kubeconfig) {
        int r = token_webhook_new(&opt->webhook, i->clock, i->audiences.items, i->audiences.n,
                                  &i->askers[i->n_askers], err);
        if (r < 0)
            return r;
        i->n_askers++;
    }
    return 0;
}

static int fill(struct identity *i, const struct identity_options *opt, struct err *err)
{
    set_names(i, opt);
    int r = opt->token_file || opt->more_tokens.n ? read_tokens(opt, &i->tokens, err) : 0;
    if (r < 0)
        return r;
    r = make_askers(i, opt, err);
    return r < 0 ? r : read_keys(i, opt, err);
}

int identity_new(const struct identity_options *opt, struct store *store, const struct clock *clock,
                 struct identity **ret, struct err *err)
{
    struct identity *i = mem_new(struct identity);
    arena_init(&i->arena);
    i->store = store;
    i->clock = clock;
    i->no_anonymous = opt->no_anonymous;
    i->anonymous = opt->anonymous;
    i->bootstrap_tokens = opt->bootstrap_tokens;
    for (size_t k = 0; k < API_LOOPS_MAX; k++)
        i->caches[k] = token_cache_new();
    int r = fill(i, opt, err);
    if (r < 0) {
        identity_free(i);
        return r;
    }
    *ret = i;
    return 0;
}

void identity_retire(const struct identity *i)
{
    for (size_t k = 0; k < i->n_askers; k++)
        if (i->askers[k].retire)
            i->askers[k].retire(i->askers[k].self);
}

struct identity *identity_free(struct identity *i)
{
    if (!i)
        return NULL;
    for (size_t k = 0; k < API_LOOPS_MAX; k++)
        token_cache_free(i->caches[k]);
    for (size_t k = 0; k < IDENTITY_KEYS_MAX; k++)
        signature_key_free(i->keys[k]);
    for (size_t k = 0; k < i->n_askers; k++)
        if (i->askers[k].free)
            i->askers[k].free(i->askers[k].self);
    token_file_free(i->tokens);
    arena_done(&i->arena);
    free(i);
    return NULL;
}
