/* streams [FLAG]... NAMESPACE POD PORT - runs commands in a pod, reads its log and speaks to a port
 * of it, which repeats what it is told. Prints what came, a line for each. */
#include <stdio.h>
#include <stdlib.h>

#include <sampan/config.h>
#include <sampan/stream.h>

enum { WAIT_MS = 60000, TEXT_MAX = 1 << 16 };

static struct spn_client *client;
static struct spn_arena *arena;
static struct spn_text ns, pod;

static void must(int r, const char *what, const struct spn_err *err)
{
    if (r >= 0)
        return;
    printf("%s: %s\n", what, err->message);
    exit(1);
}

/* Some text, without the newline at its end. */
struct text {
    char bytes[TEXT_MAX];
    size_t n;
};

static void text_add(struct text *t, struct spn_text more)
{
    for (size_t i = 0; i < more.n && t->n < sizeof(t->bytes); i++)
        t->bytes[t->n++] = more.p[i] == '\n' ? '|' : more.p[i];
}

static void run(const char *script, const char *input)
{
    const struct spn_text command[] = { SPN_TEXT("sh"), SPN_TEXT("-c"), spn_text_of(script) };
    const struct spn_run what = {
        .command = { command, 3 }, .in = input, .out = true, .err = true
    };
    static struct text out[3];
    struct spn_stream *s;
    struct spn_piece piece;
    struct spn_err err = { 0 };
    int r;
    out[SPN_CHANNEL_OUT].n = out[SPN_CHANNEL_ERR].n = 0;
    must(spn_client_exec(client, ns, pod, &what, NULL, arena, &s, &err), "exec", &err);
    if (input) {
        must(spn_stream_write(s, SPN_CHANNEL_IN, spn_text_of(input), &err), "write", &err);
        must(spn_stream_close(s, SPN_CHANNEL_IN, &err), "close", &err);
    }
    while ((r = spn_stream_read(s, WAIT_MS, arena, &piece, &err)) > 0)
        if (piece.channel == SPN_CHANNEL_OUT || piece.channel == SPN_CHANNEL_ERR)
            text_add(&out[piece.channel], piece.data);
    printf("out=%.*s err=%.*s code=%d%s%s\n", (int)out[1].n, out[1].bytes, (int)out[2].n,
           out[2].bytes, spn_stream_exit_code(s), r < 0 ? " " : "", r < 0 ? err.message : "");
    spn_stream_free(s);
}

static void read_log(void)
{
    static struct text all;
    struct spn_logs *l;
    struct spn_text piece;
    struct spn_err err;
    int r;
    must(spn_client_logs(client, ns, pod, &(struct spn_log_options){ .follow = true }, NULL, arena,
                         &l, &err),
         "logs", &err);
    while ((r = spn_logs_read(l, WAIT_MS, arena, &piece, &err)) > 0)
        text_add(&all, piece);
    must(r, "the log", &err);
    printf("log=%.*s\n", (int)all.n, all.bytes);
    spn_logs_free(l);
}

/* To a port that is there, and to one that is not. */
static void forward(uint16_t port)
{
    const uint16_t ports[] = { port, 1 };
    static struct text heard, complaint;
    struct spn_stream *s;
    struct spn_piece piece;
    struct spn_err err;
    must(spn_client_forward(client, ns, pod, ports, 2, NULL, arena, &s, &err), "forward", &err);
    must(spn_stream_write(s, 0, SPN_TEXT("hello port"), &err), "write", &err);
    while (heard.n < strlen("hello port") || !complaint.n) {
        must(spn_stream_read(s, WAIT_MS, arena, &piece, &err), "the port", &err);
        if (piece.channel == 0)
            text_add(&heard, piece.data);
        if (piece.channel == 3)
            text_add(&complaint, piece.data);
    }
    printf("port=%.*s complaint=%.*s\n", (int)heard.n, heard.bytes, (int)complaint.n,
           complaint.bytes);
    spn_stream_free(s);
}

int main(int argc, char **argv)
{
    struct spn_config_options opt = { 0 };
    struct spn_config cfg;
    struct spn_err err;
    arena = spn_arena_new();
    must(spn_config_flags(arena, &argc, argv, &opt, &err), "flags", &err);
    must(spn_config_load(&opt, arena, &cfg, &err), "configuration", &err);
    must(argc == 4 ? 0 : spn_err_set(&err, SPN_INVALID, "a namespace, a pod and a port"), "usage",
         &err);
    must(spn_client_new(&cfg, &client, &err), "a client", &err);
    ns = spn_text_of(argv[1]);
    pod = spn_text_of(argv[2]);
    run("cat; echo done >&2", "one\ntwo\n");
    run("exit 3", NULL);
    read_log();
    forward((uint16_t)strtoul(argv[3], NULL, 10));
    spn_client_free(client);
    spn_arena_free(arena);
    return 0;
}
