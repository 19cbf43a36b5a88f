/* managed.h - metadata.managedFields: which manager owns which fields of an object.
 *
 * Two ways in. managed_update() follows a create, update or patch that has made the new object
 * already: whatever changed belongs to the manager of the request from now on. managed_apply()
 * makes the new object: the configuration is merged into the live object, what the manager had
 * applied before and leaves out now goes unless somebody else owns it, and a change of what others
 * own is a conflict.
 *
 * Objects are trees as typed_read() gives them; the applied configuration is as the client sent it,
 * duplicates dropped; see managed_check(). Results borrow from the inputs, which must
 * live as long. What changed is seen by managers of other versions of the API in their own, if the
 * request says how to convert. Rules only: no I/O, no clock. */
#pragma once

#include "merge/ownership.h"

/* The versions of a kind. */
struct managed_versions {
    /* The type that stands at a place, in another version; false if it has none there. */
    bool (*find)(struct ownership_place place, struct str api_version, struct ownership_place *ret);
    int (*convert)(struct arena *a, struct ownership_place from, struct ownership_place to,
                   const struct value *obj, struct value *ret, struct err *err);
    /* The field that says how many replicas an object of that version has; NULL if none does. It is
     * spec.replicas where there is no such function. */
    const struct fieldset *(*replicas)(struct arena *a, struct ownership_place place,
                                       struct str api_version);
};
extern const struct managed_versions managed_kinds; /* kind tables */

struct managed_request {
    const struct ownership_schema *schema;
    struct ownership_place place; /* the type of the object */
    struct str manager;           /* fieldManager, or the user agent up to its slash */
    struct str api_version;       /* "apps/v1" */
    struct str subresource;       /* empty: none */
    struct str now;               /* RFC 3339 in UTC, seconds */
    /* The object that has nothing yet, which a create starts from: a struct in Go shows some of its
     * fields even then. */
    const struct value *empty;
    /* Fields that this endpoint resets (a status, say), with all below: no manager gains or loses
     * them here. */
    const struct fieldset *reset;
    /* Managers of versions that it does not have are forgotten. NULL: all versions have the same
     * fields. */
    const struct managed_versions *versions;
};

/* Sets managedFields of `obj`. `live` is NULL on a create. The entries that `obj` brings along
 * count if they are well formed, else those of `live`; an empty list ends the tracking. Errors are
 * those of ownership_compare(): upstream then keeps the entries of `live`, and so may the caller.
 */
int managed_update(struct arena *a, const struct managed_request *req, const struct value *live,
                   struct value *obj, struct err *err);

/* `*ret` is the new object with its managedFields; fields that were taken away may be null in it.
 * `live` is NULL if the object is to be created. ERR_CONFLICT has a cause for each field;
 * ERR_BAD_REQUEST if the configuration has managedFields of its own. */
int managed_apply(struct arena *a, const struct managed_request *req, const struct value *live,
                  const struct value *applied, bool force, struct value *ret, struct err *err);

/* The subresource "scale" has managers of its own kind. managed_to_scale() gives `scale` those
 * managers of `obj` that own its replicas; managed_from_scale() takes over what became of them.
 * `parent` is a request to the object itself, of which only the version counts. */
void managed_to_scale(struct arena *a, const struct managed_request *parent,
                      const struct value *obj, struct value *scale);
void managed_from_scale(struct arena *a, const struct managed_request *parent,
                        const struct value *scale, struct value *obj);

/* Whether managedFields are well formed; NULL is. ERR_BAD_REQUEST in upstream's words. */
int managed_check_fields(struct arena *a, const struct value *managed_fields, struct err *err);

/* Whether a configuration can be applied: ERR_UNKNOWN (500) says upstream's "failed to create typed
 * patch object" and what does not fit the schema; ERR_BAD_REQUEST as above. */
int managed_check(struct arena *a, const struct managed_request *req, const struct value *applied,
                  struct err *err);
