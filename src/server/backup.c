#include "server/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/http/reply.h"
#include "base/banned.h"

enum { PIECE_BYTES = 256 << 10, N_PLAIN_HEADERS = 2 };

/* A backup on its way, and what it goes without. */
struct job {
    struct api *api;
    struct arena *arena;
    struct http_header headers[N_PLAIN_HEADERS + LIMIT_BACKUP_WARNINGS];
    size_t n_headers;
};

/* The key of something damaged may be anything: a header has text. */
static struct str printable(struct arena *a, struct str text)
{
    char *p = arena_dup(a, text.p, text.n);
    for (size_t i = 0; i < text.n; i++)
        if (p[i] < ' ' || p[i] > '~' || p[i] == '"' || p[i] == '\\')
            p[i] = '?';
    return (struct str){ p, text.n };
}

static void on_damaged(void *arg, struct str key, struct str what)
{
    struct job *j = arg;
    struct str name = printable(j->arena, key);
    log_error("a damaged object is left out of the backup", LOG_STR("key", name),
              LOG_STR("err", what));
    if (j->n_headers < ARRAY_LEN(j->headers))
        j->headers[j->n_headers++] =
            (struct http_header){ STR("warning"),
                                  arena_printf(j->arena, "299 - \"" STR_FMT "\"", STR_ARG(name)) };
}

static void free_piece(void *piece)
{
    free(piece);
}

static void give_up(struct http_exchange *x, void *arg)
{
    (void)arg;
    http_abort(x);
}

/* The rest of the file, piece by piece, as fast as the client takes it. False if it cannot be
 * read. */
static bool send_pieces(struct http_exchange *x, int fd)
{
    for (;;) {
        autofree char *piece = mem_alloc(PIECE_BYTES);
        ssize_t n = read(fd, piece, PIECE_BYTES);
        if (n <= 0)
            return n == 0;
        struct str bytes = { piece, (size_t)n };
        int r = http_send_write(x, (struct http_bytes){ bytes, free_piece, piece });
        (void)take(&piece);
        if (r < 0)
            return true; /* nobody is there to read more */
    }
}

static void send_file(struct http_exchange *x, const struct job *j, int fd)
{
    http_send_begin(x, 200, j->headers, j->n_headers);
    if (send_pieces(x, fd))
        http_send_end(x, NULL, 0);
    else
        http_to_loop(x, give_up, NULL);
}

/* A descriptor of the new file. */
static int write_file(struct job *j, const char *file, bool skips, struct err *err)
{
    struct store_skip skip = { on_damaged, j };
    int r = store_backup(j->api->store, file, skips ? &skip : NULL, err);
    if (r < 0)
        return r;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? err_errno(err, errno, "open %s", file) : fd;
}

static int make_file(struct job *j, bool skips, struct err *err)
{
    if (store_is_mirror(j->api->store))
        return err_set(err, ERR_BAD_REQUEST,
                       "the data is in etcd: use etcdctl snapshot save for a backup");
    struct arena *a = j->arena;
    struct str folder = arena_printf(a, "%s/backup.XXXXXX", j->api->scratch_dir);
    char *dir = arena_dup(a, str_cstr(a, folder), folder.n + 1);
    if (!mkdtemp(dir))
        return err_errno(err, errno, "make a folder for the backup");
    const char *file = str_cstr(a, arena_printf(a, "%s/backup", dir));
    int fd = write_file(j, file, skips, err);
    (void)unlink(file);
    (void)rmdir(dir);
    return fd;
}

static void run(struct http_exchange *x, void *arg)
{
    struct err err = ERR_INIT(http_arena(x));
    struct job *j = arena_new(http_arena(x), struct job);
    *j = (struct job){
        .api = arg,
        .arena = http_arena(x),
        .headers = { { STR("content-type"), STR("application/octet-stream") },
                     { STR("x-content-type-options"), STR("nosniff") } },
        .n_headers = N_PLAIN_HEADERS,
    };
    bool skips = str_eq(http_request_of(x)->query, STR(BACKUP_SKIP));
    autoclose int fd = make_file(j, skips, &err);
    if (fd < 0)
        reply_error(x, &err);
    else
        send_file(x, j, fd);
}

void backup_serve(struct api *api, struct http_exchange *x)
{
    http_set_time(x, 0);
    (void)http_to_worker(x, api->backup_workers, run, api);
}
