/* uninitialized.h - which resources have, or ever had, objects that wait for initializers.
 *
 * Only of these resources lists and watches look whether an object counts already; all others pay
 * nothing. A resource gets its mark in one transaction with its first such object and keeps it, so
 * that after a restart, too, a watch over old history is right. Any thread. */
#pragma once

#include "api/kind.h"
#include "base/arena.h"
#include "store/store.h"

struct uninitialized;

/* Reads the marks. */
int uninitialized_new(struct store *store, struct uninitialized **ret, struct err *err);
struct uninitialized *uninitialized_free(struct uninitialized *u);

/* Whether there may be some. NULL has none. */
bool uninitialized_has(struct uninitialized *u, const struct kind_resource *stored);
/* Before an object is written that is not initialized: false if the resource has its mark already;
 * else `*ret` is written with the object, and uninitialized_kept() follows. */
bool uninitialized_add(struct uninitialized *u, struct arena *a, const struct kind_resource *stored,
                       struct store_op *ret);
/* The same of any key that somebody else has written. Any thread; `u` may be NULL. */
void uninitialized_saw(struct uninitialized *u, struct str key);
void uninitialized_kept(struct uninitialized *u, const struct kind_resource *stored);

/* The prefixes of keys of all of them; in the arena. */
size_t uninitialized_list(struct uninitialized *u, struct arena *a, struct str **ret);
