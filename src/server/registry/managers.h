/* managers.h - metadata.managedFields on the way of a write: who gets what the request changed.
 *
 * The rules are in merge/managed.h. Here is what they ask of a server: the name of the manager,
 * the version of the request, which fields an endpoint sets back. Objects are trees in the version
 * of the request, as typed_read() and defaults_apply() leave them, before admission. */
#pragma once

#include "merge/managed.h"
#include "server/http/options.h"
#include "server/registry/registry.h"

/* `type` is what the request reads and writes. Lies in the call's arena, all of it. */
struct managed_request *managers_request(struct call *c, const struct write_options *options,
                                         const struct kind_type *type);
/* The same for what the server does of its own, to an object in the storage version. */
struct managed_request *managers_own_request(struct call *c, struct str sub);

/* Sets managedFields of `obj`; `live` is NULL if it is to be created. Where items of a list cannot
 * be told apart nothing is known of what changed, and the managers of `live` stay. */
void managers_update(struct call *c, const struct managed_request *req, const struct value *live,
                     struct value *obj);
/* The same for `obj`, which is what hub_take() has made of `sent`, over `now` (NULL: nothing). */
int managers_own(struct call *c, const struct managed_request *req,
                 const struct registry_entry *now, const struct value *sent, struct value *obj,
                 struct err *err);

/* If the times of managers are all that differs: sets them back, so that nothing was changed. */
void managers_keep_times(struct arena *a, struct value *obj, const struct value *old_obj);
