/* waiting.h - /sampan/v1/waiting: which objects wait for initializers, a line each, for people.
 *
 *     pods default/web waits for envoy.initializer.example.com
 *
 * Only so many are named; a last line says how many more there are. */
#pragma once

#include "net/http/http.h"
#include "server/core/api.h"

/* Answers the exchange later, from a worker. */
void waiting_serve(struct api *api, struct http_exchange *x);
