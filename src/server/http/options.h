/* options.h - the parameters of a write: CreateOptions, UpdateOptions, DeleteOptions. */
#pragma once

#include "server/http/call.h"
#include "server/http/decode.h"

struct write_options {
    bool dry_run;
    enum decode_validation validation;
    struct str manager; /* fieldManager; may be empty */
    bool force;         /* of server-side apply: take what others own */
};

/* `kind` is "CreateOptions" or "UpdateOptions". ERR_INVALID in upstream's words. */
int options_read(struct call *c, const char *kind, struct write_options *ret, struct err *err);

/* PatchOptions, of which server-side apply has its own rules. */
int options_read_patch(struct call *c, bool is_apply, struct write_options *ret, struct err *err);

enum options_propagation {
    OPTIONS_DEFAULT,
    OPTIONS_ORPHAN,
    OPTIONS_BACKGROUND,
    OPTIONS_FOREGROUND,
};

struct delete_options {
    bool dry_run;
    int64_t grace;            /* -1: not said */
    bool grace_given;         /* a negative one was said too */
    struct str uid, revision; /* preconditions; a NULL pointer: none */
    enum options_propagation propagation;
    bool ignore_read_error;
    const struct value *sent; /* all that was said; NULL: nothing */
};

/* From the body, or else from the parameters, as upstream reads them. */
int options_read_delete(struct call *c, struct delete_options *ret, struct err *err);
/* As those see it who are asked about a write: a CreateOptions or UpdateOptions, also of a PATCH.
 */
struct value options_tell(struct call *c, const char *kind);
/* The same of a DELETE. */
struct value options_tell_delete(struct call *c, const struct delete_options *o);

/* From a DeleteOptions object; NULL is one that says nothing. */
int options_delete_of(struct call *c, const struct value *options, struct delete_options *ret,
                      struct err *err);
