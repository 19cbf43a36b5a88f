/* bootstrap_object.h - making an object that every cluster has. */
#pragma once

#include "server/registry/registry.h"

/* A call of the server itself about a stored resource. */
struct call bootstrap_call(struct api *api, struct arena *a, struct str group, struct str resource,
                           struct str ns);

/* Makes it, with defaults and the server as its manager: 0. If there is one of that name already:
 * 1, and `ret_there`. `obj` becomes what its kind's table makes of it. */
int bootstrap_object_make(struct call *c, struct str name, struct value *obj,
                          struct registry_entry *ret_there, struct err *err);
