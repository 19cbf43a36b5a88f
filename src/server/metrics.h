/* metrics.h - the numbers of this process, its connections and its store, as Prometheus text.
 * Labels come from closed sets only. */
#pragma once

#include "base/buf.h"
#include "net/http.h"
#include "store/store.h"

void metrics_write(struct buf *out, const struct http_stats *http, const struct store_stats *store);
