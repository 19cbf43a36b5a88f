/* list_writer.h - a list as bytes, object by object, in every encoding.
 *
 * A list is a head, its items and a tail. Encodings differ in what the head must know: JSON and a
 * Table say at once where the next page begins, CBOR how many items there are, protobuf how many
 * bytes. YAML, CBOR and the first form of PartialObjectMetadataList in protobuf have the list's
 * metadata behind the items. No I/O; everything is added to the caller's buffer. */
#pragma once

#include "server/http/selection.h"

struct list_meta {
    uint64_t rev;
    struct str token; /* empty: nothing is left */
    bool has_remaining;
    uint64_t remaining;
    /* All items of the answer; `bytes` as list_writer_item() made them. */
    uint64_t n_items, bytes;
};

enum list_writer_need {
    LIST_WRITER_TOKEN = 1 << 0, /* token and remaining */
    LIST_WRITER_COUNT = 1 << 1, /* n_items */
    LIST_WRITER_BYTES = 1 << 2, /* bytes */
};
/* What the head must know besides the revision; any head must know whether there are no items. */
unsigned list_writer_needs(const struct format *f);

void list_writer_head(struct buf *out, struct arena *a, const struct encoder *e,
                      const struct list_meta *meta);
/* One object; the first has no separator in front. ERR_DAMAGED. Edits the subject's tree. */
int list_writer_item(struct buf *out, const struct encoder *e, struct selection_subject *subject,
                     bool is_first, struct err *err);
/* The rows of a Table that is printed as a whole; puts `objs`, which are of the stored version,
 * into their order. */
int list_writer_rows(struct buf *out, struct arena *a, const struct encoder *e,
                     const struct value **objs, size_t n, struct err *err);
void list_writer_tail(struct buf *out, struct arena *a, const struct encoder *e,
                      const struct list_meta *meta);
