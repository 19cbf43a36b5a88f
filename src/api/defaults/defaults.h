/* defaults.h - what an object says where its author said nothing.
 *
 * Applied when an object is read, in the version in which it was written, before anything else is
 * done with it; and again to what is stored, where a version gained a default later. Doing it twice
 * changes nothing. Values that a kind's table gives (`default_json`) are filled in by walking the
 * table; what depends on other fields has a function in defaults_*.c. Objects are trees as
 * typed_read() leaves them. Rules only: no I/O, no clock. */
#pragma once

#include "api/kind.h"
#include "base/value.h"

void defaults_apply(struct arena *a, const struct kind_type *t, struct value *obj);

/* Fills in what has the time of the write for its default: since when a device is tainted. `now` is
 * an RFC 3339 time in whole seconds; it is borrowed. For new objects and updates of resource.k8s.io
 * only; of all others nothing is changed. */
void defaults_stamp(struct arena *a, const struct kind_type *t, struct value *obj, struct str now);
