/* http1_write.h - replies as HTTP/1.1 bytes. Private to this folder. */
#pragma once

#include "net/http/exchange.h"

/* Makes the head, into the arena, and decides how the end of the body will be told. */
void http1_write_head(struct http_exchange *x, int status, const struct http_header *headers,
                      size_t n, int64_t length);
/* Moves up to `cap` bytes of the reply, as far as it is there. */
size_t http1_write_some(struct http_exchange *x, char *to, size_t cap);
/* True when all of it has been moved. */
bool http1_written(const struct http_exchange *x);
