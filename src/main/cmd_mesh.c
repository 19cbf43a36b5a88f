/* mesh: the control plane of a service mesh. */
#include "main/command.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "client/bridge.h"
#include "main/program.h"
#include "mesh/mesh.h"
#include "net/outgoing/fetch.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan mesh [OPTION]...\n"
    "       sampan mesh status [PROXY]    what proxies were sent, took and refused\n"
    "       sampan mesh config PROXY      its clusters, endpoints, listeners and routes\n"
    "       sampan mesh routes PROXY      its routes alone\n"
    "Configures Envoys over xDS from Services, Istio's API and the Gateway API, until it is\n"
    "stopped.\n"
    "\n"
    "  --listen ADDRESS          where proxies come in the clear (default 127.0.0.1:15010)\n"
    "                            status and others ask there, too\n"
    "  --root-namespace NS       where rules for all namespaces are (default istio-system)\n"
    "  --domain ZONE             the cluster's domain (default cluster.local)\n"
    "  --trust-plain-proxies     believe proxies that come in the clear who they say they are, "
    "and\n"
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

/* Asks a mesh that runs: "http://ADDRESS/WORD?PROXY". */
static int ask(struct arena *a, struct str address, const char *word, const char *proxy,
               struct value *ret, struct err *err)
{
    struct fetch_reply reply;
    struct fetcher *fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    struct fetch_request req = { .method = STR("GET"),
                                 .url = arena_printf(a, "http://" STR_FMT "/%s?%s",
                                                     STR_ARG(address), word, proxy) };
    int r = fetch(fetcher, &req, a, &reply, err);
    fetcher_free(fetcher);
    if (r < 0)
        return err_wrap(err, "ask the mesh at " STR_FMT, STR_ARG(address));
    return json_read(a, reply.body, NULL, ret, err);
}

static void print_status(const struct value *list)
{
    printf("%-60s %-6s %-9s %-9s %-9s %-9s %-9s\n", "PROXY", "DELTA", "CLUSTERS", "ENDPOINTS",
           "LISTENERS", "ROUTES", "SECRETS");
    value_each_item (it, list) {
        static const char *const types[] = { "clusters", "endpoints", "listeners", "routes",
                                             "secrets" };
        const struct value *of = value_get(it, STR("types"));
        printf("%-60.*s %-6s", STR_ARG(value_text(it, "proxy")),
               value_is_true(value_get(it, STR("delta"))) ? "yes" : "no");
        for (size_t i = 0; i < 5; i++)
            printf(" %-9.*s", STR_ARG(value_text(value_get(of, str_of(types[i])), "state")));
        putchar('\n');
        for (size_t i = 0; i < 5; i++) {
            struct str why = value_text(value_get(of, str_of(types[i])), "why");
            if (why.n)
                printf("  refused %s: " STR_FMT "\n", types[i], STR_ARG(why));
        }
    }
}

static int show(int argc, char **argv, const struct mesh_options *opt)
{
    struct arena a;
    struct value v;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    const char *word = argv[1], *proxy = argc > 2 ? argv[2] : "";
    bool is_status = strcmp(word, "status") == 0;
    int r = ask(&a, opt->listen, is_status ? "status" : "config", proxy, &v, &err);
    if (r < 0) {
        fprintf(stderr, "sampan mesh: " STR_FMT "\n", STR_ARG(err.msg));
    } else if (is_status) {
        print_status(&v);
    } else {
        autobuf out = { 0 };
        const struct value *config = value_get(value_at(&v, 0), STR("config"));
        if (strcmp(word, "routes") == 0)
            config = value_get(config, STR("routes"));
        if (config)
            json_write_pretty(&out, config);
        printf(STR_FMT "\n", STR_ARG(out.n ? buf_str(&out) : STR("no such proxy")));
        r = config ? 0 : -1;
    }
    arena_done(&a);
    return r < 0 ? 1 : 0;
}

static bool is_question(const char *word)
{
    return word && (strcmp(word, "status") == 0 || strcmp(word, "config") == 0 ||
                    strcmp(word, "routes") == 0);
}

int cmd_mesh(int argc, char **argv)
{
    struct mesh_options opt = { .listen = STR("127.0.0.1:15010"),
                                .root_ns = STR("istio-system"),
                                .domain = STR("cluster.local") };
    if (argc > 1 && is_question(argv[1])) {
        if (argc > 3 && strcmp(argv[argc - 2], "--listen") == 0) {
            opt.listen = str_of(argv[argc - 1]);
            argc -= 2;
        }
        return show(argc, argv, &opt);
    }
    return program_main(argc, argv, &(struct program_command){ parse, run, &opt });
}
