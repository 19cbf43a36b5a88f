/* bootstrap_object.h - objects that every cluster has: those that are missing are made, many at
 * once. They are as the server wants them, so nobody admits or checks them. */
#pragma once

#include "base/limits.h"
#include "server/registry/registry.h"

struct bootstrap_batch {
    struct store_op ops[LIMIT_STORE_TXN_OPS];
    size_t n;
};

/* A call of the server itself about a stored resource. */
struct call bootstrap_call(struct api *api, struct arena *a, struct str group, struct str resource,
                           struct str ns);

/* 1 and `*ret_there` if there is one of that name, else 0. `obj` becomes what its kind's table
 * makes of it. */
int bootstrap_find(struct call *c, struct str name, struct value *obj,
                   struct registry_entry *ret_there, struct err *err);
/* Makes one that is missing; it is there after bootstrap_write(). All of it lies in the call's
 * arena until then. */
int bootstrap_add(struct bootstrap_batch *b, struct call *c, struct str name, struct value *obj,
                  struct err *err);
int bootstrap_write(struct bootstrap_batch *b, struct api *api, struct err *err);
