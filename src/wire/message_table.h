/* message_table.h - how messages are described; private to this folder and to what tools/wiregen
 * makes. */
#pragma once

#include "base/str.h"

enum message_scalar {
    MESSAGE_DOUBLE,
    MESSAGE_FLOAT,
    MESSAGE_INT32,
    MESSAGE_INT64,
    MESSAGE_UINT32,
    MESSAGE_UINT64,
    MESSAGE_BOOL,
    MESSAGE_STRING,
    MESSAGE_BYTES,
    MESSAGE_ENUM,
    MESSAGE_MESSAGE,
};

/* What the tree of a message looks like. */
enum message_form {
    MESSAGE_PLAIN,    /* an object of its fields */
    MESSAGE_ANY,      /* the object inside, with its type */
    MESSAGE_DURATION, /* text */
    MESSAGE_WRAPPER,  /* the value of its field */
    MESSAGE_STRUCT,   /* a JSON object */
    MESSAGE_LIST,     /* a JSON array */
    MESSAGE_VALUE,    /* any JSON */
};

enum { MESSAGE_FIELDS_MAX = 96, MESSAGE_DEPTH_MAX = 64 };

struct message_enum_value {
    struct str name;
    int32_t number;
};

struct message_enum {
    const struct message_enum_value *values;
    size_t n_values;
};

struct message_field {
    struct str name;
    uint32_t number;
    uint8_t scalar; /* of an item, of a value in a map */
    bool is_list, is_map;
    bool is_explicit;                 /* of a oneof: written even if it is zero */
    const struct message_type *type;  /* of MESSAGE_MESSAGE */
    const struct message_enum *names; /* of MESSAGE_ENUM */
};

struct message_type {
    struct str name;
    uint8_t form;
    const struct message_field *fields; /* in the order of their numbers */
    size_t n_fields;
};

extern const struct message_type message_types[]; /* in the order of their names */
extern const size_t n_message_types;
