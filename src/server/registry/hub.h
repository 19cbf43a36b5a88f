/* hub.h - between the version of a request and the hub version, in which its kind is stored. */
#pragma once

#include "server/http/call.h"

/* An object as it was sent, in the hub version: with what its version has no place for taken from
 * `live`, the stored object that it is to replace (NULL: none), and, if it is an old one, with the
 * defaults of the hub version. */
int hub_take(struct call *c, struct value *obj, const struct value *live, struct value *ret,
             struct err *err);
/* An object of the hub version in that of the request. */
int hub_show(struct call *c, const struct value *obj, struct value *ret, struct err *err);
