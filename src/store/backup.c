/* backup.c - one file that holds the whole store, and a folder made from it.
 *
 * The file is a view with all objects and no history, made after a checkpoint, and a trailer with
 * its length and checksum. A restored store has an identity of its own, so that no old log can pass
 * for its, and begins far above the revision of the backup, with nothing below: what clients of the
 * lost store have seen since can neither be watched from nor be the version of anything again.
 * Restoring builds the folder beside its place and moves it there in one step. */
#include "store/internal.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/banned.h"

/* Magic 8, format 4, zero 4, length of what stands before 8, its checksum 4, checksum of this 4. */
enum { TRAILER_BYTES = 32, BACKUP_FORMAT = 1, PIECE = 1 << 20 };
static const char magic[8] = "SPNBAK\r\n";

static char *join(const char *dir, const char *suffix)
{
    char *path = NULL;
    if (asprintf(&path, "%s%s", dir, suffix) < 0)
        mem_exhausted(strlen(dir));
    return path;
}

static int sync_parent(const char *path, struct err *err)
{
    autofree char *copy = mem_dup(path, strlen(path) + 1);
    return file_sync_dir(dirname(copy), err);
}

/* The checksum of the first `n` bytes. */
static int sum_bytes(int fd, uint64_t n, uint32_t *ret, struct err *err)
{
    autofree char *piece = mem_alloc(PIECE);
    uint32_t crc = 0;
    for (uint64_t off = 0; off < n;) {
        size_t want = n - off < PIECE ? (size_t)(n - off) : PIECE;
        ssize_t got = pread(fd, piece, want, (off_t)off);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, errno, "read");
        if (got == 0)
            return err_set(err, ERR_DAMAGED, "the file ends too early");
        crc = crc32c(crc, piece, (size_t)got);
        off += (uint64_t)got;
    }
    *ret = crc;
    return 0;
}

/* ---- Backup ---- */

static int add_trailer(int fd, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_errno(err, errno, "look");
    uint64_t n = (uint64_t)st.st_size;
    uint32_t crc;
    int r = sum_bytes(fd, n, &crc, err);
    if (r < 0)
        return r;
    char trailer[TRAILER_BYTES] = { 0 };
    memcpy(trailer, magic, sizeof(magic));
    uint32_t format = htole32(BACKUP_FORMAT);
    memcpy(trailer + 8, &format, 4);
    uint64_t length = htole64(n);
    memcpy(trailer + 16, &length, 8);
    crc = htole32(crc);
    memcpy(trailer + 24, &crc, 4);
    uint32_t own = htole32(crc32c(0, trailer, 28));
    memcpy(trailer + 28, &own, 4);
    if (lseek(fd, 0, SEEK_END) < 0)
        return err_errno(err, errno, "seek");
    return file_write_all(fd, (struct str){ trailer, sizeof(trailer) }, err);
}

static int seal_backup(const char *tmp, struct err *err)
{
    autoclose int fd = open(tmp, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "open");
    int r = add_trailer(fd, err);
    if (r < 0)
        return r;
    if (fsync(fd) < 0)
        return err_errno(err, errno, "sync");
    return 0;
}

static int write_backup(struct store *s, const char *tmp, const struct store_skip *skip,
                        struct err *err)
{
    struct view_reader *reader;
    int r = view_reader_begin(s->view, &reader, err);
    if (r < 0)
        return r;
    struct view_meta meta = *view_reader_meta(reader);
    meta.floor = meta.rev;
    (void)unlink(tmp);
    r = store__transfer(s->view, reader, tmp, &meta, skip, err);
    view_reader_end(reader);
    if (r < 0)
        return r;
    r = seal_backup(tmp, err);
    if (r < 0)
        (void)err_wrap(err, "%s", tmp);
    return r;
}

static int place_backup(struct store *s, const char *tmp, const char *file,
                        const struct store_skip *skip, struct err *err)
{
    int r = write_backup(s, tmp, skip, err);
    if (r < 0)
        return r;
    if (renameat2(AT_FDCWD, tmp, AT_FDCWD, file, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EEXIST)
        return err_set(err, ERR_EXISTS, "%s is there already", file);
    return err_errno(err, errno, "rename %s", tmp);
}

int store_backup(struct store *s, const char *file, const struct store_skip *skip, struct err *err)
{
    int r = store__checkpoint(s, 0, err);
    if (r < 0)
        return r;
    autofree char *tmp = join(file, ".tmp");
    r = place_backup(s, tmp, file, skip, err);
    if (r < 0) {
        (void)unlink(tmp);
        return r;
    }
    return sync_parent(file, err);
}

/* ---- Restore ---- */

static int check_trailer(int fd, uint64_t *ret_n, uint32_t *ret_crc, struct err *err)
{
    struct stat st;
    char t[TRAILER_BYTES];
    if (fstat(fd, &st) < 0)
        return err_errno(err, errno, "look");
    if (st.st_size < TRAILER_BYTES ||
        pread(fd, t, sizeof(t), st.st_size - TRAILER_BYTES) != TRAILER_BYTES)
        return err_set(err, ERR_DAMAGED, "the file is too short for a backup");
    uint32_t own, format;
    memcpy(&own, t + 28, 4);
    memcpy(&format, t + 8, 4);
    if (memcmp(t, magic, sizeof(magic)) != 0 || le32toh(own) != crc32c(0, t, 28))
        return err_set(err, ERR_DAMAGED, "the file is not a complete backup: its end is missing");
    if (le32toh(format) != BACKUP_FORMAT)
        return err_set(err, ERR_DAMAGED, "format %" PRIu32 " is unknown", le32toh(format));
    memcpy(ret_n, t + 16, 8);
    memcpy(ret_crc, t + 24, 4);
    *ret_n = le64toh(*ret_n);
    *ret_crc = le32toh(*ret_crc);
    if (*ret_n != (uint64_t)st.st_size - TRAILER_BYTES)
        return err_set(err, ERR_DAMAGED, "the file's length does not fit");
    return 0;
}

/* The trailer, and whether its checksum is that of the rest. */
static int check_whole(const char *file, struct err *err)
{
    autoclose int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "open");
    uint64_t n = 0;
    uint32_t crc = 0, found = 0;
    int r = check_trailer(fd, &n, &crc, err);
    if (r < 0)
        return r;
    r = sum_bytes(fd, n, &found, err);
    if (r < 0)
        return r;
    if (found != crc)
        return err_set(err, ERR_DAMAGED, "the checksum of the backup is wrong");
    return 0;
}

int store__bumped(uint64_t rev, uint64_t bump, uint64_t *ret, struct err *err)
{
    bool is_auto = bump == STORE_BUMP_AUTO;
    uint64_t now_ms = (uint64_t)(clock_wall_ns(&clock_system) / NS_PER_MS);
    if (__builtin_add_overflow(rev, is_auto ? STORE_BUMP : bump, ret) || *ret > INT64_MAX / 2)
        return err_set(err, ERR_INVALID,
                       "a revision %" PRIu64 " above that of the backup, %" PRIu64 ", is too large",
                       bump, rev);
    if (is_auto && *ret < now_ms)
        *ret = now_ms;
    return 0;
}

static int fill_from(struct view *from, struct view_reader *reader, const char *to,
                     const struct store_restore_options *opt, struct view_meta *meta,
                     struct err *err)
{
    int r = store__bumped(view_reader_meta(reader)->rev, opt->bump, &meta->rev, err);
    if (r < 0)
        return r;
    r = store__new_id(&meta->store_id, err);
    if (r < 0)
        return r;
    meta->floor = meta->rev;
    return store__transfer(from, reader, to, meta, opt->skip, err);
}

static int fill_view(struct view *from, const char *to, const struct store_restore_options *opt,
                     struct view_meta *ret, struct err *err)
{
    struct view_reader *reader;
    int r = view_reader_begin(from, &reader, err);
    if (r < 0)
        return r;
    struct view_meta meta = { 0 };
    r = fill_from(from, reader, to, opt, &meta, err);
    view_reader_end(reader);
    *ret = meta;
    return r;
}

int store__make_log(const char *dir, const struct view_meta *meta, struct err *err)
{
    autofree char *log_dir = join(dir, "/log");
    int r = file_private_dir(log_dir, err);
    if (r < 0)
        return r;
    struct wal wal;
    wal_init(&wal, &(struct wal_options){ &medium_disk, log_dir, meta->store_id,
                                          STORE_HISTORY_BYTES, STORE_HISTORY_NS });
    r = wal_create(&wal, meta->rev + 1, clock_wall_ns(&clock_system), err);
    wal_done(&wal);
    return r;
}

/* A file whose sum is wrong is read all the same: which object is it? */
static int fill_folder(const char *file, const char *dir, const struct store_restore_options *opt,
                       struct err *err)
{
    struct err whole = ERR_INIT(err ? err->arena : NULL);
    int is_whole = check_whole(file, err ? &whole : NULL);
    struct view *from;
    struct view_meta meta;
    int r = view_open(&(struct view_options){ .path = file, .is_read_only = true }, &from, err);
    if (r < 0)
        return r;
    autofree char *path = join(dir, "/view.mdb");
    r = fill_view(from, path, opt, &meta, err);
    view_close(from);
    if (r < 0)
        return r;
    if (is_whole < 0 && !opt->skip)
        return err_set(err, (enum err_code) - is_whole, STR_FMT " (each object in it is whole)",
                       STR_ARG(whole.msg));
    r = store__make_log(dir, &meta, err);
    if (r < 0)
        return r;
    return file_sync_dir(dir, err);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

void store__remove_folder(const char *dir)
{
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* By way of `tmp`, so that `dir` (`plain` without slashes at its end) is there once all of it is.
 */
static int restore_by(const char *tmp, const char *file, const char *plain, const char *dir,
                      const struct store_restore_options *opt, struct err *err)
{
    int r = file_private_dir(tmp, err);
    if (r < 0)
        return r;
    r = fill_folder(file, tmp, opt, err);
    if (r < 0) {
        (void)err_wrap(err, "restore %s", file);
        return r;
    }
    if (rename(tmp, plain) == 0)
        return 0;
    if (errno == ENOTEMPTY || errno == EEXIST)
        return err_set(err, ERR_EXISTS, "%s is not empty", dir);
    return err_errno(err, errno, "rename %s", tmp);
}

int store_restore(const char *file, const char *dir, const struct store_restore_options *opt,
                  struct err *err)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        n--;
    autofree char *plain = mem_dup(dir, n + 1);
    plain[n] = '\0';
    autofree char *tmp = join(plain, ".restoring");
    store__remove_folder(tmp); /* what an earlier try left behind */
    int r = restore_by(tmp, file, plain, dir, opt, err);
    if (r < 0) {
        store__remove_folder(tmp);
        return r;
    }
    return sync_parent(plain, err);
}
