/* mount_point.h - where something is mounted. */
#pragma once

#include "base/err.h"

/* Whether something is mounted there, binds of the same file system included. */
bool mount_point_is(const char *path);
/* Makes all folders above `path`. -1 with errno. */
int mount_point_parents(struct arena *a, struct str path, unsigned mode);
/* Makes the folder and all above it. -1 with errno: ENOTDIR if something else is in the way. */
int mount_point_folders(struct arena *a, struct str path, unsigned mode);
/* The same; `ret_at` is the one that cannot be made. */
int mount_point_folders_at(struct arena *a, struct str path, unsigned mode, struct str *ret_at);
void mount_point_fd_path(int fd, char ret[64]); /* "/proc/self/fd/N" */

/* All mount points below a folder, itself excluded, the deepest first. */
int mount_point_below(struct arena *a, struct str folder, struct str **ret, size_t *ret_n,
                      struct err *err);
