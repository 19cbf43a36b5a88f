/* write_c.h - a model as C: gen_FILE.h and gen_FILE.c.
 *
 * The output reads as if somebody had written it: inner structs first, comments from the schema,
 * lines of at most 100 columns where names allow it. The same model gives the same bytes. */
#pragma once

#include "base/buf.h"
#include "generate/model.h"

void write_header(struct buf *out, struct model *m);
void write_source(struct buf *out, struct model *m);

/* ---- Between the two ---- */

enum { WRITE_COLUMNS = 100 };

/* "HEAD(ARG, ARG)TAIL" and a new line. Further lines begin below the first argument, or, if there
 * is no room, all of them a little to the right of the head. */
void write_call(struct buf *out, const char *head, const struct str *args, size_t n,
                const char *tail);
void write_literal(struct buf *out, struct str text); /* quoted and escaped */

/* What a container of lists or maps is called: "network_spec_matrix" in network_spec. */
struct str write_nested_base(struct model *m, const struct model_type *t,
                             const struct model_field *f);

/* The functions of one kind: how they are declared, or whole. */
void write_functions(struct buf *out, struct model *m, const struct model_kind *k, bool with_body);
