/* authentication_check.h - whether an AuthenticationConfiguration says something that can be done;
 * compiles its expressions on the way. The second half of authentication_config.h. */
#pragma once

#include "auth/authentication_config.h"

/* ERR_INVALID with all faults, as upstream's validation words them. */
int authentication_check(struct arena *a, struct authentication_config *c,
                         const struct authentication_own *own, struct err *err);
