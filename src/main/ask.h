/* ask.h - a question to the control plane that runs in a folder, asked as its admin. */
#pragma once

#include "net/outgoing/fetch.h"

/* Sends `req`, whose URL is a path, to `address` with the credentials that lie in `dir`. As
 * fetch().
 */
int ask_running(struct arena *a, const char *dir, struct str address,
                const struct fetch_request *req, struct fetch_reply *ret, struct err *err);
