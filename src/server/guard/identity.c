#include "server/guard/identity.h"

#include <stdlib.h>

#include "auth/token_file.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

struct identity {
    struct token_file *tokens; /* NULL: none */
};

static const struct str anonymous_groups[] = { USER_UNAUTHENTICATED };
static const struct user anonymous = {
    .name = USER_ANONYMOUS,
    .groups = anonymous_groups,
    .n_groups = ARRAY_LEN(anonymous_groups),
};

/* ---- Certificates ---- */

/* Whoever has shown something is authenticated, unless he says himself who he is. */
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

/* ---- Tokens ---- */

/* `Authorization: Bearer TOKEN`; anything else is no token. */
static struct str bearer(const struct http_request *http)
{
    struct str rest = str_trim(http_header_get(http, STR("authorization")));
    struct str scheme = str_cut(&rest, ' ');
    return str_eq_nocase(scheme, STR("bearer")) ? str_cut(&rest, ' ') : STR("");
}

int identity_of_token(const struct identity *i, struct arena *a, struct str token,
                      const struct user **ret, struct err *err)
{
    (void)a;
    *ret = i->tokens ? token_file_user(i->tokens, token) : NULL;
    return *ret ? 0 : err_set(err, ERR_UNAUTHORIZED, "the token is not known");
}

int identity_find(const struct identity *i, struct arena *a, const struct http_request *http,
                  const struct user **ret, struct err *err)
{
    const struct tls_peer *cert = &http->peer->cert;
    if (cert->verified)
        return owner_of(a, cert, ret, err);
    struct str token = bearer(http);
    if (token.n)
        return identity_of_token(i, a, token, ret, err);
    *ret = &anonymous;
    return 0;
}

/* ---- Beginning and end ---- */

static int read_tokens(const char *file, struct token_file **ret, struct err *err)
{
    enum { FILE_MAX_BYTES = 16 << 20 };
    autobuf text = { 0 };
    int r = file_read(file, FILE_MAX_BYTES, &text, err);
    return r < 0 ? r : token_file_read(buf_str(&text), str_of(file), ret, err);
}

int identity_new(const struct identity_options *opt, struct identity **ret, struct err *err)
{
    struct identity *i = mem_new(struct identity);
    int r = opt->token_file ? read_tokens(opt->token_file, &i->tokens, err) : 0;
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
    token_file_free(i->tokens);
    free(i);
    return NULL;
}
