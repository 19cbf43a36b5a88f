/* openapi_internal.h - one document in the making, shared by the openapi files. */
#pragma once

#include "api/kind.h"
#include "api/openapi/openapi.h"

enum openapi_state { OPENAPI_UNUSED, OPENAPI_WANTED, OPENAPI_WRITTEN };

struct openapi {
    struct buf *out;
    bool swagger;                        /* 2.0: the same things in other places */
    const struct kind_version *version;  /* whose document it is; NULL: of several */
    enum kind_choice choice;             /* which ones then */
    uint8_t *types;                      /* enum openapi_state, in the order of kind_types */
    unsigned scalars;                    /* 1 << enum kind_scalar: those that need a schema */
    const struct openapi_custom *custom; /* NULL: there are no custom kinds */
};

/* A list or an object is being written: a comma before all but its first member. */
static inline void openapi_comma(struct buf *out)
{
    char last = out->p[out->n - 1];
    if (last != '{' && last != '[')
        buf_byte(out, ',');
}

/* {"$ref":...} to the type's schema, which is thereby asked for. */
void openapi_ref(struct openapi *o, const struct kind_type *t);
const struct kind_type *openapi_meta_type(struct str name);
/* The group as it is in an object's apiVersion: that of the meta types is the core one. */
struct str openapi_group_of(const struct kind_type *t);
/* {"group":...,"kind":...,"version":...} */
void openapi_add_gvk(struct buf *out, struct str group, struct str version, struct str kind);
/* "string", "integer", ... of a scalar that has no schema of its own. */
const char *openapi_type_name(enum kind_scalar scalar);
/* Members "name":{schema} of all that were asked for, and of what those lead to. */
void openapi_add_schemas(struct openapi *o);

/* The same of the custom kinds of a version; before the others, which they refer to. */
void openapi_add_custom_schemas(struct openapi *o, const struct kind_version *v);

/* Members "path":{operations}. */
void openapi_add_paths(struct openapi *o, const struct kind_version *v);
/* Those of its resources alone. */
void openapi_add_resource_paths(struct openapi *o, const struct kind_version *v);
/* One path that answers with a document of discovery: "/apis/apps/", "getAppsAPIGroup". */
void openapi_add_discovery_path(struct openapi *o, struct str path, struct str id, struct str tag,
                                const char *type);
/* "rbac.authorization.k8s.io" as in operation ids, "RbacAuthorization", and, without `upper`, as
 * in tags. */
void openapi_add_group_name(struct buf *out, struct str group, bool upper);

/* What the field of that type is for, in a sentence; empty if nobody has written one. */
struct str openapi_help(const struct kind_type *t, struct str field);
