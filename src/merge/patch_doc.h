/* patch_doc.h - a document while the operations of a JSON patch work on it.
 *
 * A value tree finds a field by looking at all before it and inserts an item by moving all behind
 * it; ten thousand operations on a list of a million items would take minutes. So the containers
 * that an operation's path goes through are opened, once each: objects become hash tables, lists
 * become lists of short pieces. Everything else stays the shared value it was, and in the end
 * the opened ones are written back as a tree. Its maker's tree is never changed. One thread.
 * Private to json_patch.c. */
#pragma once

#include "base/value.h"

struct patch_box; /* an opened object or list */

/* One place in the document. */
struct patch_slot {
    struct value v;        /* what stands there, unless it is opened */
    struct patch_box *box; /* NULL: not opened */
};

struct patch_doc {
    struct arena *arena;
    struct patch_slot root;
    struct patch_box *boxes; /* all that were ever opened */
};

/* Children of the tree are borrowed; it outlives what patch_doc_write() makes. */
void patch_doc_init(struct patch_doc *d, struct arena *a, const struct value *tree);
void patch_doc_done(struct patch_doc *d);

/* Where a pointer (RFC 6901) leads but for its last step, and that step. What stands before the
 * first slash is not looked at, as upstream. False if there is no such container. */
bool patch_doc_find(struct patch_doc *d, struct str pointer, struct patch_box **ret,
                    struct str *ret_key);

bool patch_box_is_list(const struct patch_box *box);
/* A key as an index, whether or not there is such an item. */
bool patch_index(struct str key, int64_t *ret);
/* False for an index that the list has not; a field that is not there is NULL. The slot is good
 * until the next change of its box. Indexes are decimal, perhaps signed; negative ones count from
 * the end. */
bool patch_box_get(const struct patch_box *box, struct str key, struct patch_slot **ret);
/* Before the item that has the index, behind the last one for "-"; fields are replaced. */
bool patch_box_add(struct patch_doc *d, struct patch_box *box, struct str key,
                   struct patch_slot slot);
bool patch_box_remove(struct patch_box *box, struct str key);

bool patch_slot_eq(struct arena *a, const struct patch_slot *slot, const struct value *v);
/* The slot as a tree of its own. False if opened containers nest deeper than `max_depth`. */
bool patch_slot_write(struct arena *a, const struct patch_slot *slot, size_t max_depth,
                      struct value *ret);
