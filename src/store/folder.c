/* folder.c - is the store's folder still under its name, and are its files?
 *
 * A folder that is removed, moved or covered by another while the store runs takes everything with
 * it that is written from then on: the files are still open, so nothing fails. Looked at every
 * STORE__LOOK_MS, and before the log makes or removes a file by name. */
#include "store/internal.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/banned.h"

static bool has_its_name(int fd, const char *path)
{
    struct stat by_fd, by_name;
    return fstat(fd, &by_fd) == 0 && stat(path, &by_name) == 0 && by_fd.st_dev == by_name.st_dev &&
           by_fd.st_ino == by_name.st_ino;
}

static bool is_there(struct store *s)
{
    autofree char *lock = NULL;
    if (asprintf(&lock, "%s/lock", s->dir) < 0)
        mem_exhausted(strlen(s->dir));
    return has_its_name(s->lock_fd, lock) && wal_has_its_name(&s->wal) && view_has_a_name(s->view);
}

int store__look_at_folder(void *arg, struct err *err)
{
    struct store *s = arg;
    if (!s->medium->durable)
        return 0;
    bool is_lost = !is_there(s);
    bool was_lost = atomic_exchange(&s->is_lost, is_lost);
    atomic_store(&s->looked_ns, clock_mono_ns(&clock_system));
    if (is_lost && !was_lost)
        log_error("the data folder is gone; writes are refused", LOG_CSTR("folder", s->dir));
    else if (was_lost && !is_lost)
        log_info("the data folder is back", LOG_CSTR("folder", s->dir));
    return is_lost ? err_set(err, ERR_IO, "the data folder %s was removed or replaced", s->dir) : 0;
}

int store__look_in_time(struct store *s, struct err *err)
{
    int64_t now_ns = clock_mono_ns(&clock_system);
    if (!s->is_lost && now_ns - s->looked_ns < STORE__LOOK_MS * NS_PER_MS)
        return 0;
    return store__look_at_folder(s, err);
}
