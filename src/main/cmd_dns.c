/* dns: the names of a cluster. */
#include "main/command.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "client/bridge.h"
#include "dns/dns_server.h"
#include "main/program.h"
#include <sampan/informer.h>
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan dns [OPTION]...\n"
    "Serves the names of a cluster's services, endpoints and pods over UDP and TCP, until it is\n"
    "stopped. Other names are asked of other name servers.\n"
    "\n"
    "  --listen ADDRESS     where; may be given several times (default 127.0.0.1:53)\n"
    "  --domain ZONE        the cluster's domain (default cluster.local)\n"
    "  --ttl SECONDS        how long answers may be kept (default 30)\n"
    "  --upstream ADDRESS   a name server for other names; may be given several times\n"
    "  --resolv-conf FILE   where name servers are named, without --upstream\n"
    "                       (default /etc/resolv.conf; \"\": other names are refused)\n"
    "Which server, and as whom, is said by the flags that kubectl has: --kubeconfig, --context,\n"
    "--as and so on.\n";

struct dns_program {
    struct dns_server_options opt;
    const char *domain, *resolv_conf;
};

static bool take_upstream(struct dns_program *p, const char *address)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    int r = dns_forward_add(&p->opt.forward, str_of(address), &err);
    if (r < 0)
        fprintf(stderr, "sampan dns: " STR_FMT "\n", STR_ARG(err.msg));
    arena_done(&a);
    return r == 0;
}

static bool take_flag(int flag, struct dns_program *p)
{
    uint64_t n;
    switch (flag) {
    case 'l':
        if (p->opt.n_listen == DNS_LISTEN_MAX)
            return false;
        p->opt.listen[p->opt.n_listen++] = str_of(optarg);
        return true;
    case 'd':
        p->domain = optarg;
        return true;
    case 't':
        if (!str_to_u64(str_of(optarg), &n) || n > 3600)
            return false;
        p->opt.zone.ttl = (uint32_t)n;
        return true;
    case 'u':
        return take_upstream(p, optarg);
    case 'r':
        p->resolv_conf = optarg;
        return true;
    default:
        return false;
    }
}

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, void *self)
{
    struct dns_program *p = self;
    static const struct option flags[] = {
        { "listen", required_argument, NULL, 'l' },
        { "domain", required_argument, NULL, 'd' },
        { "ttl", required_argument, NULL, 't' },
        { "upstream", required_argument, NULL, 'u' },
        { "resolv-conf", required_argument, NULL, 'r' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        }
        if (!take_flag(c, p))
            return command_misused(argv[0]) + 1;
    }
    if (!p->opt.n_listen)
        p->opt.listen[p->opt.n_listen++] = STR("127.0.0.1:53");
    return optind < argc ? command_unexpected(argv[0], argv[optind]) + 1 : 0;
}

static struct spn_cache *follow(struct spn_informers *all, struct spn_target what)
{
    const struct spn_informer_options opt = { .what = what };
    return spn_informer_cache(spn_informers_get(all, &opt));
}

static int serve(struct dns_program *p, struct arena *a, struct spn_informers *all,
                 struct spn_stop *stop, struct err *err)
{
    struct dns_server *server;
    if (!dns_name_parse(a, str_of(p->domain), &p->opt.zone.name) || !p->opt.zone.name.n)
        return err_set(err, ERR_INVALID, "--domain: \"%s\" is no name", p->domain);
    if (!p->opt.forward.n && *p->resolv_conf) {
        int r = dns_forward_read(&p->opt.forward, p->resolv_conf, err);
        if (r < 0)
            return err_wrap(err, "--resolv-conf");
    }
    /* A name that is not known yet would be denied, and remembered so: there are no answers before.
     */
    if (!spn_informers_wait(all, stop, -1))
        return 0;
    int r = dns_server_start(&p->opt, &server, err);
    if (r < 0)
        return r;
    log_info("names are served", LOG_STR("address", dns_server_address(server)),
             LOG_CSTR("domain", p->domain));
    (void)spn_stop_wait(stop, -1);
    dns_server_stop(server);
    return 0;
}

/* Follows what names are made of, and serves. */
static int work(struct dns_program *p, struct arena *a, struct spn_informers *all,
                struct spn_stop *stop, struct spn_err *ret)
{
    const struct spn_target services = SPN_AT("", "v1", "services", "", "");
    const struct spn_target slices = SPN_AT("discovery.k8s.io", "v1", "endpointslices", "", "");
    const struct spn_target namespaces = SPN_AT("", "v1", "namespaces", "", "");
    struct err err = ERR_INIT(a);
    p->opt.zone.services = follow(all, services);
    p->opt.zone.slices = follow(all, slices);
    p->opt.zone.namespaces = follow(all, namespaces);
    int r = spn_informers_start(all, ret);
    if (r < 0)
        return r;
    return serve(p, a, all, stop, &err) < 0 ? err_out(ret, &err, SPN_UNAVAILABLE) : 0;
}

static int run(void *self, const struct spn_config *cfg, struct spn_stop *stop, struct spn_err *ret)
{
    struct spn_client *client;
    struct arena a;
    int r = spn_client_new(cfg, &client, ret);
    if (r < 0)
        return r;
    arena_init(&a);
    struct spn_informers *all = spn_informers_new(client);
    r = work(self, &a, all, stop, ret);
    spn_informers_free(all);
    spn_client_free(client);
    arena_done(&a);
    return r;
}

int cmd_dns(int argc, char **argv)
{
    struct dns_program p = { .opt = { .zone.ttl = 30 },
                             .domain = "cluster.local",
                             .resolv_conf = "/etc/resolv.conf" };
    return program_main(argc, argv, &(struct program_command){ parse, run, &p });
}
