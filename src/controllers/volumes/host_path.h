/* host_path.h - the directories of volumes that are made on this machine, for development: below
 * /tmp/hostpath_pv, one per claim. Nothing else is ever made or removed. */
#pragma once

#include <sampan/err.h>

/* `name` is one word. The path lies in the arena. */
int host_path_make(struct spn_arena *a, struct spn_text name, struct spn_text *ret,
                   struct spn_err *err);
/* With all that is in it. A path that host_path_make() cannot have made is left alone: it is one of
 * some node, not of this machine. */
int host_path_remove(struct spn_text path, struct spn_err *err);
