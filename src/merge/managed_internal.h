/* managed_internal.h - the entries of managedFields while update and apply work on them. */
#pragma once

#include "merge/managed.h"

enum { MANAGED_UPDATERS_MAX = 10 };

struct managed_entry {
    struct str manager, subresource, api_version;
    struct str time; /* empty: none */
    bool is_apply;
    const struct fieldset *fields;
};

struct managed_entries {
    struct arena *arena;
    struct managed_entry *all; /* no two are the same manager's */
    size_t n, cap;
};

/* ERR_BAD_REQUEST if one is not well formed. `list` may be absent. */
int managed__read(struct managed_entries *m, const struct value *list, struct err *err);
/* Only those of versions that are known. */
void managed__drop_unknown(struct managed_entries *m, const struct managed_request *req);
/* In upstream's order; removes the field if there are no entries. */
void managed__write(const struct managed_entries *m, struct value *obj);

/* Who: manager, operation, subresource, and the version of those that update. */
int managed__cmp(const struct managed_entry *a, const struct managed_entry *b);
struct managed_entry *managed__find(const struct managed_entries *m,
                                    const struct managed_entry *who);
struct managed_entry *managed__add(struct managed_entries *m, struct managed_entry e);
void managed__drop_empty(struct managed_entries *m);
/* Too many managers that update become one, the oldest first. */
void managed__cap(struct managed_entries *m);

/* What somebody else changed is no longer theirs. */
void managed__lose(struct managed_entries *m, const struct managed_entry *except,
                   const struct ownership_changes *changes);

/* The tree without its managedFields. */
struct value managed__bare(struct arena *a, const struct value *obj);
/* Without what nobody ever owns: the name, the version, what the server counts. */
const struct fieldset *managed__strip(struct arena *a, const struct fieldset *s);
/* The changes without what the endpoint sets back. */
int managed__changes(struct arena *a, const struct managed_request *req, const struct value *live,
                     const struct value *obj, struct ownership_changes *ret, struct err *err);
/* Gives the changes to a manager that updates. */
void managed__gain(struct managed_entries *m, const struct managed_request *req, struct str manager,
                   const struct ownership_changes *changes);
