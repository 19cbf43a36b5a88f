/* columns.h - what `kubectl get` prints: the cells of one row of a Table, by kind.
 *
 * Which columns a resource has is in its kind table; how a cell is made from an object is here, one
 * function a kind. A kind without its own rule has its name and creation time. Objects are trees as
 * typed_read() makes them, or custom ones; nothing in them is taken for granted. An object that is
 * stored in another version than the one asked for is best printed from the stored one, by the
 * resource of that version: upstream prints before it converts. Rules only: no I/O, and the time is
 * an argument. */
#pragma once

#include "api/go/gotime.h"
#include "api/kind.h"
#include "base/value.h"

/* The cells in the order of the columns, as an array. Text is borrowed from `obj` or lies in the
 * arena. `now_ns` is wall-clock time, for ages. `*work` grows by how many values were looked at for
 * the columns of a custom kind, which can be many more than it has; NULL: nobody counts. */
struct value columns_row(struct arena *a, const struct kind_resource *r, const struct value *obj,
                         int64_t now_ns, size_t *work);

/* How long before `now_ns` that was: "5m", "2d3h"; "<invalid>" if it is yet to come. */
struct str columns_ago(struct arena *a, struct gotime t, int64_t now_ns);

/* The conditions of that row: an array, or null for most. */
struct value columns_conditions(struct arena *a, const struct kind_resource *r,
                                const struct value *obj);

/* The columnDefinitions of a Table: name, type, format, description, priority. */
struct value columns_definitions(struct arena *a, const struct kind_resource *r);

/* Some kinds are printed otherwise in a list than alone: FlowSchemas by their precedence, and of
 * StorageClasses the one in force is marked. For these, columns_list() puts `objs` into the order
 * of the rows and makes the cells of each. Of all others a list is streamed, row by row. */
bool columns_need_whole_list(const struct kind_resource *r);
void columns_list(struct arena *a, const struct kind_resource *r, const struct value **objs,
                  size_t n, int64_t now_ns, struct value *ret_cells);

/* Stands for the `scale` subresource of any resource. Only the columns and the names are filled. */
extern const struct kind_resource columns_scale;
