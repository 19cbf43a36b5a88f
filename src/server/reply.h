/* reply.h - the small replies that handlers share: text, JSON, and an error as a Status. */
#pragma once

#include "base/buf.h"
#include "net/http.h"

void reply_text(struct http_exchange *x, int status, struct str text);
/* `text` is complete JSON in the exchange's arena. */
void reply_json(struct http_exchange *x, int status, struct str text);
/* The error as `kind: Status` with its HTTP code, reason, message and causes. */
void reply_error(struct http_exchange *x, const struct err *err);
void reply_refusal(struct http_exchange *x, enum err_code code, const char *words);
void reply_method_not_allowed(struct http_exchange *x);

/* The JSON of that Status, added to `out`. */
void reply_status_json(struct buf *out, const struct err *err);
