/* secrecy.h - objects encrypted at rest, as --encryption-provider-config says.
 *
 * It is the store's codec (store.h): values are sealed when they are committed and opened when they
 * are read or watched, so the log, the view and backups have sealed bytes only, and no verb, filter
 * or controller knows of it. What a kind costs that is not encrypted is to look up its key.
 *
 * The configuration in use is a set that never changes; a reload puts another in its place. Sets
 * that were in use stay until the end, because some thread may still be reading by one: reloads are
 * rare and sets small. A file that cannot be used leaves the old set in use.
 *
 * One thread looks at the file, asks the key management services how they are and has them open the
 * seeds that readers have met (secrecy_kms.h). There is none if there is nothing to look at. */
#pragma once

#include "base/buf.h"
#include "store/store.h"

struct secrecy;

struct secrecy_options {
    const char *file; /* NULL: nothing is encrypted */
    bool reloads;     /* looks at the file again, every minute and when asked to */
};

/* Blocks while key management services are asked for the first time; one that does not answer is no
 * error. ERR_INVALID in upstream's words. */
int secrecy_new(const struct secrecy_options *opt, struct secrecy **ret, struct err *err);
/* After the store is closed. */
struct secrecy *secrecy_free(struct secrecy *s);

struct store_codec *secrecy_codec(struct secrecy *s);
/* Once it is the codec of `store`, before the server serves: fetches every seed that an object
 * needs, then begins to look at the file and the services. Blocks. */
int secrecy_start(struct secrecy *s, struct store *store, struct err *err);

/* Looks at the file soon, if it reloads, and asks the services. Any thread. NULL is fine here and
 * below. */
void secrecy_look(struct secrecy *s);

/* Whether there is something to say of key management services, and whether all are well. */
bool secrecy_is_checked(const struct secrecy *s);
bool secrecy_is_well(const struct secrecy *s);

void secrecy_metrics(struct secrecy *s, struct buf *out);
