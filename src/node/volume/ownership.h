/* ownership.h - files of a volume that a pod's group is to reach (fsGroup). */
#pragma once

#include "base/str.h"

/* Gives all below `path`, and itself, to the group: it may read, and write unless `is_read_only`.
 * Follows no link and never leaves the file system. `only_if_root_differs`: not if the top is right
 * already. -1 with errno. */
int ownership_set(const char *path, int64_t group, bool is_read_only, bool only_if_root_differs);
