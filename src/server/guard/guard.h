/* guard.h - who may do what, as the store has it now.
 *
 * The guard keeps an index of roles and bindings (auth/rbac.h). Whoever writes one of them calls
 * guard_changed() before he answers: the next decision is not older than that answer. The guard
 * then reads the object again, so that it does not matter in which order writers come.
 *
 * Loops decide without a lock. What is replaced in the index is kept until each loop has come to
 * the end of its turn. Others take the guard's lock. */
#pragma once

#include "api/kind.h"
#include "auth/rbac.h"
#include "net/loop.h"
#include "store/store.h"

struct guard;

enum guard_mode {
    GUARD_RBAC,         /* system:masters may do everything; all others what roles give them */
    GUARD_ALWAYS_ALLOW, /* for tests */
};

struct guard *guard_new(struct store *store, enum guard_mode mode);
/* No loop runs any more. */
struct guard *guard_free(struct guard *g);

/* Reads all roles and bindings, before anybody asks. */
int guard_load(struct guard *g, struct err *err);
/* From now on these loops decide. They start after this. */
void guard_serve(struct guard *g, struct loop *const *loops, size_t n_loops);

/* An object of a stored kind was written or deleted. Those that decide nothing are passed over.
 * Anywhere but on a loop; without a guard nothing happens. */
void guard_changed(struct guard *g, const struct kind_resource *stored, struct str ns,
                   struct str name);

/* On a loop. */
bool guard_allows(const struct guard *g, const struct access *q);
/* Why not, or why: in the arena; often empty. On a loop. */
struct str guard_reason(const struct guard *g, struct arena *a, const struct access *q);

/* The same two, anywhere else. */
bool guard_decide(struct guard *g, struct arena *a, const struct access *q, struct str *ret_reason);

/* Calls `fn` with the index, which stays as it is until `fn` returns. Anywhere but on a loop. NULL:
 * everything is allowed. */
int guard_with_rbac(struct guard *g, int (*fn)(const struct rbac *rbac, void *arg), void *arg);
