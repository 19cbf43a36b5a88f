/* message.h - protobuf messages of other systems (CRI, xDS), as value trees, by tables.
 *
 * wire/NAME.messages lists messages, their fields and numbers; tools/wiregen makes the tables. A
 * tree looks like the JSON form of proto3, with the names of the .proto file (snake_case):
 *
 *     message            object             enum            text, the name; a number if it has none
 *     int32 ... uint64   number             bool, string    likewise
 *     bytes              text as it is, which need not be UTF-8: not for JSON
 *     X[]                array              map X           object with text keys
 *     Duration           text: "1.5s"       BoolValue, ...  the value itself
 *     Struct, Value      any JSON
 *     Any                the object with "@type": "type.googleapis.com/NAME" among its fields
 *
 * Fields are written in the order of their numbers, and zero values are left out, unless they
 * belong to a oneof or a wrapper, so the same tree always gives the same bytes. What is not there
 * when a message is read is not in the tree either. Rules only: no I/O. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

struct message_type; /* a table */

/* By full name: "runtime.v1.VersionRequest", "envoy.config.cluster.v3.Cluster". NULL: unknown. */
const struct message_type *message_find(struct str full_name);
struct str message_name(const struct message_type *m);

/* Appends the message. The names of fields may also be in camelCase, as JSON of others has them.
 * ERR_INVALID names the path of a field that the message does not have, or whose value has another
 * type; `out` is as it was then. Null is absent. */
int message_write(struct buf *out, const struct message_type *m, const struct value *v,
                  struct err *err);

/* Texts are borrowed from `bytes`. Unknown fields are skipped; an Any of an unknown type keeps
 * "@type" alone. ERR_BAD_REQUEST: the bytes are no such message, or nest too deep. */
int message_read(struct arena *a, const struct message_type *m, struct str bytes, struct value *ret,
                 struct err *err);
