/* audit_truncate.h - events that are too large for their back end: they lose what was sent and
 * answered, and say so in an annotation. Pure. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* `*ret` is the event, or what is left of it, in the arena. False if even that is larger than
 * `most` bytes. */
bool audit_truncate(struct arena *a, struct str event, size_t most, struct str *ret);
