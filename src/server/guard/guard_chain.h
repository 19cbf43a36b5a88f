/* guard_chain.h - who is asked whether something is allowed, in order.
 *
 * The first one that allows or denies has the last word. A chain is sealed once the guard has it,
 * and shared by all who are asking when it is replaced. */
#pragma once

#include <stdatomic.h>

#include "auth/access.h"
#include "server/guard/guard_series.h"

/* An authorizer. system:masters may do everything in any case. */
enum guard_mode {
    GUARD_NODE,
    GUARD_RBAC,
    GUARD_ALWAYS_ALLOW, /* for tests */
    GUARD_ALWAYS_DENY,  /* the same: it has no opinion, in words */
    GUARD_WEBHOOK,      /* may stand there several times */
    GUARD_MODES_MAX,
};

enum { GUARD_CHAIN_MAX = 256 };

/* What somebody thinks of a question. Texts lie in the arena of who asks. */
struct guard_decision {
    enum access_opinion opinion;
    struct str reason; /* often empty */
    struct str error;  /* what failed on the way, also if there is an opinion; often empty */
};

enum guard_patience {
    GUARD_AT_ONCE,  /* what is not known at once is GUARD_LATER; on a loop */
    GUARD_GIVES_UP, /* who would have to wait has failed; on a loop */
    GUARD_WAITS,    /* anywhere else */
};

enum { GUARD_LATER = 1 };

/* An authorizer outside of the server, embedded in what it needs. */
struct guard_hook {
    /* 0 or GUARD_LATER. Any thread. */
    int (*ask)(struct guard_hook *h, struct arena *a, const struct access *q,
               enum guard_patience patience, struct guard_decision *ret);
    void (*free)(struct guard_hook *h); /* NULL: it is not the chain's */
    struct guard_series *series;        /* the guard sets it, before anybody asks */
};

struct guard_member {
    enum guard_mode mode;
    struct str name; /* in refusals and metrics */
    struct guard_hook *hook;
    struct guard_series *series; /* the same */
};

struct guard_chain {
    atomic_uint refs;
    struct arena arena; /* of the names, and of what the hooks need */
    size_t n;
    struct guard_member at[GUARD_CHAIN_MAX];
};

/* An empty one, the caller's. */
struct guard_chain *guard_chain_new(void);
struct guard_chain *guard_chain_ref(struct guard_chain *c);
struct guard_chain *guard_chain_unref(struct guard_chain *c);

/* Adds one at the end, before the chain is handed over. Not more than GUARD_CHAIN_MAX. */
void guard_chain_add(struct guard_chain *c, enum guard_mode mode, struct str name,
                     struct guard_hook *hook);
bool guard_chain_has(const struct guard_chain *c, enum guard_mode mode);
