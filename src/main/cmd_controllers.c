/* controllers: the built-in controllers alone, against any API server. */
#include "main/command.h"

#include <getopt.h>
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "main/controllers_flags.h"
#include "main/program_controllers.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan controllers [OPTION]...\n"
    "Runs the built-in controllers against an API server, until it is stopped.\n"
    "\n"
    "  --controllers LIST  which: * for all, NAME, or *,-NAME for all but one (default *)\n"
    "  --leader-elect=BOOL only one of several works (default true)\n"
    "  --health-address ADDR\n"
    "                      where /healthz, /readyz and /metrics are\n"
    "  --cluster-signing-cert-file FILE, --cluster-signing-key-file FILE\n"
    "                      the CA that signs requests for certificates; if not given, nobody does\n"
    "  --root-ca-file FILE what pods believe; if not given, what the kubeconfig believes\n"
    "  --service-account-private-key-file FILE\n"
    "                      the key that signs tokens in Secrets; if not given, they stay empty\n"
    "  --service-cluster-ip-range NET\n"
    "                      what Services have is for no node\n"
    "%s"
    "Which server, and as whom, is said by the flags that kubectl has: --kubeconfig, --context,\n"
    "--as and so on.\n";

struct job {
    struct program_controllers program;
    const char *root_ca_file, *key_file, *signing_cert_file, *signing_key_file;
};

/* A flag that is ours alone. False: it makes no sense. */
static bool take_flag(int flag, struct job *j)
{
    switch (flag) {
    case 'c':
        j->program.opt.names = optarg;
        return true;
    case 'l':
        return program_bool(optarg, &j->program.manager.elects);
    case 'a':
        j->program.manager.health = optarg;
        return true;
    case 'r':
        j->root_ca_file = optarg;
        return true;
    case 'k':
        j->key_file = optarg;
        return true;
    case 'C':
        j->signing_cert_file = optarg;
        return true;
    case 'K':
        j->signing_key_file = optarg;
        return true;
    case 'S':
        j->program.opt.service_cidr = optarg;
        return true;
    default:
        return false;
    }
}

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, void *self)
{
    struct job *j = self;
    struct controllers_options *opt = &j->program.opt;
    static const struct option flags[] = {
        { "controllers", required_argument, NULL, 'c' },
        { "leader-elect", optional_argument, NULL, 'l' },
        { "health-address", required_argument, NULL, 'a' },
        { "cluster-signing-cert-file", required_argument, NULL, 'C' },
        { "cluster-signing-key-file", required_argument, NULL, 'K' },
        { "root-ca-file", required_argument, NULL, 'r' },
        { "service-account-private-key-file", required_argument, NULL, 'k' },
        { "service-cluster-ip-range", required_argument, NULL, 'S' },
        CONTROLLERS_OPTIONS,
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'h') {
            printf(usage, controllers_flags_usage);
            return 1;
        }
        if (c >= CONTROLLERS_ALLOCATE_CIDRS) {
            if (!controllers_flags_take(argv[0], (enum controllers_flag)c, optarg, opt))
                return EXIT_MISUSED + 1;
        } else if (!take_flag(c, j)) {
            return command_misused(argv[0]) + 1;
        }
    }
    if (optind < argc)
        return command_unexpected(argv[0], argv[optind]) + 1;
    struct spn_err err = { 0 };
    if (opt->names && controllers_check_names(opt->names, &err) < 0) {
        fprintf(stderr, "sampan controllers: %s\n", err.message);
        return EXIT_MISUSED + 1;
    }
    return 0;
}

/* What pods believe: a file, or what the configuration believes. */
static int load_root_ca(struct job *j, const struct spn_config *cfg, struct buf *ret,
                        struct spn_err *err)
{
    struct arena a;
    enum { CA_MAX = 1 << 20 };
    const char *file = j->root_ca_file ? j->root_ca_file : cfg->ca_data.n ? NULL : cfg->ca_file.p;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = 0;
    if (file && file_read(file, CA_MAX, ret, &why) < 0)
        r = spn_err_set(err, SPN_INVALID, STR_FMT, STR_ARG(why.msg));
    j->program.opt.root_ca = file ? (struct spn_text){ ret->p, ret->n } : cfg->ca_data;
    arena_done(&a);
    return r;
}

/* The key that signs tokens, if there is one. */
static int load_key(struct job *j, struct spn_err *err)
{
    enum { KEY_MAX = 1 << 16 };
    struct arena a;
    autobuf pem = { 0 };
    if (!j->key_file)
        return 0;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = 0;
    if (file_read(j->key_file, KEY_MAX, &pem, &why) < 0 ||
        signature_key_read(buf_str(&pem), &j->program.key, &why) < 0)
        r = spn_err_set(err, SPN_INVALID, STR_FMT, STR_ARG(why.msg));
    arena_done(&a);
    return r;
}

/* The CA that signs requests, if there is one. */
static int load_signing_ca(struct job *j, struct buf *cert, struct buf *key, struct spn_err *err)
{
    enum { PEM_MAX = 1 << 16 };
    struct arena a;
    if (!j->signing_cert_file != !j->signing_key_file)
        return spn_err_set(
            err, SPN_INVALID,
            "--cluster-signing-cert-file and --cluster-signing-key-file go together");
    if (!j->signing_cert_file)
        return 0;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = 0;
    if (file_read(j->signing_cert_file, PEM_MAX, cert, &why) < 0 ||
        file_read(j->signing_key_file, PEM_MAX, key, &why) < 0)
        r = spn_err_set(err, SPN_INVALID, STR_FMT, STR_ARG(why.msg));
    j->program.opt.ca_cert = (struct spn_text){ cert->p, cert->n };
    j->program.opt.ca_key = (struct spn_text){ key->p, key->n };
    arena_done(&a);
    return r;
}

static int run(void *self, const struct spn_config *cfg, struct spn_stop *stop, struct spn_err *err)
{
    struct job *j = self;
    autobuf root_ca = { 0 }, signing_cert = { 0 }, signing_key = { 0 };
    int r = load_root_ca(j, cfg, &root_ca, err);
    if (r < 0)
        return r;
    r = load_signing_ca(j, &signing_cert, &signing_key, err);
    if (r < 0)
        return r;
    r = load_key(j, err);
    if (r < 0)
        return r;
    r = program_controllers_run(&j->program, cfg, stop, err);
    signature_key_free(j->program.key);
    return r;
}

int cmd_controllers(int argc, char **argv)
{
    struct job j = { .program = program_controllers_usual() };
    return program_main(argc, argv, &(struct program_command){ parse, run, &j });
}
