/* jsonpath.h - JSONPath as client-go has it: what printer columns and selectable fields are written
 * in.
 *
 * A path is a template: text, and actions in braces, `{.spec.containers[*].name}`. An action goes
 * from the object on by fields (`.a`, `.a\.b`, `['a']`), all that is inside (`.*`), all that is
 * below (`..`), indexes and slices with steps, unions (`['a','b']`, `[0,2]`), filters
 * (`[?(@.a=="b")]`), texts, numbers and booleans; {range} and {end} repeat what stands between
 * them. `$` and `@` are passed over, as they are there. Faults are in client-go's words.
 *
 * Objects are visited in the order of their fields. A parsed path is immutable and lies in the
 * arena it was parsed into; any thread may use it. What finding costs is bounded by the caller.
 * Rules only: no I/O. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

struct jsonpath;

/* ERR_INVALID. Nothing of `text` is needed afterwards. */
int jsonpath_parse(struct arena *a, struct str text, struct jsonpath **ret, struct err *err);

/* What one text or one action has found. The values are those of the object and of the path. */
struct jsonpath_found {
    const struct value **values;
    size_t n;
};

struct jsonpath_results {
    struct jsonpath_found *list;
    size_t n;
};

/* Where keys may be missing, nothing is found there; else it is an error. No more than `*budget`
 * values are looked at, and it becomes what is left of that. ERR_INVALID. */
int jsonpath_find(struct arena *a, const struct jsonpath *path, const struct value *obj,
                  bool may_miss, size_t *budget, struct jsonpath_results *ret, struct err *err);

/* As kubectl prints it: values with a space between them, lists and objects as JSON. */
void jsonpath_print(struct buf *out, const struct jsonpath_found *found);
void jsonpath_print_value(struct buf *out, const struct value *v);
