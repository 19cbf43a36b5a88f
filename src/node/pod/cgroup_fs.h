/* cgroup_fs.h - folders and files of control groups, in both versions.
 *
 * A group has a name that starts with "/". In the second version it is one folder, in the first one
 * in each hierarchy that is mounted. */
#pragma once

#include "base/err.h"

struct cgroup_fs; /* where hierarchies are mounted; lies in an arena */

int cgroup_fs_find(struct arena *a, bool is_v2, struct cgroup_fs **ret, struct err *err);

/* Makes it and all above it, in every hierarchy. */
int cgroup_fs_make(struct cgroup_fs *fs, struct arena *a, struct str name, struct err *err);
bool cgroup_fs_exists(const struct cgroup_fs *fs, struct arena *a, struct str name);
/* Writes a file of the group. What the kernel does not have is passed over: 0. `controller` names
 * the hierarchy in the first version. */
int cgroup_fs_write(const struct cgroup_fs *fs, struct arena *a, struct str name,
                    const char *controller, const char *file, struct str value, struct err *err);
/* Ends all processes in it and below it, and removes it. 0 also if there is none. */
int cgroup_fs_remove(struct cgroup_fs *fs, struct arena *a, struct str name, struct err *err);
/* The names of the groups right below it. */
int cgroup_fs_list(const struct cgroup_fs *fs, struct arena *a, struct str name, struct str **ret,
                   size_t *ret_n, struct err *err);
