/* metrics.h - the numbers of this process, its connections and its store, as Prometheus text.
 * Labels come from closed sets only. */
#pragma once

#include "net/http/http.h"
#include "server/core/api.h"

/* Answers the exchange later, from a worker: counting objects takes its time. */
void metrics_serve(struct api *api, const struct http_server *http, struct http_exchange *x);
