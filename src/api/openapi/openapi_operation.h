/* openapi_operation.h - one operation of a path: what it takes, what it answers. Private to the
 * openapi files. */
#pragma once

#include "api/openapi/openapi_internal.h"

enum parameter {
    PARAM_BOOKMARKS = 1 << 0,
    PARAM_CONTINUE = 1 << 1,
    PARAM_DRY_RUN = 1 << 2,
    PARAM_MANAGER = 1 << 3,
    PARAM_FIELDS = 1 << 4,
    PARAM_VALIDATION = 1 << 5,
    PARAM_FORCE = 1 << 6,
    PARAM_GRACE = 1 << 7,
    PARAM_IGNORE_READ_ERROR = 1 << 8,
    PARAM_LABELS = 1 << 9,
    PARAM_LIMIT = 1 << 10,
    PARAM_ORPHAN = 1 << 11,
    PARAM_PRETTY = 1 << 12,
    PARAM_PROPAGATION = 1 << 13,
    PARAM_REVISION = 1 << 14,
    PARAM_REVISION_MATCH = 1 << 15,
    PARAM_INITIAL_EVENTS = 1 << 16,
    PARAM_SHARD = 1 << 17,
    PARAM_TIMEOUT = 1 << 18,
    PARAM_WATCH = 1 << 19,

    PARAMS_PAGE = PARAM_CONTINUE | PARAM_FIELDS | PARAM_LABELS | PARAM_LIMIT | PARAM_REVISION |
                  PARAM_REVISION_MATCH | PARAM_INITIAL_EVENTS | PARAM_SHARD | PARAM_TIMEOUT,
    PARAMS_LIST = PARAMS_PAGE | PARAM_BOOKMARKS | PARAM_WATCH,
    PARAMS_WRITE = PARAM_DRY_RUN | PARAM_MANAGER | PARAM_VALIDATION,
    PARAMS_PATCH = PARAMS_WRITE | PARAM_FORCE,
    PARAMS_DELETE =
        PARAM_DRY_RUN | PARAM_GRACE | PARAM_IGNORE_READ_ERROR | PARAM_ORPHAN | PARAM_PROPAGATION,
};

enum body { BODY_NONE, BODY_OPTIONAL, BODY_NEEDED, BODY_PATCH };
enum produced { PRODUCES_OBJECT, PRODUCES_STREAM, PRODUCES_LOG, PRODUCES_ANYTHING };

struct openapi_operation {
    const char *method, *action; /* action NULL: not one on a kind */
    struct str id, tag;
    unsigned parameters;
    enum body body;
    const struct kind_type *body_type;
    enum produced produced;
    const struct kind_type *reply; /* NULL: text */
    bool created, accepted;        /* 201 and 202 beside 200 */
    const struct kind_type *gvk;
};

void openapi_add_operation(struct openapi *o, const struct openapi_operation *op);

/* Members of a list of parameters: one, some of enum parameter, the fields of an options type. */
void openapi_add_parameter(struct openapi *o, const char *in, struct str name, const char *type);
void openapi_add_parameters(struct openapi *o, unsigned which);
void openapi_add_options(struct openapi *o, const struct kind_type *options);
