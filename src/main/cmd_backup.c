/* backup and restore: all objects of a control plane in one file, and back.
 *
 * A running control plane sends the file over its port, to the admin. The store of a stopped one is
 * opened here. A backup has the objects and their revisions, not the certificates: a folder that is
 * restored elsewhere gets its own CA. */
#include "main/command.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "main/ask.h"
#include "main/instance.h"
#include "net/outgoing/fetch.h"
#include "server/backup.h"
#include "store/store.h"
#include "base/banned.h"

#define BACKUP_TIMEOUT_MS (INT64_C(3600) * 1000)

struct job {
    const char *dir, *file;
    bool skips; /* damaged objects are left out, and named */
    uint64_t bump;
};

static void on_damaged(void *arg, struct str key, struct str what)
{
    (void)arg;
    fprintf(stderr, "left out " STR_FMT ": " STR_FMT "\n", STR_ARG(key), STR_ARG(what));
}

static const struct store_skip left_out = { on_damaged, NULL };

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, const char *usage, struct job *ret)
{
    static const struct option flags[] = {
        { "data-dir", required_argument, NULL, 'd' },
        { "skip-damaged", no_argument, NULL, 's' },
        { "bump-revision", required_argument, NULL, 'b' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'd') {
            ret->dir = optarg;
        } else if (c == 's') {
            ret->skips = true;
        } else if (c == 'b' && strcmp(argv[0], "restore") == 0) {
            if (!str_to_u64(str_of(optarg), &ret->bump) || ret->bump == STORE_BUMP_AUTO)
                return command_misused(argv[0]) + 1;
        } else if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        } else {
            return command_misused(argv[0]) + 1;
        }
    }
    if (argc == optind) {
        fprintf(stderr, "sampan %s: FILE is missing\n", argv[0]);
        return command_misused(argv[0]) + 1;
    }
    if (argc - optind > 1)
        return command_unexpected(argv[0], argv[optind + 1]) + 1;
    ret->file = argv[optind];
    return 0;
}

/* ---- backup ---- */

struct download {
    int fd;
    struct err *err;
    int result;
    struct buf refusal; /* a Status */
};

static bool on_piece(void *arg, int status, struct str piece)
{
    struct download *d = arg;
    if (d->result < 0)
        return false;
    if (status == 200)
        d->result = file_write_all(d->fd, piece, d->err);
    else if (d->refusal.n + piece.n < LIMIT_BODY_BYTES)
        buf_str_add(&d->refusal, piece);
    return d->result == 0;
}

static int refused(struct arena *a, int status, struct str body, struct err *err)
{
    struct value v;
    struct str message = { 0 };
    if (json_read(a, arena_str(a, body), NULL, &v, NULL) == 0)
        message = value_str(value_get(&v, STR("message")));
    return err_set(err, ERR_UNAVAILABLE, "the server answered %d: " STR_FMT, status,
                   STR_ARG(message));
}

/* The server names each object that it left out in a Warning header, up to a limit. */
static void tell_left_out(const struct fetch_reply *reply)
{
    size_t n = 0;
    for (size_t i = 0; i < reply->n_headers; i++) {
        struct str name = reply->headers[i].value;
        if (!str_eq_nocase(reply->headers[i].name, STR("warning")))
            continue;
        (void)str_cut(&name, '"');
        on_damaged(NULL, str_cut(&name, '"'), STR("damaged"));
        n++;
    }
    if (n == LIMIT_BACKUP_WARNINGS)
        fprintf(stderr, "there may be more; the server's log names all of them\n");
}

/* `fetched` is what the request came to; a file that could not be written counts more. */
static int judge_reply(struct arena *a, const struct download *d, int fetched,
                       const struct fetch_reply *reply, struct err *err)
{
    if (d->result < 0)
        return d->result;
    if (fetched < 0)
        return fetched;
    if (reply->status != 200)
        return refused(a, reply->status, buf_str(&d->refusal), err);
    tell_left_out(reply);
    return 0;
}

static int download(struct arena *a, const struct job *job, struct str address, int fd,
                    struct err *err)
{
    struct download d = { .fd = fd, .err = err };
    struct fetch_reply reply;
    int r =
        ask_running(a, job->dir, address,
                    &(struct fetch_request){ .method = STR("GET"),
                                             .url = arena_printf(a, "/sampan/v1/backup%s",
                                                                 job->skips ? "?" BACKUP_SKIP : ""),
                                             .timeout_ms = BACKUP_TIMEOUT_MS,
                                             .on_piece = on_piece,
                                             .arg = &d },
                    &reply, err);
    r = judge_reply(a, &d, r, &reply, err);
    buf_done(&d.refusal);
    return r;
}

static int fill_part(struct arena *a, const struct job *job, struct str address, const char *part,
                     int fd, struct err *err)
{
    int r = download(a, job, address, fd, err);
    if (r < 0)
        return r;
    if (fsync(fd) < 0)
        return err_errno(err, errno, "write %s", part);
    if (renameat2(AT_FDCWD, part, AT_FDCWD, job->file, RENAME_NOREPLACE) < 0)
        return err_errno(err, errno, "write %s", job->file);
    return 0;
}

/* Writes to a file beside it, which gets the name only when it is complete and on disk. */
static int backup_running(struct arena *a, const struct job *job, struct str address,
                          struct err *err)
{
    const char *part = str_cstr(a, arena_printf(a, "%s.part", job->file));
    autoclose int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "write %s", part);
    int r = fill_part(a, job, address, part, fd, err);
    if (r < 0)
        (void)unlink(part);
    return r;
}

static int backup_stopped(struct arena *a, const struct job *job, struct err *err)
{
    autoclose int lock_fd = instance_claim(job->dir, err);
    if (lock_fd < 0)
        return lock_fd;
    struct store *store;
    const char *dir = str_cstr(a, arena_printf(a, "%s/store", job->dir));
    int r = store_open(&(struct store_options){ .engine = STORE_LMDB, .dir = dir }, &store, err);
    if (r < 0)
        return r;
    r = store_backup(store, job->file, job->skips ? &left_out : NULL, err);
    store_close(store);
    return r;
}

static int backup(struct arena *a, const char *dir, void *arg, struct err *err)
{
    struct job *job = arg;
    job->dir = dir;
    struct instance in = { 0 };
    if (access(job->file, F_OK) == 0)
        return err_set(err, ERR_EXISTS, "%s already exists", job->file);
    int r = instance_look(a, job->dir, &in, err);
    if (r < 0)
        return r;
    if (in.running && !in.address.n)
        return err_set(err, ERR_UNAVAILABLE,
                       "the control plane is still starting; try again in a moment");
    return in.running ? backup_running(a, job, in.address, err) : backup_stopped(a, job, err);
}

/* ---- restore ---- */

static int restore(struct arena *a, const char *dir, void *arg, struct err *err)
{
    const struct job *job = arg;
    autoclose int lock_fd = instance_claim(dir, err);
    if (lock_fd < 0)
        return lock_fd;
    struct store_restore_options opt = { job->bump, job->skips ? &left_out : NULL };
    return store_restore(job->file, arena_printf(a, "%s/store", dir).p, &opt, err);
}

/* ---- Both ---- */

static int run(int argc, char **argv, const char *usage, command_act *act)
{
    struct job job = { .bump = STORE_BUMP_AUTO };
    int end = parse(argc, argv, usage, &job);
    return end ? end - 1 : command_in_folder(argv[0], job.dir, act, &job);
}

int cmd_backup(int argc, char **argv)
{
    return run(argc, argv,
               "Usage: sampan backup [--data-dir DIR] [--skip-damaged] FILE\n"
               "Writes all objects of the control plane in DIR, running or not, to FILE. Every\n"
               "object is checked. If one is damaged, the backup stops and no FILE is written.\n\n"
               "  --skip-damaged  leave damaged objects out, and name each of them\n",
               backup);
}

int cmd_restore(int argc, char **argv)
{
    return run(
        argc, argv,
        "Usage: sampan restore [--data-dir DIR] [--skip-damaged] [--bump-revision N] FILE\n"
        "Fills DIR, which must have no objects yet, from a FILE that `sampan backup` wrote.\n"
        "New revisions start far above those of the backup. So a revision that a client has\n"
        "seen since the backup conflicts or is too old, and is never mistaken for a new one.\n\n"
        "  --skip-damaged     leave damaged objects of FILE out, and name each of them\n"
        "  --bump-revision N  start N above the backup (default 1000000000, or the time in\n"
        "                     milliseconds if that is higher)\n",
        restore);
}
