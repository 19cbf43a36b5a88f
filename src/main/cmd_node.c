/* node: runs the pods of a node, with a container runtime. */
#include <getopt.h>
#include <sampan/log.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "client/bridge.h"
#include "main/command.h"
#include "main/program_node.h"
#include "node/register/bootstrap.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan node [OPTION]...\n"
    "Runs the pods that an API server gives to this node, by a container runtime, until it is\n"
    "stopped; containers go on then. The flags are those of a kubelet.\n"
    "\n"
    "  --config FILE           a KubeletConfiguration; see docs/node.md\n"
    "  --hostname-override NAME\n"
    "                          of the Node (default the name of this machine)\n"
    "  --node-ip IP            of the Node; a comma separates two, one of each family\n"
    "                          (default that of the default route)\n"
    "  --root-dir DIR          volumes and state (default /var/lib/kubelet)\n"
    "  --cert-dir DIR          certificates (default ROOT/pki)\n"
    "  --bootstrap-kubeconfig FILE\n"
    "                          has a token; a certificate is asked for with it, and written to\n"
    "                          where --kubeconfig says\n"
    "  --container-runtime-endpoint SOCKET\n"
    "                          of the runtime (default unix:///run/containerd/containerd.sock)\n"
    "  --node-labels LIST      \"key=value,...\", for the Node\n"
    "  --register-with-taints LIST\n"
    "                          \"key=value:Effect,...\", when the Node is made\n"
    "  --pod-manifest-path DIR static pods\n"
    "Which server, and as whom, is said by the flags that kubectl has: --kubeconfig, --context,\n"
    "and so on.\n";

enum { CONFIG_BYTES_MAX = 1 << 20 };

struct job {
    struct arena arena;
    struct program_node program;
    const char *config_file, *bootstrap;
    struct register_options flags; /* go before what the file says */
    struct str runtime, manifests;
};

/* ---- Flags ---- */

static const struct str *split(struct arena *a, const char *list, size_t *ret_n)
{
    struct str rest = str_of(list);
    size_t n = 0;
    struct str *all = arena_array(a, struct str, rest.n + 1);
    while (rest.n)
        all[n++] = str_cut(&rest, ',');
    *ret_n = n;
    return all;
}

static bool take_flag(int flag, struct job *j)
{
    struct register_options *f = &j->flags;
    switch (flag) {
    case 'c':
        j->config_file = optarg;
        return true;
    case 'n':
        f->name = str_of(optarg);
        return true;
    case 'i':
        f->ips = split(&j->arena, optarg, &f->n_ips);
        return true;
    case 'r':
        f->root_dir = str_of(optarg);
        return true;
    case 'd':
        j->program.cert_dir = optarg;
        return true;
    case 'b':
        j->bootstrap = optarg;
        return true;
    case 'e':
        j->runtime = str_of(optarg);
        return true;
    case 'l':
        f->labels = split(&j->arena, optarg, &f->n_labels);
        return true;
    case 't':
        f->taints = split(&j->arena, optarg, &f->n_taints);
        return true;
    case 'm':
        j->manifests = str_of(optarg);
        return true;
    default:
        return false;
    }
}

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, struct job *j)
{
    static const struct option flags[] = {
        { "config", required_argument, NULL, 'c' },
        { "hostname-override", required_argument, NULL, 'n' },
        { "node-ip", required_argument, NULL, 'i' },
        { "root-dir", required_argument, NULL, 'r' },
        { "cert-dir", required_argument, NULL, 'd' },
        { "bootstrap-kubeconfig", required_argument, NULL, 'b' },
        { "container-runtime-endpoint", required_argument, NULL, 'e' },
        { "node-labels", required_argument, NULL, 'l' },
        { "register-with-taints", required_argument, NULL, 't' },
        { "pod-manifest-path", required_argument, NULL, 'm' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        }
        if (!take_flag(c, j))
            return command_misused(argv[0]) + 1;
    }
    return optind < argc ? command_unexpected(argv[0], argv[optind]) + 1 : 0;
}

/* ---- The file, and the flags over it ---- */

static void lay_over(struct job *j)
{
    struct register_options *to = &j->program.config.node, *f = &j->flags;
    to->name = f->name;
    to->ips = f->ips;
    to->n_ips = f->n_ips;
    to->labels = f->labels;
    to->n_labels = f->n_labels;
    to->root_dir = f->root_dir;
    if (f->n_taints) {
        to->taints = f->taints;
        to->n_taints = f->n_taints;
    }
    if (j->runtime.n)
        j->program.config.runtime_endpoint = j->runtime;
    if (j->manifests.n)
        j->program.config.agent.manifests = j->manifests;
}

static int configure(struct job *j, struct err *err)
{
    struct node_config *c = &j->program.config;
    autobuf text = { 0 };
    if (j->config_file) {
        int r = file_read(j->config_file, CONFIG_BYTES_MAX, &text, err);
        if (r < 0)
            return r;
        r = node_config_read(&j->arena, arena_str(&j->arena, buf_str(&text)), c, err);
        if (r < 0)
            return err_wrap(err, "%s", j->config_file);
    }
    for (size_t i = 0; i < c->n_ignored; i++)
        log_info("node: this field of the configuration has no effect",
                 LOG_STR("field", c->ignored[i]));
    lay_over(j);
    return 0;
}

/* ---- As whom ---- */

static int join(struct job *j, const struct spn_config_options *options, struct spn_stop *stop,
                struct err *err)
{
    const struct register_options *node = &j->program.config.node;
    const struct str root = node->root_dir.n ? node->root_dir : STR("/var/lib/kubelet");
    const struct bootstrap_options opt = {
        .node = node->name,
        .bootstrap_kubeconfig = j->bootstrap,
        .kubeconfig = options->kubeconfig,
        .cert_dir =
            j->program.cert_dir
                ? j->program.cert_dir
                : str_cstr(&j->arena, arena_printf(&j->arena, STR_FMT "/pki", STR_ARG(root))),
        .stop = stop,
    };
    if (!j->bootstrap)
        return 0;
    if (!options->kubeconfig)
        return err_set(err, ERR_INVALID, "--bootstrap-kubeconfig needs --kubeconfig");
    j->program.config.rotates_client = true;
    return bootstrap_run(&opt, err);
}

static int run(struct job *j, const struct spn_config_options *options, struct spn_stop *stop,
               struct spn_err *ret_err)
{
    struct err err = ERR_INIT(&j->arena);
    struct spn_config cfg;
    if (configure(j, &err) < 0 || join(j, options, stop, &err) < 0)
        return spn_err_set(ret_err, SPN_INVALID, STR_FMT, STR_ARG(err.msg));
    int r = spn_config_load(options, arena_out(&j->arena), &cfg, ret_err);
    if (r < 0)
        return r;
    return program_node_run(&j->program, &cfg, stop, ret_err);
}

static int run_until_signal(struct job *j, const struct spn_config_options *options,
                            struct spn_err *err)
{
    struct spn_stop *stop = spn_stop_new();
    (void)spn_stop_on_signals(stop);
    int r = run(j, options, stop, err);
    spn_stop_free(stop);
    return r;
}

int cmd_node(int argc, char **argv)
{
    struct job j = { .program = { .config = node_config_usual() } };
    struct spn_config_options options = { 0 };
    struct spn_err err = { 0 };
    const char *name = argv[0];
    int status;
    program_return_memory();
    arena_init(&j.arena);
    spn_log_to(spn_log_stderr, NULL, SPN_LOG_INFO);
    if (spn_config_flags(arena_out(&j.arena), &argc, argv, &options, &err) < 0) {
        status = command_misused(name);
    } else {
        const int over = parse(argc, argv, &j);
        status = over ? over - 1 : run_until_signal(&j, &options, &err) < 0;
    }
    if (err.code)
        fprintf(stderr, "sampan %s: %s\n", name, err.message);
    arena_done(&j.arena);
    return status;
}
