/* atomic_writer.h - files that change all at once, while containers read them.
 *
 * Files lie in a folder with a name of its own; `..data` is a link to it, and each file's name at
 * the top is a link through `..data`. A change makes a new folder and renames a new link over
 * `..data`. Nothing is written where nothing has changed. */
#pragma once

#include "node/volume/payload.h"

/* Writes the files into `folder`, which is there. `group` < 0: none; else all belongs to it. */
int atomic_write(struct arena *a, struct str folder, const struct payload *p, int64_t group,
                 struct err *err);
