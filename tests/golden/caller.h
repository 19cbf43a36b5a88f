/* caller.h - who sends a step: the recorded callers, with their tokens and certificates.
 *
 * "alice" has the token alice-token; "anonymous" shows nothing; {"token": T} shows T; {"cert":
 * {...}} has a certificate of the client's authority, or of another one; {"proxy": true} that of
 * the front proxy. Without a caller it is the admin. */
#pragma once

#include "base/value.h"
#include "net/outgoing/fetch.h"
#include "net/crypto/pki.h"

struct callers;

struct callers_options {
    struct str server_ca_pem;
    struct pki_pair client_ca, proxy_ca; /* that sign certificates; empty: there are none */
    struct str account_key, other_key;   /* PEM of RSA keys that sign tokens: ours, another one */
};

struct callers *callers_new(const struct callers_options *opt);
struct callers *callers_free(struct callers *c);

/* A token as a case describes it: claims, perhaps a key and other headers. Empty if it cannot be
 * made. */
struct str caller_mint(struct callers *c, struct arena *a, const struct value *wanted);

/* How to reach the server as this caller (NULL: the admin): NULL if he cannot be made. `ret_token`
 * is in the arena, empty for none. Any thread. */
struct fetcher *caller_fetcher(struct callers *c, struct arena *a, const struct value *as,
                               struct str *ret_token);
