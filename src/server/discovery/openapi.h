/* openapi.h - /openapi/v2 and /openapi/v3: the documents of src/api/openapi/openapi.h, served.
 *
 * A document is made when it is first asked for and then kept until the process ends, those of each
 * choice of versions by themselves. Its tag is a
 * checksum of its text; the list at /openapi/v3 gives addresses with that tag in them, which
 * clients may keep for good. What custom kinds add is made anew each time and never kept. Any loop
 * may serve. */
#pragma once

#include "net/http/http.h"
#include "server/core/api.h"

/* True if the path is one of these; the exchange is then answered. */
bool openapi_serve(struct http_exchange *x, struct api *api);
