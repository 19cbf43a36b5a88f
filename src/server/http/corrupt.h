/* corrupt.h - objects that are there and cannot be read, in upstream's words (KEP-3926).
 *
 * A GET of such an object fails with this error; a list of its kind names all of them. It can only
 * be deleted, with an option that skips decoding, and so finalizers and preconditions. */
#pragma once

#include "server/http/call.h"

/* Says of ERR_DAMAGED what GET, PUT, PATCH and DELETE answer; `rev` is 0 if the store found it.
 * Notes the damage. Other results pass. */
int corrupt_object(struct store *s, struct str key, uint64_t rev, int r, struct err *err);

/* The same of a custom object that no webhook could convert, for whatever reason it gave. */
int corrupt_unconverted(struct str key, uint64_t rev, int r, struct err *err);

/* What the last event of a watch says that met one, `why` the store could not give it. In the
 * arena of `err`. */
void corrupt_event(bool is_deleted, const struct err *why, struct err *err);

/* What a list answers that met one: reads all of `prefix`, on a worker. Returns the negative code.
 */
int corrupt_list(struct call *c, struct str prefix, struct err *err);
