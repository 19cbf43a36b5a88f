/* awaited.h - a create whose object waits for initializers is answered when they are done.
 *
 * It waits like a watch: on its loop, without a thread and without a seat, so that initializers,
 * which are clients, too, are served meanwhile. What it answers:
 *
 *     the last initializer is done      201 and the object as that one left it
 *     an initializer has refused it     the Status that it gave as the reason
 *     somebody has deleted it           500
 *     the time is over                  504; the object stays, and may still be finished */
#pragma once

#include "server/http/call.h"

/* Takes the call over, from its worker. `obj` is what was stored. */
void awaited_begin(struct call *c, const struct value *obj);
