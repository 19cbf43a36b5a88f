/* reply.h - the small replies that handlers share: text, JSON, and an error as a Status. Each ends
 * the exchange; they work on its loop and on a worker that has it. */
#pragma once

#include "base/buf.h"
#include "base/value.h"
#include "net/http/http.h"

/* Bytes in the exchange's arena, or static. */
void reply_bytes(struct http_exchange *x, int status, const struct http_header *headers,
                 size_t n_headers, struct str bytes);
/* The buffer's bytes, which are handed over: it is left empty. */
void reply_buffer(struct http_exchange *x, int status, const struct http_header *headers,
                  size_t n_headers, struct buf *bytes);
void reply_text(struct http_exchange *x, int status, struct str text);
/* `text` is complete JSON in the exchange's arena. */
void reply_json(struct http_exchange *x, int status, struct str text);
/* The error as `kind: Status` with its HTTP code, reason, message and causes, in the encoding that
 * Accept allows. */
void reply_error(struct http_exchange *x, const struct err *err);
void reply_refusal(struct http_exchange *x, enum err_code code, const char *words);
void reply_method_not_allowed(struct http_exchange *x);

/* That Status as a tree. Of what went wrong with the disk it says little; the log has the rest. */
struct value reply_status(struct arena *a, const struct err *err);
/* The HTTP status of it. */
int reply_code(const struct err *err);
