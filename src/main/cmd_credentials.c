/* certs and kubeconfig: what certificates and keys there are, and a kubeconfig for a colleague. */
#include "main/command.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "main/credentials.h"
#include "main/instance.h"
#include "net/crypto/signature.h"
#include "base/banned.h"

enum { FILE_MAX_BYTES = 1 << 20 };

static int64_t now_sec(void)
{
    return clock_wall_ns(&clock_system) / NS_PER_SEC;
}

static int read_text(struct arena *a, const char *path, struct str *ret, struct err *err)
{
    autobuf text = { 0 };
    int r = file_read(path, FILE_MAX_BYTES, &text, err);
    if (r < 0)
        return r;
    *ret = arena_str(a, buf_str(&text));
    return 0;
}

/* What stands behind the first `field` of a kubeconfig, or nothing. */
static struct str value_of(struct str text, struct str field)
{
    const char *at = memmem(text.p, text.n, field.p, field.n);
    if (!at)
        return STR("");
    struct str rest = str_skip(text, (size_t)(at - text.p) + field.n);
    return str_trim(str_cut(&rest, '\n'));
}

/* ---- certs ---- */

static void print_row(const char *what, const char *file, const char *ends)
{
    printf("%-10s  %-18s  %s\n", what, file, ends);
}

static void print_end(const char *what, const char *file, struct str cert_pem)
{
    char text[CLOCK_TEXT_BYTES], row[128];
    int64_t end;
    if (pki_not_after(cert_pem, &end, NULL) < 0) {
        print_row(what, file, "cannot be read");
        return;
    }
    struct str at = clock_format(end * NS_PER_SEC, false, text);
    long long days = (end - now_sec()) / 86400;
    snprintf(row, sizeof(row), "ends " STR_FMT " (%s%lld days)", STR_ARG(at),
             end < now_sec() ? "over since " : "in ", days < 0 ? -days : days);
    print_row(what, file, row);
}

/* The certificate of a kubeconfig; empty if it has none. */
static struct str certificate_of(struct arena *a, struct str kubeconfig)
{
    autobuf pem = { 0 };
    (void)base64_decode(&pem, value_of(kubeconfig, STR("client-certificate-data: ")));
    return arena_str(a, buf_str(&pem));
}

static void print_key(struct arena *a, const char *dir)
{
    struct err err = ERR_INIT(a);
    struct str pem;
    struct signature_key *key;
    char row[64];
    if (read_text(a, arena_printf(a, "%s/pki/sa.key", dir).p, &pem, &err) < 0 ||
        signature_key_read(pem, &key, &err) < 0) {
        print_row("tokens", "pki/sa.key", "is not there");
        return;
    }
    snprintf(row, sizeof(row), "never ends (%s)", signature_algorithm(key));
    print_row("tokens", "pki/sa.key", row);
    signature_key_free(key);
}

static int show(struct arena *a, const char *dir, struct err *err)
{
    struct str ca, server, admin, proxy;
    int r = read_text(a, arena_printf(a, "%s/pki/ca.crt", dir).p, &ca, err);
    if (r < 0)
        return r;
    print_end("authority", "pki/ca.crt", ca);
    if (read_text(a, arena_printf(a, "%s/pki/server.crt", dir).p, &server, NULL) == 0)
        print_end("server", "pki/server.crt", server);
    if (read_text(a, credentials_kubeconfig(a, dir), &admin, NULL) == 0)
        print_end("admin", "admin.kubeconfig", certificate_of(a, admin));
    if (read_text(a, arena_printf(a, "%s/pki/front-proxy-ca.crt", dir).p, &proxy, NULL) == 0)
        print_end("front proxy", "pki/front-proxy-ca.crt", proxy);
    print_key(a, dir);
    return 0;
}

static int certs(struct arena *a, const char *dir, void *arg, struct err *err)
{
    const bool *renew = arg;
    struct instance in;
    if (!*renew)
        return show(a, dir, err);
    int r = instance_look(a, dir, &in, err);
    if (r < 0)
        return r;
    if (!in.running || in.pid <= 0)
        return err_set(err, ERR_UNAVAILABLE,
                       "sampan is not running in %s; certificates are made when it starts", dir);
    if (kill((pid_t)in.pid, SIGHUP) < 0)
        return err_errno(err, errno, "ask process %ld", in.pid);
    printf("process %ld was asked to renew its certificates and to read its keys again\n", in.pid);
    return 0;
}

int cmd_certs(int argc, char **argv)
{
    static const struct option flags[] = {
        { "data-dir", required_argument, NULL, 'd' },
        { "renew", no_argument, NULL, 'r' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    const char *dir = NULL;
    bool renew = false;
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'd') {
            dir = optarg;
        } else if (c == 'r') {
            renew = true;
        } else if (c == 'h') {
            fputs("Usage: sampan certs [--data-dir DIR] [--renew]\n"
                  "Says which certificates and keys a control plane has, and when they end. With\n"
                  "--renew it makes those of server and admin anew and reads its keys again.\n",
                  stdout);
            return 0;
        } else {
            return command_misused(argv[0]);
        }
    }
    return argc == optind ? command_in_folder(argv[0], dir, certs, &renew)
                          : command_unexpected(argv[0], argv[optind]);
}

/* ---- kubeconfig ---- */

enum { GROUPS_MAX = 16, DAY_SECONDS = 86400 };

struct colleague {
    const char *dir, *output; /* output: NULL for standard output */
    struct str user, groups[GROUPS_MAX], server, server_name;
    size_t n_groups;
    int64_t seconds;
};

/* Where the control plane serves, or served last, and the name to ask for: what the admin's
 * kubeconfig says. */
static int find_server(struct arena *a, const char *dir, struct colleague *c, struct err *err)
{
    struct str text = STR("");
    int r = read_text(a, credentials_kubeconfig(a, dir), &text, err);
    if (r < 0 && !c->server.n)
        return r;
    c->server_name = value_of(text, STR("tls-server-name: "));
    if (!c->server.n)
        c->server = value_of(text, STR("server: https://"));
    if (!c->server.n)
        return err_set(err, ERR_NOT_FOUND, "the admin's kubeconfig names no server; use --server");
    return 0;
}

static int make(struct arena *a, const char *dir, void *arg, struct err *err)
{
    struct colleague *c = arg;
    struct pki_pair ca, pair;
    int r = credentials_load_ca(a, dir, &ca, err);
    if (r < 0)
        return r;
    r = find_server(a, dir, c, err);
    if (r < 0)
        return r;
    const struct pki_leaf leaf = { .common_name = c->user,
                                   .organizations = c->groups,
                                   .n_organizations = c->n_groups,
                                   .client = true,
                                   .now_sec = now_sec(),
                                   .seconds = c->seconds };
    r = pki_issue(a, &ca, &leaf, &pair, err);
    if (r < 0)
        return r;
    struct str text =
        credentials_text(a, &(struct credentials_config){ .user = c->user,
                                                          .address = c->server,
                                                          .server_name = c->server_name,
                                                          .ca_pem = ca.cert_pem,
                                                          .pair = &pair });
    if (c->output)
        return file_write_atomic(c->output, text, 0600, FILE_CHEAP, err);
    return file_write_all(STDOUT_FILENO, text, err);
}

static bool read_duration(const char *given, int64_t *ret)
{
    struct str s = str_of(given);
    uint64_t n;
    char unit = s.n ? s.p[s.n - 1] : '\0';
    int64_t seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
    if (unit == 'd')
        seconds = DAY_SECONDS;
    if (!seconds || !str_to_u64(str_take(s, s.n - 1), &n) || !n || n > 1000000) {
        fprintf(stderr, "sampan kubeconfig: --ttl must be a time like 30m, 8h or 90d, not '%s'\n",
                given);
        return false;
    }
    *ret = (int64_t)n * seconds;
    return true;
}

static const char kubeconfig_usage[] =
    "Usage: sampan kubeconfig --user NAME [--group NAME]... [OPTION]...\n"
    "Makes a kubeconfig for a colleague, with a certificate of its own. What NAME may do is up to\n"
    "roles and bindings; a certificate cannot be taken back, so make it short-lived.\n\n"
    "  --group NAME        a group of the user; may be repeated\n"
    "  --ttl TIME          how long it is good, e.g. 30m, 8h, 90d (default 30d)\n"
    "  --server ADDR:PORT  where the control plane is reached (default: as in the admin's)\n"
    "  --output FILE       where to write it (default standard output)\n"
    "  --data-dir DIR      the control plane's folder\n";

/* 0, or an exit status + 1. */
static int take_flag(int flag, struct colleague *c)
{
    switch (flag) {
    case 'u':
        c->user = str_of(optarg);
        return 0;
    case 'g':
        if (c->n_groups == GROUPS_MAX)
            return command_unexpected("kubeconfig", optarg) + 1;
        c->groups[c->n_groups++] = str_of(optarg);
        return 0;
    case 't':
        return read_duration(optarg, &c->seconds) ? 0 : EXIT_MISUSED + 1;
    case 's':
        c->server = str_of(optarg);
        return 0;
    case 'o':
        c->output = optarg;
        return 0;
    case 'd':
        c->dir = optarg;
        return 0;
    case 'h':
        fputs(kubeconfig_usage, stdout);
        return 1;
    default:
        return command_misused("kubeconfig") + 1;
    }
}

int cmd_kubeconfig(int argc, char **argv)
{
    static const struct option flags[] = {
        { "user", required_argument, NULL, 'u' },   { "group", required_argument, NULL, 'g' },
        { "ttl", required_argument, NULL, 't' },    { "server", required_argument, NULL, 's' },
        { "output", required_argument, NULL, 'o' }, { "data-dir", required_argument, NULL, 'd' },
        { "help", no_argument, NULL, 'h' },         { 0 },
    };
    struct colleague c = { .seconds = INT64_C(30) * DAY_SECONDS };
    for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        int end = take_flag(flag, &c);
        if (end)
            return end - 1;
    }
    if (argc != optind)
        return command_unexpected(argv[0], argv[optind]);
    if (!c.user.n) {
        fputs("sampan kubeconfig: --user is missing. See 'sampan kubeconfig --help'.\n", stderr);
        return EXIT_MISUSED;
    }
    return command_in_folder(argv[0], c.dir, make, &c);
}
