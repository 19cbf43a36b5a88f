/* apply.h - server-side apply: the configuration that a PATCH brings, and what it makes of an
 * object. The rules are in merge/managed.h; here is the reading before and after, in upstream's
 * order and words. */
#pragma once

#include "merge/managed.h"
#include "server/http/decode.h"

enum { APPLY_NOTES_MAX = 100 };

struct apply {
    struct call *call;
    const struct managed_request *managers;
    enum decode_validation validation;
    bool force;
    struct value config;             /* as sent; of duplicate fields the last */
    struct str unread;               /* why the body is no configuration; empty: it is one */
    struct str odd[APPLY_NOTES_MAX]; /* duplicate fields */
    size_t n_odd;
};

/* `config`, `unread` and `odd`. YAML, of which JSON is a part; of several documents the first
 * counts. ERR_BAD_REQUEST. */
int apply_read(struct apply *ap, struct err *err);

/* The object that the configuration makes of `live` (NULL: of nothing), with its managers, as
 * typed_read() and defaults_apply() leave it. ERR_CONFLICT with a cause for each field;
 * ERR_BAD_REQUEST, ERR_UNKNOWN. */
int apply_object(struct apply *ap, const struct kind_type *type, const struct value *live,
                 struct value *ret, struct err *err);
