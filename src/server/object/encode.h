/* encode.h - objects as bytes, in every form that a client can ask for.
 *
 * Where the stored bytes already are the answer (JSON in the storage version, whole or metadata
 * alone) they are spliced and nothing is parsed. */
#pragma once

#include "api/kind.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"
#include "server/object/format.h"
#include "store/store.h"

/* Which rows of a Table carry what of their object (includeObject=). */
enum encode_include { ENCODE_META, ENCODE_NONE, ENCODE_OBJECT };

struct encoder {
    struct format format;
    const struct kind_resource *resource; /* in the version that was asked for */
    const struct kind_resource *stored;   /* and as it is stored */
    enum encode_include include;
    int64_t now_ns; /* wall clock: ages in tables */
    size_t *work;   /* as columns_row() counts it */
};

/* Any object of a known type, in the encoder's media type but never as anything else than itself:
 * lists, Status, Scale. Ends with a newline in JSON. */
void encode_tree(struct buf *out, struct arena *a, const struct format *f,
                 const struct kind_type *type, const struct value *obj);

/* The answer about one stored object, or about its tree: in the version and form asked for, a Table
 * with one row included. */
int encode_entry(struct buf *out, struct arena *a, const struct encoder *e,
                 const struct store_entry *entry, struct err *err);
int encode_object(struct buf *out, struct arena *a, const struct encoder *e,
                  const struct value *obj, struct err *err);

/* Whether it can be answered from the bytes that are stored: nothing is parsed, whatever its size.
 */
bool encode_splices(const struct encoder *e, const struct store_entry *entry);

/* The tree of a stored object in the version that was asked for; what field selectors see. */
int encode_read(struct arena *a, const struct encoder *e, const struct store_entry *entry,
                struct value *ret, struct err *err);

/* Upstream's name for the package that has a group's types: "core" for "", "apps" for "apps". */
struct str encode_package(struct str group);

/* Without metadata.managedFields, if they are hidden. */
void encode_hide(struct arena *a, const struct encoder *e, struct value *obj);

/* The object as PartialObjectMetadata. */
struct value encode_partial(struct arena *a, const struct encoder *e, const struct value *obj);

/* Parts of Tables, for lists and watches. A row is {"cells", "object"}. Upstream prints objects
 * before it converts them, so `obj` and the cells are those of the stored version. */
int encode_row(struct arena *a, const struct encoder *e, const struct value *obj, struct value *ret,
               struct err *err);
/* The same with cells that were made before. */
int encode_row_of(struct arena *a, const struct encoder *e, const struct value *obj,
                  struct value cells, struct value *ret, struct err *err);
struct value encode_table_head(struct arena *a, const struct encoder *e); /* kind, apiVersion */
/* A Table of that one row. Watches name the columns just once. */
int encode_table_of(struct arena *a, const struct encoder *e, const struct value *obj, bool columns,
                    struct value *ret, struct err *err);

/* `includeObject=`; ERR_BAD_REQUEST for anything but None, Metadata, Object and nothing. */
int encode_include_parse(struct str text, enum encode_include *ret, struct err *err);
