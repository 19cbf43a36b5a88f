/* instance.h - a data folder and the one process that serves from it.
 *
 * The process locks DIR/sampan.pid for as long as it lives, so a file without a lock means nothing.
 * The file has the process id and, once it serves, the address. */
#pragma once

#include "base/err.h"

/* --data-dir if given, else $XDG_STATE_HOME/sampan or ~/.local/state/sampan; NULL without a home.
 */
const char *instance_dir(struct arena *a, const char *given);

/* Makes the folder if need be and takes it over. An empty folder that is open to other users is
 * made private (0700), and the log says so. Returns a descriptor that holds the lock until it is
 * closed. ERR_FORBIDDEN: the folder has files and is open to other users, or it belongs to another
 * user. ERR_CONFLICT: another process has it. */
int instance_claim(const char *dir, struct err *err);
/* Writes the process id and the address to the locked file. */
int instance_announce(int lock_fd, struct str address, struct err *err);

struct instance {
    bool running;
    long pid;
    struct str address; /* empty while it starts */
};
int instance_look(struct arena *a, const char *dir, struct instance *ret, struct err *err);
