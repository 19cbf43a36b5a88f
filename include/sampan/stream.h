/* sampan/stream.h - what flows to and from a pod: commands, terminals, ports and logs.
 *
 *     const struct spn_text command[] = { SPN_TEXT("ls"), SPN_TEXT("/") };
 *     const struct spn_run ls = { .command = { command, 2 }, .out = true, .err = true };
 *     if (spn_client_exec(c, ns, pod, &ls, NULL, a, &s, &err) < 0)
 *         ...
 *     while ((r = spn_stream_read(s, -1, a, &piece, &err)) > 0)
 *         write(piece.channel == SPN_CHANNEL_ERR ? 2 : 1, piece.data.p, piece.data.n);
 *     spn_stream_exit_code(s)
 *
 * Streams go over WebSocket (v5.channel.k8s.io, or v4 with older servers), each on a connection of
 * its own. One thread reads; another may write at the same time. A stop ends both with
 * SPN_CANCELLED. Where opening one fails, err->status lies in the arena that was given. */
#pragma once

#include <sampan/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_stream;

/* What to run in, or attach to. */
struct spn_run {
    const char *container;    /* NULL: the only one, or the usual */
    struct spn_texts command; /* of an exec */
    bool in, out, err;        /* which of them to connect */
    bool tty;                 /* a terminal; what it writes comes as `out` */
};

SPN_API int spn_client_exec(struct spn_client *c, struct spn_text ns, struct spn_text pod,
                            const struct spn_run *what, struct spn_stop *stop, struct spn_arena *a,
                            struct spn_stream **ret, struct spn_err *err);
SPN_API int spn_client_attach(struct spn_client *c, struct spn_text ns, struct spn_text pod,
                              const struct spn_run *what, struct spn_stop *stop,
                              struct spn_arena *a, struct spn_stream **ret, struct spn_err *err);
/* To ports of a pod: what is written to channel 2 * i goes to ports[i], and what comes on it is
 * from there; 2 * i + 1 has what goes wrong, in words. */
SPN_API int spn_client_forward(struct spn_client *c, struct spn_text ns, struct spn_text pod,
                               const uint16_t *ports, size_t n, struct spn_stop *stop,
                               struct spn_arena *a, struct spn_stream **ret, struct spn_err *err);
SPN_API struct spn_stream *spn_stream_free(struct spn_stream *s);

enum spn_channel { SPN_CHANNEL_IN = 0, SPN_CHANNEL_OUT = 1, SPN_CHANNEL_ERR = 2 };

struct spn_piece {
    unsigned channel;
    struct spn_text data; /* in the arena */
};
/* Waits for the next piece, at most so long (-1: for ever). 1: there is one; 0: that was all, and
 * the command has ended with 0; else an error. A command that ends otherwise is SPN_SERVER_ERROR
 * with the server's Status, and spn_stream_exit_code() tells how. */
SPN_API int spn_stream_read(struct spn_stream *s, int64_t timeout_ms, struct spn_arena *a,
                            struct spn_piece *ret, struct spn_err *err);
/* -1: it has not ended, or not by itself. */
SPN_API int spn_stream_exit_code(const struct spn_stream *s);
SPN_API int spn_stream_write(struct spn_stream *s, unsigned channel, struct spn_text data,
                             struct spn_err *err);
/* Nothing more will be written to it. SPN_UNSUPPORTED: the server is too old to be told. */
SPN_API int spn_stream_close(struct spn_stream *s, unsigned channel, struct spn_err *err);
SPN_API int spn_stream_resize(struct spn_stream *s, uint16_t columns, uint16_t rows,
                              struct spn_err *err);

/* ---- Logs ---- */

struct spn_log_options {
    const char *container; /* NULL: the only one, or the usual */
    bool follow;           /* goes on as the container writes */
    bool previous;         /* of the container before this one */
    bool timestamps;       /* in front of each line */
    int64_t since_sec;     /* not older; 0: all */
    int64_t tail_lines;    /* the last ones; 0: all */
    int64_t limit_bytes;   /* 0: none */
};
struct spn_logs;

SPN_API int spn_client_logs(struct spn_client *c, struct spn_text ns, struct spn_text pod,
                            const struct spn_log_options *opt, struct spn_stop *stop,
                            struct spn_arena *a, struct spn_logs **ret, struct spn_err *err);
/* Waits for more, at most so long (-1: for ever): bytes as they come, in the arena. 1: there is
 * some; 0: that was all; else an error. */
SPN_API int spn_logs_read(struct spn_logs *l, int64_t timeout_ms, struct spn_arena *a,
                          struct spn_text *ret, struct spn_err *err);
SPN_API struct spn_logs *spn_logs_free(struct spn_logs *l);

#ifdef __cplusplus
}
#endif
