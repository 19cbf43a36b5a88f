/* openapi_foreign.h - what extension servers add to the Swagger document: the paths of their
 * versions, and the definitions that nobody else has. */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "server/discovery/catalog.h"

/* `,"NAME":{...}` for each of one version. `there` is the document of what is built in; `seen` has
 * the definitions that others have added, and gets these. Either buffer may be NULL. */
void openapi_foreign_swagger(struct buf *paths, struct buf *definitions, struct arena *a,
                             struct str there, struct str swagger, const struct catalog_version *v,
                             struct map *seen);
