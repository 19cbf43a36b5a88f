/* managed_internal.h - the entries of managedFields while update and apply work on them. */
#pragma once

#include "merge/managed.h"

enum { MANAGED_UPDATERS_MAX = 10, MANAGED_VERSIONS_MAX = 16 };

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

/* An object in some version, without its managedFields. */
struct managed_object {
    struct value v;
    struct str api_version;
    struct ownership_place place;
};

/* ERR_NOT_FOUND if there is no such version. */
int managed__to_version(struct arena *a, const struct managed_request *req,
                        const struct managed_object *from, struct str api_version,
                        struct managed_object *ret, struct err *err);
bool managed__is_known(const struct managed_request *req, struct str api_version);

/* What changed from `live` to `obj`, both without their managedFields, as each version sees it. */
struct managed_seen {
    struct str api_version;
    struct ownership_changes changes;
};

struct managed_compare {
    struct arena *arena;
    const struct managed_request *req;
    const struct value *live, *obj; /* in the version of the request */
    struct managed_seen seen[MANAGED_VERSIONS_MAX];
    size_t n;
};

/* Without what the endpoint sets back. ERR_NOT_FOUND if there is no such version. */
int managed__changes(struct managed_compare *c, struct str api_version,
                     struct ownership_changes *ret, struct err *err);

/* Managers lose fields that another manager changed; managers of unknown versions are dropped. */
int managed__lose(struct managed_entries *m, const struct managed_entry *except,
                  struct managed_compare *c, struct err *err);

/* The tree without its managedFields. */
struct value managed__bare(struct arena *a, const struct value *obj);
/* Without what nobody ever owns: the name, the version, what the server counts. */
const struct fieldset *managed__strip(struct arena *a, const struct fieldset *s);
/* Gives the changes to a manager that updates. */
void managed__gain(struct managed_entries *m, const struct managed_request *req, struct str manager,
                   const struct ownership_changes *changes);
