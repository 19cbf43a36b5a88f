/* patch.h - a PATCH: its options, its body, and what it makes of an object.
 *
 * A patch is applied to the object in the version of the request, and the result is read again as
 * its kind, so that whatever a patch does, what comes out is an object like any other. */
#pragma once

#include "api/typed.h"
#include "server/verbs/apply.h"
#include "server/registry/managers.h"

enum patch_kind { PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };

struct patch {
    struct call *call;
    enum patch_kind kind;
    const struct kind_type *type; /* of what is patched */
    struct write_options options;
    const struct managed_request *managers;
    struct value body;        /* of all kinds but PATCH_APPLY */
    struct typed_notes notes; /* of the patch itself, for fieldValidation */
    struct apply apply;
};

/* Which kind, by Content-Type; the options; the body. ERR_UNSUPPORTED_MEDIA_TYPE, ERR_INVALID,
 * ERR_BAD_REQUEST, ERR_TOO_LARGE. */
int patch_read(struct call *c, struct patch *ret, struct err *err);

/* `doc`, an object of the type with kind and apiVersion, patched: again as typed_read() leaves it.
 * The input is not changed. Only PATCH_APPLY sets the managers, and only it can do without an
 * object (NULL). */
int patch_object(struct patch *p, const struct value *doc, struct value *ret, struct err *err);
