#include "server/guard/identity.h"

#include <stdlib.h>

#include "api/kind.h"
#include "auth/bootstrap_token.h"
#include "auth/token_file.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "base/percent.h"
#include "server/core/api.h"
#include "server/guard/token_cache.h"
#include "server/object/stored.h"
#include "base/banned.h"

struct identity {
    struct store *store;
    const struct clock *clock;
    struct arena arena;        /* of the names */
    struct token_file *tokens; /* NULL: none */
    bool no_anonymous, bootstrap_tokens;
    struct identity_names issuers, audiences;
    struct identity_proxy proxy;
    struct signature_key *keys[IDENTITY_KEYS_MAX]; /* the first one signs, if has_signing_key */
    bool has_signing_key;
    struct account_rules accounts;
    struct token_cache *caches[API_LOOPS_MAX];
};

static const struct str anonymous_groups[] = { USER_UNAUTHENTICATED };
static const struct user anonymous = {
    .name = USER_ANONYMOUS,
    .groups = anonymous_groups,
    .n_groups = ARRAY_LEN(anonymous_groups),
};

/* ---- Certificates ---- */

/* Whoever has shown something is authenticated, unless he says himself what he is. */
static void add_authenticated(struct arena *a, struct user *user)
{
    if (str_eq(user->name, USER_ANONYMOUS) || user_is_in(user, USER_AUTHENTICATED) ||
        user_is_in(user, USER_UNAUTHENTICATED))
        return;
    struct str *groups = arena_array(a, struct str, user->n_groups + 1);
    if (user->n_groups)
        memcpy(groups, user->groups, user->n_groups * sizeof(*groups));
    groups[user->n_groups++] = USER_AUTHENTICATED;
    user->groups = groups;
}

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
    add_authenticated(a, user);
    *ret = user;
    return 0;
}

/* ---- Front proxies ---- */

static bool has_name(const struct identity_names *names, struct str name)
{
    for (size_t k = 0; k < names->n; k++)
        if (str_eq(names->items[k], name))
            return true;
    return false;
}

/* The first of these headers that says something. */
static struct str first_header(const struct http_request *http, const struct identity_names *names)
{
    for (size_t k = 0; k < names->n; k++) {
        struct str value = http_header_get(http, names->items[k]);
        if (value.n)
            return value;
    }
    return STR("");
}

static void take_groups(const struct identity *i, struct arena *a, const struct http_request *http,
                        struct user *user)
{
    struct str *groups = arena_array(a, struct str, http->n_headers);
    for (size_t k = 0; k < http->n_headers; k++)
        if (has_name(&i->proxy.group_headers, http->headers[k].name))
            groups[user->n_groups++] = http->headers[k].value;
    user->groups = groups;
}

/* The key of an extra header, decoded; empty if it is none. */
static struct str extra_key(const struct identity *i, struct arena *a, struct str header)
{
    for (size_t k = 0; k < i->proxy.extra_prefixes.n; k++) {
        struct str prefix = i->proxy.extra_prefixes.items[k], key = str_skip(header, prefix.n),
                   decoded;
        if (str_starts(header, prefix) && key.n)
            return percent_decode(a, key, false, &decoded) ? decoded : key;
    }
    return STR("");
}

static void take_extra(const struct identity *i, struct arena *a, const struct http_request *http,
                       struct user *user)
{
    struct user_extra *all = arena_array(a, struct user_extra, http->n_headers);
    for (size_t k = 0; k < http->n_headers; k++) {
        struct str key = extra_key(i, a, http->headers[k].name);
        size_t at = 0;
        if (!key.n)
            continue;
        while (at < user->n_extra && !str_eq(all[at].key, key))
            at++;
        if (at == user->n_extra) {
            all[at].key = key;
            all[at].values = arena_array(a, struct str, http->n_headers);
            user->n_extra++;
        }
        ((struct str *)all[at].values)[all[at].n_values++] = http->headers[k].value;
    }
    user->extra = all;
}

/* 1 if the proxy says for whom it speaks, 0 if it speaks for itself. */
static int proxied(const struct identity *i, struct arena *a, const struct http_request *http,
                   const struct user **ret, struct err *err)
{
    const struct tls_peer *cert = &http->peer->cert;
    struct str name = first_header(http, &i->proxy.user_headers);
    if (i->proxy.allowed.n && !has_name(&i->proxy.allowed, cert->common_name))
        return err_set(err, ERR_UNAUTHORIZED, "the front proxy \"" STR_FMT "\" is not allowed",
                       STR_ARG(cert->common_name));
    if (!name.n)
        return 0;
    struct user *user = arena_new(a, struct user);
    user->name = name;
    user->uid = first_header(http, &i->proxy.uid_headers);
    take_groups(i, a, http, user);
    take_extra(i, a, http, user);
    add_authenticated(a, user);
    *ret = user;
    return 1;
}

/* ---- Tokens ---- */

/* What a token names, as the store has it now. Of all but Secrets the metadata is enough. */
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
        int read = strcmp(plural, "secrets") == 0 ? stored_read(a, stored->type, &e, ret, err)
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

int identity_of_token(const struct identity *i, struct arena *a, struct str token,
                      const struct str *audiences, size_t n_audiences, struct account_user *ret,
                      struct err *err)
{
    struct account_claims claims;
    if (static_user(i, a, token, audiences, n_audiences, ret))
        return 0;
    int joins = joining_user(i, a, token, &ret->user, err);
    if (joins) {
        ret->audiences = i->audiences.items;
        ret->n_audiences = i->audiences.n;
        return joins < 0 ? joins : 0;
    }
    int r = account_token_open(&i->accounts, a, token, &claims, err);
    if (r > 0)
        r = account_of(i, a, token, &claims, audiences, n_audiences, ret, err);
    else if (r == 0)
        return unknown_token(err);
    if (r < 0 && err->code == ERR_UNAUTHORIZED)
        return err_set(err, ERR_UNAUTHORIZED, "[invalid bearer token, " STR_FMT "]",
                       STR_ARG(arena_str(a, err->msg)));
    return r;
}

/* The same on a loop, which remembers what it has verified. */
static int token_owner(const struct identity *i, size_t loop, struct arena *a, struct str token,
                       const struct user **ret, struct err *err)
{
    *ret = i->tokens ? token_file_user(i->tokens, token) : NULL;
    if (*ret)
        return 0;
    const struct account_claims *claims;
    struct account_user *user = arena_new(a, struct account_user);
    int joins = joining_user(i, a, token, &user->user, err);
    *ret = &user->user;
    if (joins)
        return joins < 0 ? joins : 0;
    int r = token_cache_open(i->caches[loop], &i->accounts, token, &claims, err);
    if (r == 0)
        return unknown_token(err);
    if (r > 0)
        r = account_of(i, a, token, claims, NULL, 0, user, err);
    return r;
}

/* `Authorization: Bearer TOKEN`, or, of a WebSocket, the protocol
 * base64url.bearer.authorization.k8s.io.TOKEN. Anything else is no token. */
static struct str bearer(struct arena *a, const struct http_request *http)
{
    static const struct str prefix = STR("base64url.bearer.authorization.k8s.io.");
    struct str rest = str_trim(http_header_get(http, STR("authorization")));
    struct str scheme = str_cut(&rest, ' ');
    if (str_eq_nocase(scheme, STR("bearer")))
        return str_cut(&rest, ' ');
    struct str protocols = http_header_get(http, STR("sec-websocket-protocol"));
    while (protocols.n) {
        struct str one = str_trim(str_cut(&protocols, ','));
        autobuf token = { 0 };
        if (str_starts(one, prefix) && base64url_decode(&token, str_skip(one, prefix.n)))
            return arena_str(a, buf_str(&token));
    }
    return STR("");
}

int identity_find(const struct identity *i, size_t loop, struct arena *a,
                  const struct http_request *http, const struct user **ret, struct err *err)
{
    const struct tls_peer *cert = &http->peer->cert;
    struct err refused = ERR_INIT(a);
    int proxy = cert->is_proxy ? proxied(i, a, http, ret, &refused) : 0;
    if (proxy > 0)
        return 0;
    if (cert->verified)
        return owner_of(a, cert, ret, err);
    struct str token = bearer(a, http);
    if (token.n)
        return token_owner(i, loop, a, token, ret, err);
    if (proxy < 0 || cert->is_proxy || cert->is_stranger)
        return err_set(err, ERR_UNAUTHORIZED, "the client certificate is not believed");
    if (i->no_anonymous)
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

static int read_tokens(const char *file, struct token_file **ret, struct err *err)
{
    enum { FILE_MAX_BYTES = 16 << 20 };
    autobuf text = { 0 };
    int r = file_read(file, FILE_MAX_BYTES, &text, err);
    return r < 0 ? r : token_file_read(buf_str(&text), str_of(file), ret, err);
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
    copy_or(&i->arena, &opt->audiences, i->issuers.items[0], &i->audiences);
    copy_names(&i->arena, &opt->proxy.allowed, &i->proxy.allowed);
    copy_headers(&i->arena, &opt->proxy.user_headers, &i->proxy.user_headers);
    copy_headers(&i->arena, &opt->proxy.uid_headers, &i->proxy.uid_headers);
    copy_headers(&i->arena, &opt->proxy.group_headers, &i->proxy.group_headers);
    copy_headers(&i->arena, &opt->proxy.extra_prefixes, &i->proxy.extra_prefixes);
    i->accounts.issuers = i->issuers.items;
    i->accounts.n_issuers = i->issuers.n;
    i->accounts.audiences = i->audiences.items;
    i->accounts.n_audiences = i->audiences.n;
}

static int fill(struct identity *i, const struct identity_options *opt, struct err *err)
{
    set_names(i, opt);
    if (opt->token_file) {
        int r = read_tokens(opt->token_file, &i->tokens, err);
        if (r < 0)
            return r;
    }
    return read_keys(i, opt, err);
}

int identity_new(const struct identity_options *opt, struct store *store, const struct clock *clock,
                 struct identity **ret, struct err *err)
{
    struct identity *i = mem_new(struct identity);
    arena_init(&i->arena);
    i->store = store;
    i->clock = clock;
    i->no_anonymous = opt->no_anonymous;
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

struct identity *identity_free(struct identity *i)
{
    if (!i)
        return NULL;
    for (size_t k = 0; k < API_LOOPS_MAX; k++)
        token_cache_free(i->caches[k]);
    for (size_t k = 0; k < IDENTITY_KEYS_MAX; k++)
        signature_key_free(i->keys[k]);
    token_file_free(i->tokens);
    arena_done(&i->arena);
    free(i);
    return NULL;
}
