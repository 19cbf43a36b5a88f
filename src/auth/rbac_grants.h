/* rbac_grants.h - what one subject was given in one scope. Internal to rbac.
 *
 * Grants are sealed: a change makes new ones. Where a subject has many roles in a scope, their
 * rules are also in a table, by group, resource and name; the roles that were added since it was
 * made are looked at one by one. */
#pragma once

#include "auth/rbac_rule.h"

/* A role, whether it exists or not: what bindings refer to. `rules` is NULL if it does not. */
struct rbac_role {
    struct str ns, name;           /* in the block */
    struct rbac_rules *rules;      /* atomic */
    struct rbac_binding *bindings; /* the writer's: those that refer to it */
};

struct rbac_subject {
    struct str kind, ns, name;
};

struct rbac_binding {
    struct str ns, name, role_kind, role_name; /* these and the subjects are in the block */
    struct rbac_role *role;                    /* NULL if its kind is unknown */
    const struct rbac_subject *subjects;
    size_t n_subjects;
    struct rbac_binding *next, **link; /* the writer's: others of the same role */
};

struct rbac_table;

struct rbac_grants {
    const struct rbac_binding **bindings; /* by name */
    size_t n_bindings;
    struct rbac_role **roles; /* each once; the first `n_in_table` are in the table */
    size_t n_roles, n_in_table;
    struct rbac_table *table; /* NULL: all are looked at one by one; a block of its own */
};

/* The same with one more binding, or one less; `old` may be NULL. The new ones may have the table
 * of the old ones. */
struct rbac_grants *rbac_grants_add(const struct rbac_grants *old, const struct rbac_binding *b);
struct rbac_grants *rbac_grants_remove(const struct rbac_grants *old, const struct rbac_binding *b);
/* One of the roles has other rules: the table is made anew. */
struct rbac_grants *rbac_grants_renew(const struct rbac_grants *old);

bool rbac_grants_allow(const struct rbac_grants *g, const struct access *q);
