/* identity.h - who asks: what the server believes of a request's certificate and token.
 *
 * Sealed once made; loops ask it without a lock, workers too. Tokens of service accounts are held
 * against the store each time, so what is deleted ends them at once. */
#pragma once

#include "auth/account_token.h"
#include "auth/authentication_config.h"
#include "base/clock.h"
#include "net/http/http.h"
#include "server/guard/token_webhook.h"
#include "store/store.h"

struct identity;

enum { IDENTITY_NAMES_MAX = 8, IDENTITY_KEYS_MAX = 16, IDENTITY_ASKERS_MAX = 4 };

/* Names that an option lists; texts as given. */
struct identity_names {
    struct str items[IDENTITY_NAMES_MAX];
    size_t n;
};

/* Which headers of a front proxy say for whom it speaks, and which proxies may (none: all that its
 * authority has signed). */
struct identity_proxy {
    struct str ca; /* PEM; the TLS context verifies by it */
    struct identity_names allowed, user_headers, uid_headers, group_headers, extra_prefixes;
};

struct identity_options {
    const char *token_file; /* of static tokens (auth/token_file.h); NULL: none */
    struct str more_tokens; /* lines as such a file has them */
    bool no_anonymous;      /* who shows nothing is refused */
    const struct authentication_anonymous *anonymous; /* or by path; outlives it; NULL: the above */
    bool bootstrap_tokens; /* nodes may join by tokens (auth/bootstrap_token.h) */
    struct str client_ca;  /* PEM; the TLS context verifies by it */
    /* Service accounts: PEM of the key that signs, and of keys that are believed beside it. Without
     * a signing key there are no new tokens. */
    struct str signing_key, more_keys;
    struct identity_names issuers;   /* the first one signs; none: the usual one */
    struct identity_names audiences; /* none: the issuers */
    struct str keys_uri;             /* where others find the keys; empty: here */
    int64_t token_max_sec;           /* how long a token lasts at most; 0: as is asked for */
    bool no_token_extension;         /* those of pods do not last longer than that */
    struct identity_proxy proxy;
    struct token_webhook_options webhook;
    const struct token_asker *asker; /* one more to ask about tokens, before others; copied; or NULL
                                      */
};

#define IDENTITY_ISSUER STR("https://kubernetes.default.svc")

/* Texts of the options are copied. */
int identity_new(const struct identity_options *opt, struct store *store, const struct clock *clock,
                 struct identity **ret, struct err *err);
struct identity *identity_free(struct identity *i);
/* Another one is asked from now on; requests that have begun may still ask this one. */
void identity_retire(const struct identity *i);

/* Who sent the request: in the arena, or static. Somebody who shows nothing is system:anonymous.
 * ERR_UNAUTHORIZED, with the reason for the log, if what he shows is not believed; `*ret` is then
 * NULL, or good for its `use` alone. IDENTITY_LATER if that takes its time: identity_of_bearer()
 * knows then. On the loop with that number. */
enum { IDENTITY_LATER = 1 };
int identity_find(const struct identity *i, size_t loop, struct arena *a,
                  const struct http_request *http, const struct user **ret, struct err *err);

/* Whose request it is that shows this token: as identity_find(), but it waits. Not on a loop. */
int identity_of_bearer(const struct identity *i, struct arena *a, struct str token,
                       const struct user **ret, struct err *err);

/* Who has a token that is for one of these audiences (none: for this server), and for which of
 * them. ERR_UNAUTHORIZED with upstream's words. May wait; on a worker. */
int identity_of_token(const struct identity *i, struct arena *a, struct str token,
                      const struct str *audiences, size_t n_audiences, struct account_user *ret,
                      struct err *err);

/* What tokens of service accounts are made and believed by. */
const struct account_rules *identity_accounts(const struct identity *i);
const struct signature_key *identity_signing_key(const struct identity *i); /* NULL: none */
