/* mesh: the control plane of a service mesh. */
#include "main/command.h"

#include <getopt.h>
#include <stdio.h>

#include "client/bridge.h"
#include "main/program.h"
#include "mesh/mesh.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan mesh [OPTION]...\n"
    "Configures Envoys over xDS from Services, Istio's API and the Gateway API, until it is\n"
    "stopped.\n"
    "\n"
    "  --listen ADDRESS          where proxies come in the clear (default 127.0.0.1:15010)\n"
    "  --root-namespace NS       where rules for all namespaces are (default istio-system)\n"
    "  --domain ZONE             the cluster's domain (default cluster.local)\n"
    "  --trust-plain-proxies     believe proxies that come in the clear who they say they are, and\n"
    "                            send them the Secrets of their namespace; for tests\n"
    "Which server, and as whom, is said by the flags that kubectl has: --kubeconfig, --context,\n"
    "--as and so on.\n";

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, void *self)
{
    struct mesh_options *opt = self;
    static const struct option flags[] = {
        { "listen", required_argument, NULL, 'l' },
        { "root-namespace", required_argument, NULL, 'r' },
        { "domain", required_argument, NULL, 'd' },
        { "trust-plain-proxies", no_argument, NULL, 't' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        switch (c) {
        case 'l':
            opt->listen = str_of(optarg);
            break;
        case 'r':
            opt->root_ns = str_of(optarg);
            break;
        case 'd':
            opt->domain = str_of(optarg);
            break;
        case 't':
            opt->trusts_plain = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 1;
        default:
            return command_misused(argv[0]) + 1;
        }
    }
    return optind < argc ? command_unexpected(argv[0], argv[optind]) + 1 : 0;
}

static int run(void *self, const struct spn_config *cfg, struct spn_stop *stop, struct spn_err *ret)
{
    struct spn_client *client;
    struct arena a;
    int r = spn_client_new(cfg, &client, ret);
    if (r < 0)
        return r;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    r = mesh_run(self, client, stop, &err);
    if (r < 0)
        r = err_out(ret, &err, SPN_UNAVAILABLE);
    spn_client_free(client);
    arena_done(&a);
    return r;
}

int cmd_mesh(int argc, char **argv)
{
    struct mesh_options opt = { .listen = STR("127.0.0.1:15010"),
                                .root_ns = STR("istio-system"),
                                .domain = STR("cluster.local") };
    return program_main(argc, argv, &(struct program_command){ parse, run, &opt });
}
