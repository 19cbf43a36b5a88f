/* selection.h - which objects a list or a watch is about: the parameters of ListOptions, read and
 * checked in upstream's order and words, the range of keys they leave, and matching.
 *
 * Everything points into the arena, the request and the tables, so a selection lives as long as
 * its call. Rules only: no I/O. */
#pragma once

#include "select/fields.h"
#include "select/labels.h"
#include "server/core/uninitialized.h"
#include "server/object/encode.h"
#include "server/http/request.h"

enum selection_match { SELECTION_ANY, SELECTION_EXACT, SELECTION_NOT_OLDER };

struct selection {
    struct labels_selector labels;
    struct fields_selector fields;
    struct str version; /* resourceVersion as it was sent; empty if it was not */
    enum selection_match match;
    struct str token;       /* continue; empty if it was not sent */
    uint64_t limit;         /* 0: none */
    int64_t timeout_sec;    /* of a watch; 0: the server's choice */
    bool bookmarks;         /* allowWatchBookmarks */
    bool initial;           /* a watch that begins with what there is */
    struct str name, ns;    /* the only ones that can match; a NULL pointer: any */
    bool by_key, is_single; /* the key decides about the fields; it is the only one that can */
    /* Objects that wait for initializers are left out, where there are any; NULL: they are not. */
    struct uninitialized *hidden;
    const struct kind_resource *stored; /* for that */
};

/* The parameters of a list, or of a watch; the name in the path of a watch counts as a field
 * selector. ERR_BAD_REQUEST, and ERR_INVALID for what contradicts itself. */
int selection_read(struct arena *a, const struct request *req, bool watch, struct selection *ret,
                   struct err *err);

/* A resourceVersion that is not empty. ERR_UNKNOWN in upstream's words. */
int selection_version(struct str text, uint64_t *ret, struct err *err);

/* Leaves out what waits for initializers, unless the request says otherwise. */
void selection_hide(struct selection *s, const struct request *req, struct uninitialized *hidden,
                    const struct kind_resource *stored);

/* True if nothing is left out. */
static inline bool selection_is_all(const struct selection *s)
{
    return labels_empty(&s->labels) && s->fields.n == 0 && !uninitialized_has(s->hidden, s->stored);
}

/* The keys that can match: all that start with the prefix, which ends with a slash unless
 * `is_single`, when it is the key itself. An empty one: none can. In the arena. */
struct str selection_prefix(struct arena *a, const struct kind_resource *r,
                            const struct selection *s);

/* A stored object that is looked at, by one selection or by many. What it takes to match is read
 * once, into the arena. */
struct selection_subject {
    struct arena *arena;
    const struct encoder *encoder;
    struct store_entry entry;
    struct value meta, tree, stored;
    bool has_meta, has_tree, has_stored;
};

/* The object as a tree, in the version that was asked for. */
int selection_tree(struct selection_subject *subject, const struct value **ret, struct err *err);
/* And in the one that is stored. */
int selection_stored(struct selection_subject *subject, const struct value **ret, struct err *err);
/* 1 if the object is selected, 0 if not, or ERR_DAMAGED. */
int selection_matches(const struct selection *s, struct selection_subject *subject,
                      struct err *err);

/* ERR_TIMEOUT: the revision has not come, though it was waited for. */
int selection_too_new(struct err *err, uint64_t wanted, uint64_t newest);
