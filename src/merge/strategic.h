/* strategic.h - strategic merge patch: a merge patch that knows the kind.
 *
 * Lists that the kind's table gives a merge key are merged item by item, lists of scalars that
 * merge are sets, and everything else is as in a JSON merge patch. Directives: `$patch` (replace,
 * delete), `$retainKeys`, `$setElementOrder/FIELD`, `$deleteFromPrimitiveList/FIELD`. Where to
 * find the rules of a field is a struct of functions, so that kind tables and OpenAPI schemas (of
 * clients, or of vectors) do alike.
 *
 * All documents are objects without duplicate fields. None is changed; results borrow text and
 * whole subtrees from them, so they live as long. Work is near linear in their sizes. Rules only:
 * no I/O. */
#pragma once

#include "api/kind.h"
#include "base/err.h"
#include "base/value.h"

/* How one field merges. */
struct strategic_field {
    bool merge;           /* a list that is merged, not replaced */
    bool replace;         /* an object that is replaced as a whole */
    bool retain_keys;     /* its patches name the keys that stay */
    struct str merge_key; /* of a list of objects */
    const void *below;    /* what stands in it, or in the items of the list */
};

/* The rules of the fields of one object. `where` says of which; where it is NULL nothing is known
 * and nothing asked: objects merge, lists are replaced. */
struct strategic_rules {
    /* `is_list`: a list stands in the field, else an object. ERR_UNKNOWN in upstream's words if
     * there cannot be one. */
    int (*field)(const void *where, struct str name, bool is_list, struct strategic_field *ret,
                 struct err *err);
};
extern const struct strategic_rules strategic_kinds; /* `where` is a const struct kind_type * */

/* As kube-apiserver refuses them: ERR_BAD_REQUEST, ERR_INVALID, and ERR_UNKNOWN (500) for most. The
 * document then is as it was. */
int strategic_apply(struct arena *a, const struct strategic_rules *rules, const void *where,
                    const struct value *patch, struct value *doc, struct err *err);

/* What turns `original` into `modified`; an empty object if there is nothing to do. */
int strategic_two_way(struct arena *a, const struct strategic_rules *rules, const void *where,
                      const struct value *original, const struct value *modified, struct value *ret,
                      struct err *err);
/* What brings `current` to `modified`, deleting only what `original` had and `modified` has not.
 * Without `overwrite` a field that somebody else changed meanwhile is ERR_CONFLICT. */
int strategic_three_way(struct arena *a, const struct strategic_rules *rules, const void *where,
                        const struct value *original, const struct value *modified,
                        const struct value *current, bool overwrite, struct value *ret,
                        struct err *err);
