/* security_internal.h - what the files of this folder share. */
#pragma once

#include "mesh/security/security.h"

void security__jwt(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                   struct value *filters);

/* One rule of an AuthorizationPolicy as permissions and principals of Envoy's RBAC. False: it can
 * never hold here, as one that asks of HTTP on a connection that is none. `denies`: what cannot be
 * asked is as if it were not there. */
bool security__rule(struct arena *a, const struct value *rule, bool is_tcp, bool denies,
                    struct value *ret_policy);
