/* openapi.h - the kind tables as OpenAPI documents: 3.0 for one group and version, 2.0 for all.
 *
 * Pure: tables in, text out, any thread. Schemas, operations and their names are those of
 * Kubernetes, so that kubectl explain, client-side validation and generators find what they know.
 * Descriptions are our own and few. A document holds just the schemas that its paths lead to. */
#pragma once

#include "api/kind.h"
#include "base/buf.h"

/* The document of one served group and version. */
void openapi_version(struct buf *out, const struct kind_version *v);
/* The small ones of /api/ (core) and /apis/, and that of /apis/GROUP/. */
void openapi_roots(struct buf *out, bool core);
void openapi_group(struct buf *out, struct str group);
/* All versions of the choice in one, as Swagger 2.0. */
void openapi_swagger(struct buf *out, enum kind_choice choice);
/* The same as protobuf, which kubectl asks for where it does not use version 3. */
void openapi_swagger_proto(struct buf *out, enum kind_choice choice);
