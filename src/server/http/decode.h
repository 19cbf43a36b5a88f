/* decode.h - the body of a request, read as an object of the type that its path names.
 *
 * Encoding by Content-Type; kind and apiVersion must fit the path where they are given; unknown
 * and duplicate fields are ignored, warned about or refused as fieldValidation says. Every refusal
 * is in upstream's words. */
#pragma once

#include "server/http/call.h"

enum decode_validation { DECODE_IGNORE, DECODE_WARN, DECODE_STRICT };

/* An object of type `type`, as typed_read() leaves it, with kind and apiVersion. Warnings go to the
 * call. ERR_UNSUPPORTED_MEDIA_TYPE, ERR_BAD_REQUEST. */
int decode_body(struct call *c, const struct kind_type *type, enum decode_validation validation,
                struct value *ret, struct err *err);

/* DeleteOptions, in whichever group and version: every one has them. */
int decode_delete_options(struct call *c, struct value *ret, struct err *err);
/* An empty list of managers ends the tracking and is not the same as none, but typed_read() drops
 * it: if `raw` has one, `obj` gets it back. */
void decode_keep_reset(struct arena *a, const struct value *raw, struct value *obj);
