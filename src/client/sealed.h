/* sealed.h - JSON as cached objects keep it: without white space, with the keys that objects have
 * again and again as one byte or two, and without the object's own name and namespace, which stand
 * elsewhere.
 *
 * No control character stands in JSON as we write it, so those bytes are free to stand for
 * `"metadata":` and its like. Sealed text is not JSON for others: sealed_open() makes it so. It was
 * written by us, so finding one's way in it needs no checks. Rules only: no I/O, no state. */
#pragma once

#include "base/buf.h"
#include "base/value.h"

/* metadata.name and metadata.namespace of the object: plain text. */
struct sealed_own {
    struct str name, ns;
};

/* A whole object. */
void sealed_write(struct buf *out, const struct value *obj, const struct sealed_own *own);

/* All of it or a value in it as JSON, in the arena. */
struct str sealed_open(struct arena *a, struct str sealed, const struct sealed_own *own);

/* A member of an object in sealed text. The object's own name and namespace have no value there. */
struct sealed_member {
    struct str key;
    const char *value, *end;
};

/* The first member of the object that begins at `p`, and the one after `m`. False: there is none.
 */
bool sealed_first(const char *p, struct sealed_member *ret);
bool sealed_next(struct sealed_member *m);
const char *sealed_end(const char *value); /* behind the value that begins there */
