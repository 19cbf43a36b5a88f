/* rbac_internal.h - shared by the files of rbac. */
#pragma once

#include "auth/rbac.h"
#include "auth/rbac_grants.h"
#include "base/buf.h"

/* What a user or a group was given in a scope; NULL: nothing. `scope_hash` is map_hash(scope). */
const struct rbac_grants *rbac__grants(const struct rbac *r, struct str scope, uint64_t scope_hash,
                                       bool is_group, struct str name);

/* Whom a subject of a binding means; the name may lie in `text`. False: nobody. */
bool rbac__subject_is(const struct rbac_subject *s, struct str scope, struct buf *text,
                      bool *ret_group, struct str *ret_name);

/* `role.rbac.authorization.k8s.io "NAME" not found` */
struct str rbac__missing_role(struct arena *a, const char *resource, struct str name);
