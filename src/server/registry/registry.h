/* registry.h - objects on their way into the store: names, uids, times, generations, conditions.
 *
 * These run on a worker and may wait for the store. An object is a tree of the storage version; a
 * result lies in the call's arena and carries the resourceVersion it was stored with. */
#pragma once

#include "server/http/call.h"
#include "server/http/options.h"

/* An object as it stands in the store. */
struct registry_entry {
    struct value obj; /* complete, with kind, apiVersion and resourceVersion */
    struct str bytes; /* as stored; in the arena */
    uint64_t rev;
    bool is_stale; /* it is written anew even if nothing changes (store.h) */
};

/* 1 and `*ret`, 0 if there is none, or an error. */
int registry_find(struct call *c, struct str name, struct registry_entry *ret, struct err *err);
/* The same, but ERR_NOT_FOUND with upstream's words if there is none. */
int registry_get(struct call *c, struct str name, struct registry_entry *ret, struct err *err);

/* Every object of a resource in a namespace, until `take` returns a negative code. There may be
 * many: only one is held at a time, and lent. */
int registry_each_in(struct call *c, struct str group, struct str plural, struct str ns,
                     admission_take *take, void *to, struct err *err);

/* Where a Service can be reached, as HOST:PORT: one of its endpoints, or its cluster address.
 * ERR_UNAVAILABLE in upstream's words. */
int registry_find_service(struct call *c, struct str ns, struct str name, int64_t port,
                          struct str *ret, struct err *err);

/* Creates `obj` and fills in all that the server decides. In a dry run nothing is stored and the
 * result has no resourceVersion. */
int registry_create(struct call *c, bool dry_run, struct value *obj, struct err *err);

/* What an update makes of the current object. `change` is called again when somebody else was
 * faster, unless the update is of one particular revision. */
struct registry_update {
    int (*change)(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                  struct err *err);
    void *arg;
    /* The path that says what may change: empty for all but the status, where that has a path of
     * its own; "status", "approval", "ephemeralcontainers", "resize", "finalize". */
    struct str sub;
    /* Who is asked, in place of the plugins, once the new object was found right; NULL: they are.
     */
    int (*admit_check)(struct registry_update *u, const struct value *obj,
                       const struct value *old_obj, struct err *err);
    bool as_is; /* what `change` has made counts as it is and is not looked at any more */
    bool dry_run;
    bool any_revision; /* it need not name one, also where the kind asks for that */
    bool tries_again;  /* `change` works on the newest object, whatever revision it names in the end
                        */
};

/* Reads, changes, checks and stores. `ret` is the object as it stands afterwards. If nothing
 * changed nothing is written; if the object was only waiting for its last finalizer it is gone. */
int registry_update(struct call *c, struct str name, struct registry_update *u, struct value *ret,
                    struct err *err);

/* Deletes or marks for deletion. `*ret_gone` says which; `ret` is the object as it was last, or
 * null if nobody could read it. */
int registry_delete(struct call *c, struct str name, const struct delete_options *o,
                    struct value *ret, bool *ret_gone, struct err *err);

/* ---- For verbs that change objects in their own way ---- */

/* The time of the server, as metadata has it; in the call's arena. */
struct str registry_now(struct call *c);
/* Brings `obj` into the form of its kind's table: fields in order, nothing else. Done after a
 * change, before field owners are counted. ERR_BAD_REQUEST where a value does not fit. */
int registry_settle(struct call *c, struct value *obj, struct err *err);
/* Admission of what is posted to a path and not stored: a Binding, an Eviction, a review. The
 * plugins may change it or refuse it; and once it was found right, they may refuse it. */
int registry_admit_posted(struct call *c, const struct kind_type *type, struct value *obj,
                          struct err *err);
int registry_admit_posted_check(struct call *c, const struct kind_type *type,
                                const struct value *obj, struct err *err);
/* The same of an object that stands for a part of the one that is stored: a Scale. */
int registry_admit_part(struct call *c, struct value *obj, const struct value *old_obj,
                        struct err *err);
int registry_admit_part_check(struct call *c, const struct value *obj, const struct value *old_obj,
                              struct err *err);
/* The same, both at once, of a connection; `options` are those of the subresource. */
int registry_admit_connect(struct call *c, struct value *options, struct err *err);
/* Holds the uid and the revision that a DELETE names against the object `now`. ERR_CONFLICT if they
 * differ. */
int registry_check_preconditions(struct call *c, struct str name, const struct delete_options *o,
                                 const struct registry_entry *now, struct err *err);
