/* expand.h - $(NAME) in commands, arguments and values of variables. `$$` is a `$` that begins
 * nothing. Rules only: no I/O. */
#pragma once

#include "base/arena.h"

/* The text that a name stands for; false leaves the reference as it is. */
typedef bool expand_lookup(void *arg, struct str name, struct str *ret);

/* In the arena, or the text itself. */
struct str expand(struct arena *a, struct str text, expand_lookup *lookup, void *arg);
