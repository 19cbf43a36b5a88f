/* openid_provider.h - an OpenID issuer as we know it: where its keys are, and the keys.
 *
 * Both are fetched when they are needed. A token that no key has signed makes the keys be fetched
 * again, because the issuer may have new ones; that is done by one thread at a time, for all that
 * wait, and not more often than every PROVIDER_EVERY_NS. All of it may be called by any thread that
 * may wait. */
#pragma once

#include "auth/openid_keys.h"
#include "net/outgoing/fetch.h"

struct openid_provider;

struct openid_provider_options {
    struct str issuer;
    struct str discovery_url;              /* empty: below the issuer, at the usual place */
    struct fetcher *fetcher;               /* outlives the provider */
    atomic_size_t *n_waiting;              /* tokens that wait for keys, of all issuers together */
    void (*fetched)(void *arg, bool well); /* the keys, or not; any thread; or NULL */
    void *arg;
};

/* Texts are copied. */
struct openid_provider *openid_provider_new(const struct openid_provider_options *opt);
struct openid_provider *openid_provider_free(struct openid_provider *p);

struct str openid_provider_issuer(const struct openid_provider *p);

/* Whether it is known where its keys are. Does not wait. */
bool openid_provider_is_found(struct openid_provider *p);
/* Looks for that, and then for the keys; that these cannot be had is no error. Waits. */
int openid_provider_find(struct openid_provider *p, struct err *err);

/* Whether a key that is known has signed the token. Does not wait. */
bool openid_provider_has_signed(struct openid_provider *p, const struct jwt *t);
/* Whether the issuer has signed the token. ERR_UNAUTHORIZED in upstream's words. Waits, if its keys
 * have to be fetched; only so many at a time do, because issuers that hang must not take all
 * threads that are there for tokens. */
int openid_provider_verify(struct openid_provider *p, const struct jwt *t, struct err *err);

/* A document of an issuer, in the arena. Waits. `token` is shown to it, if there is one. */
int openid_provider_fetch(struct fetcher *f, struct arena *a, struct str url, struct str token,
                          struct str *ret, struct err *err);
