/* guard.h - who may do what, as the store has it now.
 *
 * The guard asks authorizers in order (guard_chain.h), until one allows or denies it: nodes by what
 * runs there (auth/node_rules.h), everybody by roles and bindings (auth/rbac.h), or webhooks. It
 * keeps an index of nodes and one of roles.
 * Whoever writes an object that they follow calls guard_changed() before he answers: the next
 * decision is not older than that answer. The guard then reads the object again, so that it does
 * not matter in which order writers come.
 *
 * Loops decide by roles without a lock. What is replaced in that index is kept until each loop has
 * come to the end of its turn. Others take the guard's lock.
 *
 * Questions of nodes, which are few, take the lock of the graph, on loops, too. Pods are written
 * often, so a written one is only noted; it is read when a node asks, or when GUARD_NOTES_MAX of
 * them have come together. Nobody who asks has more than that to read. */
#pragma once

#include "api/kind.h"
#include "auth/rbac.h"
#include "base/buf.h"
#include "net/loop.h"
#include "server/guard/guard_chain.h"
#include "store/store.h"

struct guard;

enum { GUARD_NOTES_MAX = 64 };

/* Who is asked, in this order. All zero: Node and RBAC. */
struct guard_modes {
    enum guard_mode at[GUARD_MODES_MAX];
    size_t n;
};

/* `Node,RBAC`. ERR_INVALID: one is unknown or named twice. */
int guard_modes_parse(struct str text, struct guard_modes *ret, struct err *err);

/* Without webhooks among the modes. */
struct guard *guard_new(struct store *store, const struct guard_modes *modes);
/* With a chain, which the guard takes over. */
struct guard *guard_with_chain(struct store *store, struct guard_chain *chain);
/* No loop runs any more. */
struct guard *guard_free(struct guard *g);

/* Others are asked from now on; the guard takes over the chain. Nodes can only be in it if they
 * were in the first one. Not on a loop. */
void guard_set_chain(struct guard *g, struct guard_chain *chain);

/* Reads all that is followed, before anybody asks. */
int guard_load(struct guard *g, struct err *err);
/* From now on these loops decide. They start after this. */
void guard_serve(struct guard *g, struct loop *const *loops, size_t n_loops);

/* An object of a stored kind was written or deleted. Those that decide nothing are passed over.
 * Anywhere but on a loop; without a guard nothing happens. */
void guard_changed(struct guard *g, const struct kind_resource *stored, struct str ns,
                   struct str name);

/* True if it is certainly allowed; nothing is allocated for that. If not, guard_ask() knows more.
 * On a loop. */
bool guard_allows(struct guard *g, const struct access *q);
/* What the authorizers say in the end, and why. 0, or GUARD_LATER: who asks with GUARD_WAITS gets
 * the answer. Texts lie in the arena. */
int guard_ask(struct guard *g, struct arena *a, const struct access *q,
              enum guard_patience patience, struct guard_decision *ret);

/* The same in short, anywhere but on a loop; may wait. */
bool guard_decide(struct guard *g, struct arena *a, const struct access *q, struct str *ret_reason);

/* Why the rules of the user cannot be listed completely, in the order of the authorizers; empty for
 * the roles themselves, whose gaps rbac_holding_of() knows. Returns how many. Static texts. */
size_t guard_gaps(struct guard *g, const struct user *user, struct str ret[static GUARD_CHAIN_MAX]);
/* Calls `fn` with the index, which stays as it is until `fn` returns. Anywhere but on a loop. NULL:
 * everything is allowed. */
int guard_with_rbac(struct guard *g, int (*fn)(const struct rbac *rbac, void *arg), void *arg);

/* As Prometheus text, under upstream's names. Anywhere but on a loop. */
void guard_write_metrics(struct guard *g, struct buf *out);
