/* grpc_wire.h - the texts of gRPC's headers and trailers. Pure; shared by both sides in here. */
#pragma once

#include "net/grpc/grpc.h"

/* grpc-message: percent-encoding of everything that is not printable ASCII. Decoding is lenient:
 * what is no escape stays as it is. */
void grpc_message_encode(struct buf *out, struct str message);
void grpc_message_decode(struct buf *out, struct str text);

/* grpc-timeout: up to eight digits and one of "HMSmun". */
bool grpc_timeout_parse(struct str text, int64_t *ret_ns);
struct str grpc_timeout_format(struct arena *a, int64_t timeout_ms);

/* "application/grpc" or "application/grpc+proto", perhaps with parameters. */
bool grpc_content_type(struct str value);

/* What a reply that is not gRPC at all means. */
enum grpc_status grpc_status_of_http(int http_status);
/* GRPC_UNKNOWN for anything that is not a known number. */
enum grpc_status grpc_status_parse(struct str text);
struct str grpc_status_name(enum grpc_status status); /* "NOT_FOUND" */
enum err_code grpc_status_err(enum grpc_status status);
