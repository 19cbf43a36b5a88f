/* strategic.h - strategic merge patch: a merge patch that knows the kind.
 *
 * Lists that the kind's table gives a merge key are merged item by item, lists of scalars that
 * merge are sets, and everything else is as in a JSON merge patch. Directives: `$patch` (replace,
 * merge, delete), `$retainKeys`, `$setElementOrder/FIELD`, `$deleteFromPrimitiveList/FIELD`. Where
 * to find the rules of a field is a struct of functions, so that kind tables and OpenAPI schemas
 * (of clients, or of vectors) do alike. Rules only: no I/O. */
#pragma once

#include "api/kind.h"
#include "base/err.h"
#include "base/value.h"

/* How one field merges. */
struct strategic_field {
    bool merge;           /* a list or map that is merged, not replaced */
    bool replace;         /* a map or struct that is replaced as a whole */
    bool retain_keys;     /* its patches may name the keys that stay */
    struct str merge_key; /* of a list of objects */
    const void *below;    /* what fields() is asked with for what stands below; NULL: unknown */
};

/* The rules of the fields of one object. */
struct strategic_rules {
    /* False if there is no such field, which then merges as in a JSON merge patch. */
    bool (*field)(const void *where, struct str name, struct strategic_field *ret);
};
extern const struct strategic_rules strategic_kinds; /* `where` is a const struct kind_type * */

/* ERR_BAD_REQUEST or ERR_UNKNOWN in upstream's words. The document is edited copy on write. */
int strategic_apply(struct arena *a, const struct strategic_rules *rules, const void *where,
                    const struct value *patch, struct value *doc, struct err *err);

/* What turns `original` into `modified`. */
int strategic_two_way(struct arena *a, const struct strategic_rules *rules, const void *where,
                      const struct value *original, const struct value *modified, struct value *ret,
                      struct err *err);
/* What brings `current` to `modified`, deleting only what `original` had and `modified` has not.
 * Without `overwrite` a field that somebody else changed meanwhile is ERR_CONFLICT. */
int strategic_three_way(struct arena *a, const struct strategic_rules *rules, const void *where,
                        const struct value *original, const struct value *modified,
                        const struct value *current, bool overwrite, struct value *ret,
                        struct err *err);
