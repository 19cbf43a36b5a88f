/* client_codec.h - objects on the wire: JSON, or protobuf for the kinds that the library knows.
 * Private to this folder. No I/O.
 *
 * A tree is the same whichever way it came. What has no protobuf form, or does not fit its kind
 * exactly, goes as JSON, so that the server sees it as the program has it. */
#pragma once

#include <sampan/client.h>

#include "api/kind.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

#define CODEC_JSON  STR("application/json")
#define CODEC_PROTO STR("application/vnd.kubernetes.protobuf")

enum codec_form { CODEC_WHOLE, CODEC_METADATA, CODEC_METADATA_LIST };

/* The type of objects at a place, if they have a protobuf form that is known here; else NULL. */
const struct kind_type *codec_type_at(const struct spn_target *at);
/* What to ask for. */
struct str codec_accept(enum codec_form form, bool may_be_proto);

/* Adds an object of type `t` as protobuf. False, and nothing is added: it is to go as JSON. */
bool codec_write_proto(struct buf *out, const struct kind_type *t, const struct value *obj);

/* Whatever came, which lies in the arena. ERR_BAD_REQUEST. */
int codec_read(struct arena *a, struct str bytes, struct value *ret, struct err *err);
/* An event of a watch in protobuf: its type, and its object, still coded. */
int codec_read_event(struct str bytes, struct str *ret_type, struct str *ret_object,
                     struct err *err);
