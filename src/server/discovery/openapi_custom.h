/* openapi_custom.h - custom kinds in OpenAPI documents.
 *
 * Nothing is kept: a definition is read from the store when its schema is asked for. A tag stands
 * for the definitions that a document tells of, so that none needs to be made for it. */
#pragma once

#include "base/buf.h"
#include "server/discovery/catalog.h"

enum { OPENAPI_TAG_BYTES = 16 };

/* The tag of a version's document, or, without one, of everything custom. */
void openapi_custom_tag(const struct catalog *c, const struct catalog_version *v,
                        char ret[OPENAPI_TAG_BYTES + 1]);
/* The document of a version that is all custom. */
void openapi_custom_version(struct buf *out, struct arena *a, struct custom_kinds *kinds,
                            const struct catalog_version *v);
/* One kind for a Swagger document; see openapi_swagger_kind(). */
void openapi_custom_swagger(struct buf *paths, struct buf *definitions, struct custom_kinds *kinds,
                            const struct kind_resource *r);
