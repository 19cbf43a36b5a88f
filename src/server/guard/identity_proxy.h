/* identity_proxy.h - front proxies: their certificates are believed, and their headers say for whom
 * they speak. */
#pragma once

#include "server/guard/identity.h"

/* 1 if the proxy says for whom it speaks, 0 if it speaks for itself. ERR_UNAUTHORIZED if it is not
 * one of those that may. The user lies in the arena. */
int identity_proxied(const struct identity_proxy *p, struct arena *a,
                     const struct http_request *http, const struct user **ret, struct err *err);
