/* authentication_config.h - an AuthenticationConfiguration (apiserver.config.k8s.io v1, v1beta1 and
 * v1alpha1): which issuers' tokens are believed, whom they make, and where nobody needs to say who
 * he is. The --oidc-* flags say the same of one issuer.
 *
 * What is read is also checked, in upstream's words, and its expressions are compiled. All of it
 * lies in the arena that is given; it is sealed then, and any thread may use it. Rules only. */
#pragma once

#include "base/err.h"
#include "cel/cel.h"

enum { AUTHENTICATION_FILE_BYTES = 1 << 20, AUTHENTICATION_JWT_MAX = 64 };

/* What a part of a user is made from: a claim with a prefix in front, or an expression. */
struct authentication_source {
    struct str claim, prefix, expression;
    bool has_prefix;
    const struct cel_program *program; /* of the expression; NULL: none */
};

/* What must hold: a claim has a value, or an expression is true. */
struct authentication_rule {
    struct str claim, required, expression, message;
    const struct cel_program *program;
};

struct authentication_extra {
    struct str key, expression;
    const struct cel_program *program;
};

/* One issuer. */
struct authentication_jwt {
    struct str url, discovery_url, ca, match_policy, egress; /* ca: PEM; empty: the system's list */
    const struct str *audiences;
    size_t n_audiences;
    struct authentication_rule *claim_rules, *user_rules;
    size_t n_claim_rules, n_user_rules;
    struct authentication_source username, groups, uid;
    struct authentication_extra *extra;
    size_t n_extra;
    bool has_escapes; /* expressions may name keys as cel_escape() writes them */
};

struct authentication_condition {
    struct str path;
};

/* Who shows nothing. Without conditions all paths are meant. */
struct authentication_anonymous {
    bool is_set, is_enabled;
    struct authentication_condition *conditions;
    size_t n_conditions;
};

struct authentication_config {
    struct authentication_jwt *jwt;
    size_t n_jwt;
    struct authentication_anonymous anonymous;
    const struct str *algorithms; /* that tokens may be signed with */
    size_t n_algorithms;
};

/* Issuers that no other may pass itself off as: our own. */
struct authentication_own {
    const struct str *issuers;
    size_t n;
};

/* Texts are empty where the flag is not given. */
struct authentication_flags {
    struct str issuer_url, client_id, ca; /* ca: PEM */
    struct str username_claim, username_prefix, groups_claim, groups_prefix;
    const struct str *required; /* CLAIM=VALUE */
    size_t n_required;
    const struct str *algorithms; /* none: RS256 */
    size_t n_algorithms;
};

/* YAML or JSON. ERR_INVALID. The text need not outlive the call. */
int authentication_config_read(struct arena *a, struct str text,
                               const struct authentication_own *own,
                               struct authentication_config *ret, struct err *err);
/* Flags without an issuer make an empty configuration. ERR_INVALID. */
int authentication_config_of_flags(struct arena *a, const struct authentication_flags *flags,
                                   const struct authentication_own *own,
                                   struct authentication_config *ret, struct err *err);

/* The type of `user` in rules about users. */
const struct cel_type *authentication_user_type(struct arena *a);

bool authentication_anonymous_eq(const struct authentication_anonymous *x,
                                 const struct authentication_anonymous *y);
/* Whether a request for this path may come from nobody. */
bool authentication_anonymous_may(const struct authentication_anonymous *c, struct str path);
