/* tree.h - value trees from templates that read like the JSON of Envoy.
 *
 *     struct value v = tree(a, "{name: %s, address: {socket_address: {address: %s, port_value:
 * %d}}}", name, host, port);
 *
 * Names need no quotes, texts stand in single ones. Holes: %s a struct str, %t a const char *, %d
 * an int, %b a bool, %v a struct value, which moves into the tree. A field or item whose hole is
 * null (a str without a pointer, a NULL text, VALUE_NULL) is left out. Templates are ours: one that
 * cannot be read is a mistake of the program. */
#pragma once

#include "base/value.h"

struct value tree(struct arena *a, const char *template, ...);

/* {"@type": "type.googleapis.com/TYPE", fields...}: `fields` is an object and moves. */
struct value tree_any(struct arena *a, const char *type, struct value fields);
/* {name: NAME, typed_config: any} */
struct value tree_extension(struct arena *a, const char *name, const char *type,
                            struct value fields);

/* A copy of the value for another place, or null if it is absent. */
struct value tree_copy(const struct value *v);
/* Appends all items of an array (or none). */
void tree_append(struct arena *a, struct value *arr, const struct value *items);
/* value_put() unless it is null. */
void tree_put(struct arena *a, struct value *obj, const char *key, struct value v);
/* Whether an array, object or text has something in it. */
bool tree_has(const struct value *v);

/* A duration as Go writes it ("1h", "1m30s", "300ms"), in seconds, and as proto3 does ("90s"). */
double tree_seconds(struct str s);
struct value tree_duration(struct arena *a, const struct value *v); /* null: absent */
