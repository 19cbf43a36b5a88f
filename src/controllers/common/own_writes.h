/* own_writes.h - what a controller has written and its cache may not show yet.
 *
 * Who decides by an old cache does things twice: objects with generated names above all. So writes
 * are noted by the key of the object that is reconciled, and the next reconcile of it waits until
 * the cache has them. A note is dropped after a while, in case somebody else undid the write before
 * it was seen. Any thread. */
#pragma once

#include <sampan/cache.h>

struct own_writes;

struct own_writes *own_writes_new(void);
struct own_writes *own_writes_free(struct own_writes *ow);

/* The server's answer to a create or an update. */
void own_writes_note(struct own_writes *ow, struct spn_text key, const struct spn_value *answer);
/* The same of an object that the cache had: if it is not there any more, it has gone since. */
void own_writes_note_update(struct own_writes *ow, struct spn_text key,
                            const struct spn_value *answer);
void own_writes_note_deleted(struct own_writes *ow, struct spn_text key,
                             const struct spn_value *obj);
/* True: the cache has all that was noted for the key. */
bool own_writes_are_seen(struct own_writes *ow, struct spn_text key, struct spn_cache *cache);
void own_writes_forget(struct own_writes *ow, struct spn_text key);
