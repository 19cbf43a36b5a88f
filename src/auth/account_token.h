/* account_token.h - tokens of service accounts: what is in them, and whom they make.
 *
 * Bound tokens are signed for an audience and a time, and may be bound to a pod, a secret or a
 * node: they end with that. Legacy tokens stand in Secrets and end with them. Rules only; objects
 * are read through the caller. */
#pragma once

#include "auth/jwt.h"
#include "auth/user.h"

#define ACCOUNT_LEGACY_ISSUER STR("kubernetes/serviceaccount")

/* How the objects that a token names are read: 1 and the object, 0 if it is not there. Of those
 * that are not Secrets or service accounts the metadata is enough. */
struct account_objects {
    int (*read)(void *arg, struct arena *a, const char *plural, struct str ns, struct str name,
                struct value *ret, struct err *err);
    void *arg;
};

struct account_rules {
    const struct str *issuers; /* the first one signs */
    size_t n_issuers;
    const struct signature_key *const *keys; /* that are believed */
    size_t n_keys;
    const struct str *audiences; /* of this server */
    size_t n_audiences;
    /* New ones. */
    int64_t max_sec;     /* how long they last at most; 0: as is asked for */
    bool no_extension;   /* those of pods do not last longer than that */
    struct str keys_uri; /* where others find the keys; empty: at this server */
};

/* A token whose signature is good. It can be kept: the claims do not change. */
struct account_claims {
    struct jwt jwt;
    bool is_legacy;
};

/* 1: one of ours; 0: not a token of service accounts at all; ERR_UNAUTHORIZED with what is wrong.
 */
int account_token_open(const struct account_rules *rules, struct arena *a, struct str token,
                       struct account_claims *ret, struct err *err);

/* What is worth noting when a token is used that its owner should give up. It is known, too, of a
 * token that is refused. Texts are in the arena. */
struct account_use {
    struct str subject;
    bool has_no_audience; /* a legacy token, by its form */
    bool is_stale;        /* its successor is there since `stale_sec` */
    int64_t stale_sec;
    struct str secret_ns, secret, secret_uid; /* what holds it; empty: none */
    struct str last_used;                     /* a day, as that Secret's label has it */
    bool is_automatic;                        /* the Secret was not made by hand */
};

#define ACCOUNT_LAST_USED_LABEL     STR("kubernetes.io/legacy-token-last-used")
#define ACCOUNT_INVALID_SINCE_LABEL STR("kubernetes.io/legacy-token-invalid-since")

/* The day, 2026-11-16, that the Secret is to be labelled with; empty if it need not be. `ret` has
 * room for that. */
enum { ACCOUNT_DAY_BYTES = 10 };
struct str account_use_day(const struct account_use *use, int64_t now_sec, char *ret);

struct account_user {
    struct user user;
    struct account_use use;
    const struct str *audiences; /* those of the token that were asked for */
    size_t n_audiences;
};

/* Who that is now. Its time must be good, and what it names must still be there. `wanted` are the
 * audiences that it must be for one of. ERR_UNAUTHORIZED. */
int account_token_user(const struct account_rules *rules, struct arena *a, struct str token,
                       const struct account_claims *claims, const struct str *wanted,
                       size_t n_wanted, int64_t now_sec, const struct account_objects *objects,
                       struct account_user *ret, struct err *err);

/* What a new token says. */
struct account_grant {
    struct str ns, name, uid; /* of the service account */
    struct str jti;
    const struct value *audiences;            /* a list */
    int64_t now_sec, seconds, warn_after_sec; /* 0: it does not warn */
    /* What it is bound to; "" : nothing. A pod may have a node beside it. */
    const char *kind; /* "pod", "secret" or "node" */
    struct str bound_name, bound_uid, node_name, node_uid;
};
struct value account_token_claims(struct arena *a, struct str issuer,
                                  const struct account_grant *g);
