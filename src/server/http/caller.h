/* caller.h - who has sent a request, as far as the connection tells. */
#pragma once

#include "server/http/call.h"
#include "server/registry/strategy.h"

/* False if nobody is known: a call that the server makes itself, or one without a certificate. What
 * is filled in lies in the call's arena or in the connection. */
bool caller_find(struct call *c, struct strategy_user *ret);
