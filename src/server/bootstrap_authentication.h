/* bootstrap_authentication.h - how this server authenticates, for extension servers that want to do
 * the same: ConfigMaps in kube-system that every cluster has. */
#pragma once

#include "server/core/api.h"
#include "server/guard/identity.h"

/* Makes them, or brings them up to date with the options. */
int bootstrap_authentication(struct api *api, const struct identity_options *opt, struct err *err);
