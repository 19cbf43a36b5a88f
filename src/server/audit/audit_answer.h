/* audit_answer.h - the object in the bytes of an answer, whatever their encoding. Pure. */
#pragma once

#include "base/buf.h"
#include "base/value.h"
#include "net/http/http.h"

struct audit_answer {
    struct value status; /* if the object is a Status; else null */
    struct buf object;   /* JSON without white space; empty: there is none, or nobody wants it */
    bool is_too_large;   /* there is one, of more than LIMIT_AUDIT_OBJECT_BYTES */
};

/* How an answer is written. */
struct audit_form {
    struct str type, encoding; /* Content-Type and Content-Encoding */
};
struct audit_form audit_form_of(const struct http_header *headers, size_t n);

/* Trees lie in the arena, and in `body`. Without `wants_object` only a Status is looked for. */
void audit_answer_read(struct arena *a, const struct audit_form *form, struct str body,
                       bool wants_object, bool omits_managers, struct audit_answer *ret);
void audit_answer_done(struct audit_answer *answer);

/* Takes metadata.managedFields out of an object, of the items of a list and of the rows of a
 * Table. */
void audit_answer_drop_managers(struct arena *a, struct value *obj);
