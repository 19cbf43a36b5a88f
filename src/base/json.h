/* json.h - JSON text to value tree and back (RFC 8259), strict and exact.
 *
 * Reading: UTF-8 only and checked; one document, nothing after it but white space; depth and size
 * are bounded; control characters and trailing commas are refused; an escaped surrogate without its
 * other half becomes U+FFFD, as in Go. Strings without escapes point into the input, so the input
 * must live as long as the tree. Duplicate keys are kept in order (value_get finds the first); what
 * they mean is for the caller, who can ask for the path of the first one.
 *
 * Writing is canonical for a tree: no white space (or two-space indent), fields in tree order,
 * numbers as they were read. Strings are escaped as Go's encoder does it without HTML escaping:
 * \" \\ \b \f \n \r \t, \u00XX for other control characters, \u2028 and \u2029, and \ufffd for a
 * byte that is not UTF-8. No I/O. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

struct json_options {
    size_t max_depth;          /* 0: LIMIT_JSON_DEPTH */
    struct str *ret_duplicate; /* if set: path of the first duplicate key, or empty; in the arena */
};

/* ERR_BAD_REQUEST names what was wrong and at which byte. `opt` may be NULL. */
int json_read(struct arena *a, struct str text, const struct json_options *opt, struct value *ret,
              struct err *err);

void json_write(struct buf *out, const struct value *v);
void json_write_pretty(struct buf *out, const struct value *v); /* two spaces, no final newline */
void json_write_string(struct buf *out, struct str s);          /* quoted and escaped */
void json_write_int(struct buf *out, int64_t i);

/* How many bytes json_write would add; lets a caller reserve once. */
size_t json_length(const struct value *v);
