/* reserve.c - space that is kept so that deleting works on a full disk.
 *
 * DIR/reserve is a file of nothing but space. When less than its size is left on the disk besides,
 * only what deletes is taken, and the history goes as far as it can; when a delete finds no room at
 * all, the file is removed and the delete tried again. When there is room enough it is made anew.
 */
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/banned.h"

enum { ENOUGH = 3 }; /* times the reserve that must be free before it is made anew */

static char *reserve_path(const char *dir)
{
    char *path = NULL;
    if (asprintf(&path, "%s/reserve", dir) < 0)
        mem_exhausted(strlen(dir));
    return path;
}

static uint64_t reserve_bytes(const struct statvfs *disk)
{
    uint64_t part = (uint64_t)disk->f_blocks * disk->f_frsize / STORE__RESERVE_PART;
    return part < STORE__RESERVE_BYTES ? part : STORE__RESERVE_BYTES;
}

static void make(const char *path, uint64_t bytes)
{
    struct stat st;
    if (stat(path, &st) == 0 && (uint64_t)st.st_size == bytes)
        return;
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || posix_fallocate(fd, 0, (off_t)bytes) != 0)
        (void)unlink(path);
}

void store__become_tight(struct store *s)
{
    if (s->medium->durable && !atomic_exchange(&s->is_tight, true))
        log_error("the disk is nearly full; only what deletes is taken",
                  LOG_CSTR("folder", s->dir));
}

bool store__drop_reserve(const char *dir)
{
    autofree char *path = reserve_path(dir);
    return unlink(path) == 0;
}

bool store__give_reserve(struct store *s)
{
    store__become_tight(s);
    return s->medium->durable && store__drop_reserve(s->dir);
}

void store__look_at_space(struct store *s)
{
    struct statvfs disk;
    if (!s->medium->durable || s->is_lost || statvfs(s->dir, &disk) < 0)
        return;
    uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize, bytes = reserve_bytes(&disk);
    /* What the reserve gave is not room for history. */
    s->is_low = free_bytes < (s->is_tight ? ENOUGH * bytes : bytes);
    if (s->is_low) {
        store__become_tight(s);
    } else if (free_bytes >= ENOUGH * bytes) {
        autofree char *path = reserve_path(s->dir);
        make(path, bytes);
        s->has_deleted = false;
        if (atomic_exchange(&s->is_tight, false))
            log_info("there is room on the disk again", LOG_CSTR("folder", s->dir));
    }
}
