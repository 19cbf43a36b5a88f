#include "server/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "server/reply.h"
#include "base/banned.h"

enum { PIECE_BYTES = 256 << 10 };

static void free_piece(void *piece)
{
    free(piece);
}

static void give_up(struct http_exchange *x, void *arg)
{
    (void)arg;
    http_abort(x);
}

/* The rest of the file, piece by piece, as fast as the client takes it. */
static void send_file(struct http_exchange *x, int fd)
{
    const struct http_header headers[] = {
        { STR("content-type"), STR("application/octet-stream") },
        { STR("x-content-type-options"), STR("nosniff") },
    };
    http_send_begin(x, 200, headers, sizeof(headers) / sizeof(headers[0]));
    int r = 0;
    ssize_t n = 1;
    while (r == 0 && n > 0) {
        autofree char *piece = mem_alloc(PIECE_BYTES);
        n = read(fd, piece, PIECE_BYTES);
        if (n <= 0)
            break;
        struct str bytes = { piece, (size_t)n };
        r = http_send_write(x, (struct http_bytes){ bytes, free_piece, piece });
        (void)take(&piece);
    }
    if (n < 0)
        http_to_loop(x, give_up, NULL);
    else
        http_send_end(x, NULL, 0);
}

static int make_file(struct api *api, struct arena *a, struct err *err)
{
    struct str folder = arena_printf(a, "%s/backup.XXXXXX", api->scratch_dir);
    char *dir = arena_dup(a, str_cstr(a, folder), folder.n + 1);
    if (!mkdtemp(dir))
        return err_errno(err, errno, "make a folder for the backup");
    const char *file = str_cstr(a, arena_printf(a, "%s/backup", dir));
    int fd = store_backup(api->store, file, err);
    if (fd == 0) {
        fd = open(file, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            (void)err_errno(err, errno, "open %s", file);
    }
    (void)unlink(file);
    (void)rmdir(dir);
    return fd;
}

static void run(struct http_exchange *x, void *arg)
{
    struct err err = ERR_INIT(http_arena(x));
    autoclose int fd = make_file(arg, http_arena(x), &err);
    if (fd < 0)
        reply_error(x, &err);
    else
        send_file(x, fd);
}

void backup_serve(struct api *api, struct http_exchange *x)
{
    (void)http_to_worker(x, api->workers, run, api);
}
