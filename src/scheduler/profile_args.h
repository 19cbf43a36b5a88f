/* profile_args.h - what plugins are told by `pluginConfig` of a profile. Private to this folder. */
#pragma once

#include "api/field_errors.h"
#include "scheduler/profile.h"

/* As upstream has them where nobody says anything. */
void profile_args_init(struct profile *p);
/* Reads the list, which is that of the profile at that path. ERR_INVALID at once: it is not of the
 * right form. Values that make no sense are noted as faults. Arguments of plugins that nobody knows
 * are ignored, as upstream. */
int profile_args_read(struct arena *a, struct profile *p, const struct value *list,
                      const struct field_path *profile, struct field_errors *faults,
                      struct err *err);
