/* expectations.h - what a controller has asked for and not seen yet.
 *
 * Caches are a moment old. Whoever creates three pods and looks again at once sees none of them and
 * would create three more. So it notes how many creations, and which deletions, its cache has yet
 * to show, and changes nothing until then. What did not come within five minutes is not waited for
 * any longer. Keys are those of owners ("NS/NAME"). Any thread. */
#pragma once

#include <sampan/base.h>

struct expectations;

struct expectations *expectations_new(void);
struct expectations *expectations_free(struct expectations *e); /* NULL will do; returns NULL */

/* From now on; what was expected before counts no more. */
void expectations_create(struct expectations *e, struct spn_text owner, size_t n);
void expectations_delete(struct expectations *e, struct spn_text owner, const struct spn_text *keys,
                         size_t n);

/* One more, beside what is expected already. */
void expectations_create_more(struct expectations *e, struct spn_text owner);
void expectations_delete_more(struct expectations *e, struct spn_text owner, struct spn_text key);

/* One was seen, or will not come after all. */
void expectations_created(struct expectations *e, struct spn_text owner);
void expectations_deleted(struct expectations *e, struct spn_text owner, struct spn_text key);

/* True: everything was seen, nothing was expected, or it took too long. */
bool expectations_are_met(struct expectations *e, struct spn_text owner);
void expectations_forget(struct expectations *e, struct spn_text owner);
