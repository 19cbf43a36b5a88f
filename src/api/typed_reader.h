/* typed_reader.h - what the parts of typed_read() share: where the reading stands, what it has to
 * say, and the leaves. Private to typed*.c.
 *
 * Go's decoder knows two kinds of failure. A value of the wrong type is saved (the first one) and
 * decoding goes on; a type with a decoder of its own (a time, a quantity) ends it at once, and then
 * its complaint is the one that counts. */
#pragma once

#include "api/typed.h"

enum typed_step { TYPED_FIELD, TYPED_KEY, TYPED_ITEM };

/* One step of the path, on the stack of whoever takes it. */
struct typed_frame {
    const struct typed_frame *up;
    enum typed_step step;
    struct str name;               /* of a field or a key */
    size_t index;                  /* of an item */
    const struct kind_type *owner; /* of a field */
};

/* What a struct was read as, for those that are the same again: empty ones, and what an edit or an
 * alias has put into many places. They share one result. */
enum { TYPED_MEMOS = 8 };
struct typed_memo {
    const struct kind_type *type;
    const struct value_field *fields; /* NULL: of an empty one */
    uint32_t n;
    bool is_map;
    size_t height; /* structs inside it, and itself: it may be deeper the next time */
    struct value read;
};

struct typed_reader {
    struct arena *arena;
    struct err *err;
    struct typed_notes *notes;
    const struct typed_frame *top;
    /* Set inside a type whose decoder starts another one: that one notes nothing, and its
     * mismatches are reported as of this place. */
    const struct typed_frame *opaque;
    struct str saved;      /* the first mismatch */
    size_t depth, deepest; /* where it is, and has been in the struct that is being read */
    bool keeps_empty;      /* lists and maps that are empty stay apart from none */
    bool has_empty;        /* and there was one */
    bool is_map;           /* what is read was made by the server: typed_map.c */
    struct typed_memo memos[TYPED_MEMOS];
};

/* `unknown field "path.key"` or `duplicate field ...`, once each. */
void typed__note(struct typed_reader *r, const char *what, struct str key);

/* Saves that `in` does not fit into `go_type`; `with_number`: the message quotes a number. */
void typed__mismatch(struct typed_reader *r, const struct value *in, struct str go_type,
                     bool with_number);
/* The same where it ends the reading. */
int typed__fatal_mismatch(struct typed_reader *r, const struct value *in, struct str go_type,
                          bool with_number);

/* As Go prints the type of a field, of its elements, and of a struct: "[]v1.Container". */
struct str typed__go_type(struct arena *a, const struct kind_field *f);
struct str typed__go_element(struct arena *a, const struct kind_field *f);
struct str typed__go_struct(struct arena *a, const struct kind_type *t);

/* One value that is not a struct. Absent (NULL) and null give the zero value. */
int typed__scalar(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                  struct value *ret);
/* The same of what was made by the server. */
int typed__map_scalar(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                      struct value *ret);
/* `in` is no "map", "slice" or "struct". */
int typed__map_mismatch(struct typed_reader *r, const struct value *in, const char *wanted);
