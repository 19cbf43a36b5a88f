/* patch.h - the body of a PATCH, and what it makes of an object.
 *
 * A patch is applied to the object in the version of the request, and the result is read again as
 * its kind, so that whatever a patch does, what comes out is an object like any other. */
#pragma once

#include "api/typed.h"
#include "server/decode.h"

enum patch_kind { PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };

struct patch {
    struct call *call;
    enum patch_kind kind;
    enum decode_validation validation;
    struct value body;
    struct typed_notes notes; /* of the patch itself, for fieldValidation */
};

/* Which kind, by Content-Type, and the body. ERR_UNSUPPORTED_MEDIA_TYPE, ERR_BAD_REQUEST,
 * ERR_TOO_LARGE. Of PATCH_APPLY the body is not read yet. */
int patch_read(struct call *c, enum decode_validation validation, struct patch *ret,
               struct err *err);

/* `doc`, an object of type `type` with kind and apiVersion, patched: again as typed_read() leaves
 * it. The input is not changed. */
int patch_object(struct patch *p, const struct kind_type *type, const struct value *doc,
                 struct value *ret, struct err *err);
