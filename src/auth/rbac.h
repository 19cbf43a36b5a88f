/* rbac.h - who may do what, by roles and bindings: an index that is asked on the way of every
 * request, and follows the objects one by one.
 *
 * One writer at a time (the caller sees to that); any number of readers, which take no lock and
 * allocate nothing. A reader may still hold what the writer has replaced, so the writer does not
 * free it, but gives it to `retire`: the caller frees the block once no reader can have it any
 * more.
 *
 * Bindings are found by subject and scope. A subject that is given the same role a thousand times
 * in a scope has it once; one with many roles in a scope has a table of their rules
 * (rbac_grants.h). A decision thus does not grow with the number of objects. */
#pragma once

#include "auth/rbac_rule.h"

struct rbac;

struct rbac_retire {
    void (*block)(void *arg, void *block); /* to be freed with free() */
    void *arg;
};

struct rbac *rbac_new(const struct rbac_retire *retire);
struct rbac *rbac_free(struct rbac *r); /* no reader may be left */

/* The writer. `ns` is empty for cluster roles and their bindings; NULL: it is gone. */
void rbac_set_role(struct rbac *r, struct str ns, struct str name, const struct value *role);
void rbac_set_binding(struct rbac *r, struct str ns, struct str name, const struct value *binding);

/* The readers. What they are given is good until the reader comes to rest (see `retire`). */
bool rbac_allows(const struct rbac *r, const struct access *q);
/* The same decision with its reason, as upstream has it: `RBAC: allowed by ...`, or which roles of
 * the user's bindings do not exist, or nothing. */
bool rbac_explain(const struct rbac *r, struct arena *a, const struct access *q,
                  struct str *ret_reason);

/* All rules that a user has in a namespace (empty: in the cluster), binding by binding, by name. */
struct rbac_holding {
    const struct rbac_rule **rules;
    size_t n_rules;
    const struct str *missing; /* roles that do not exist, in words */
    size_t n_missing;
};
void rbac_holding_of(const struct rbac *r, struct arena *a, const struct user *user, struct str ns,
                     struct rbac_holding *ret);
/* The rules of a role that a binding refers to. NULL and the reason if there is no such role. */
const struct rbac_rules *rbac_role_rules(const struct rbac *r, struct arena *a, struct str kind,
                                         struct str ns, struct str name, struct str *ret_missing);
