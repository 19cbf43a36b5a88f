/* tree_remove.h - removes folders that others have written into.
 *
 * It follows no link, enters nothing that is mounted, and needs no more descriptors or stack
 * however deep folders nest: what lies too deep is first moved to the top. */
#pragma once

#include "base/err.h"

/* 0 also if it is not there. What is mounted below stays, with an error. */
int tree_remove(const char *path, struct err *err);
/* Unmounts all below it first, the deepest first, at once and for good. */
int tree_unmount_and_remove(struct arena *a, struct str path, struct err *err);
