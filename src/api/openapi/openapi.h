/* openapi.h - the kind tables as OpenAPI documents: 3.0 for one group and version, 2.0 for all.
 *
 * Pure: tables in, text out, any thread. Schemas, operations and their names are those of
 * Kubernetes, so that kubectl explain, client-side validation and generators find what they know.
 * Descriptions are our own and few. A document holds just the schemas that its paths lead to. */
#pragma once

#include "api/kind.h"
#include "base/buf.h"

/* Custom kinds have no tables: their schemas come from elsewhere. `version` is of OpenAPI. */
struct openapi_custom {
    /* The JSON of the schema of `t`, an object without $ref but those of openapi_meta_ref(). */
    void (*schema)(const struct openapi_custom *c, struct buf *out, const struct kind_type *t,
                   bool swagger);
    /* By which fields objects of `t` can be selected: members of a schema, each with a comma in
     * front, or nothing. */
    void (*selectable)(const struct openapi_custom *c, struct buf *out, const struct kind_type *t);
};
/* What apiVersion, kind, metadata, spec, status and items are, in every kind; else empty. */
struct str openapi_common_help(struct str field);
/* "#/components/schemas/..." or "#/definitions/..." of a type of meta/v1, which every document with
 * custom kinds has. */
void openapi_meta_ref(struct buf *out, struct str name, bool swagger);

/* The document of one served group and version. `custom` is NULL where it has no custom kinds. */
void openapi_version(struct buf *out, const struct kind_version *v,
                     const struct openapi_custom *custom);
/* One custom kind as part of a Swagger document: members of "paths", then of "definitions", each
 * with a comma in front. Either may be NULL. */
void openapi_swagger_kind(struct buf *paths, struct buf *definitions, const struct kind_resource *r,
                          const struct openapi_custom *custom);
/* The small ones of /api/ (core) and /apis/, and that of /apis/GROUP/. */
void openapi_roots(struct buf *out, bool core);
void openapi_group(struct buf *out, struct str group);
/* All versions of the choice in one, as Swagger 2.0. Further members of "paths" and "definitions"
 * may be put in where these end, if anybody asks where that is. */
struct openapi_ends {
    size_t paths, definitions;
};
void openapi_swagger(struct buf *out, enum kind_choice choice, struct openapi_ends *ret_ends);
/* The same as protobuf, which kubectl asks for where it does not use version 3. Messages that
 * follow each other are as good as one. */
void openapi_swagger_proto(struct buf *out, struct str swagger);
