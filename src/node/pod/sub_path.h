/* sub_path.h - parts of volumes, reached without ever leaving the volume.
 *
 * Containers may change links while we look. So a path is first resolved, must then lie in the
 * volume, and is opened from the volume's folder without following any link; what is opened is
 * bound to a place that no container can reach, and that place is what a container gets. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* A descriptor (O_PATH) of what `path` names inside `folder`; links may lead elsewhere in it. -1
 * with errno: it is not there, or outside. */
int sub_path_open(struct arena *a, struct str folder, struct str path);
/* The same, readable, where links are resolved as if `folder` were the root. */
int sub_path_open_inside(struct arena *a, struct str folder, struct str path);
/* All of it; -1: it is larger than `max`, or cannot be read. */
int sub_path_read(int fd, size_t max, struct buf *ret);

bool sub_path_exists(struct arena *a, struct str folder, struct str path);
/* Makes folders down to `path`, with the mode of `folder`. -1 with errno. */
int sub_path_make(struct arena *a, struct str folder, struct str path);
/* Binds what `path` names to `target`, which is made as needed. -1 with errno. */
int sub_path_bind(struct arena *a, struct str folder, struct str path, struct str target);
