/* guard.h - who may do what, as the store has it now.
 *
 * The guard asks authorizers in order, until one allows it: nodes by what runs there
 * (auth/node_rules.h), everybody by roles and bindings (auth/rbac.h). It keeps an index for each.
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
#include "net/loop.h"
#include "store/store.h"

struct guard;

/* An authorizer. system:masters may do everything in any case. */
enum guard_mode {
    GUARD_NODE,
    GUARD_RBAC,
    GUARD_ALWAYS_ALLOW, /* for tests */
    GUARD_MODES_MAX,
};

enum { GUARD_NOTES_MAX = 64 };

/* Who is asked, in this order. All zero: Node and RBAC. */
struct guard_modes {
    enum guard_mode at[GUARD_MODES_MAX];
    size_t n;
};

/* `Node,RBAC`. ERR_INVALID: one is unknown or named twice. */
int guard_modes_parse(struct str text, struct guard_modes *ret, struct err *err);

struct guard *guard_new(struct store *store, const struct guard_modes *modes);
/* No loop runs any more. */
struct guard *guard_free(struct guard *g);

/* Reads all that is followed, before anybody asks. */
int guard_load(struct guard *g, struct err *err);
/* From now on these loops decide. They start after this. */
void guard_serve(struct guard *g, struct loop *const *loops, size_t n_loops);

/* An object of a stored kind was written or deleted. Those that decide nothing are passed over.
 * Anywhere but on a loop; without a guard nothing happens. */
void guard_changed(struct guard *g, const struct kind_resource *stored, struct str ns,
                   struct str name);

/* On a loop. */
bool guard_allows(struct guard *g, const struct access *q);
/* Why not, or why: in the arena; often empty. On a loop. */
struct str guard_reason(struct guard *g, struct arena *a, const struct access *q);

/* The same two, anywhere else. */
bool guard_decide(struct guard *g, struct arena *a, const struct access *q, struct str *ret_reason);

/* Whether an authorizer decides about the user whose rules cannot be listed: by what a node runs.
 */
bool guard_decides_unlisted(const struct guard *g, const struct user *user);
/* Calls `fn` with the index, which stays as it is until `fn` returns. Anywhere but on a loop. NULL:
 * everything is allowed. */
int guard_with_rbac(struct guard *g, int (*fn)(const struct rbac *rbac, void *arg), void *arg);
