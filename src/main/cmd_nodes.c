/* nodes: nodes that pretend to run pods, for trying and measuring a control plane. */
#include "main/command.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "api/names.h"
#include "api/quantity.h"
#include "base/str.h"
#include "main/program_nodes.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan nodes simulate [OPTION]...\n"
    "Makes nodes whose pods seem to start, run and end, until it is stopped. No container runs,\n"
    "and addresses of pods lead nowhere (198.18.0.0/15).\n"
    "\n"
    "  --count N       how many nodes (default 1)\n"
    "  --prefix NAME   nodes are named NAME-0, NAME-1, ... (default simulated)\n"
    "  --cpu, --memory, --pods QUANTITY\n"
    "                  what each node has (default 32, 256Gi and 110)\n"
    "  --zones LIST    nodes are dealt out to these zones (default none)\n"
    "  --no-route      the machine's routes are left alone; else, with the right to do so, a\n"
    "                  blackhole is added for those addresses, if there is none\n"
    "  --no-events     events of pods are not written: that saves three writes for each\n"
    "Which server, and as whom, is said by the flags that kubectl has: --kubeconfig, --context,\n"
    "--as and so on.\n";

static bool read_count(const char *text, unsigned *ret)
{
    uint64_t n;
    if (!str_to_u64(str_of(text), &n) || n < 1 || n > SIMULATE_MAX_NODES)
        return false;
    *ret = (unsigned)n;
    return true;
}

/* It begins names of nodes, and is the value of a label. */
static bool is_prefix(const char *text)
{
    enum { LONGEST = 50 };
    struct name_faults faults = { 0 };
    const struct str s = str_of(text);
    return s.n <= LONGEST && name_check(NAME_LABEL, s, &faults);
}

static bool read_quantity(const char *text, const char **ret)
{
    struct arena a;
    struct str canonical;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    const bool is_good = quantity_canonical(&a, str_of(text), &canonical, &err) == 0 &&
                         quantity_sign(str_of(text)) > 0;
    arena_done(&a);
    *ret = text;
    return is_good;
}

/* Each is the value of a label. */
static bool read_zones(const char *text, const char **ret)
{
    struct str rest = str_of(text);
    struct name_faults faults = { 0 };
    *ret = text;
    while (rest.p)
        if (!name_check(NAME_LABEL, str_cut(&rest, ','), &faults))
            return false;
    return true;
}

static bool take_flag(int flag, struct simulate_options *ret)
{
    switch (flag) {
    case 'p':
        ret->prefix = optarg;
        return is_prefix(optarg);
    case 'n':
        return read_count(optarg, &ret->count);
    case 'c':
        return read_quantity(optarg, &ret->cpu);
    case 'm':
        return read_quantity(optarg, &ret->memory);
    case 'P':
        return read_quantity(optarg, &ret->pods);
    case 'z':
        return read_zones(optarg, &ret->zones);
    case 'r':
        ret->leaves_routes = true;
        return true;
    case 'e':
        ret->no_events = true;
        return true;
    default:
        return false;
    }
}

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, void *self)
{
    struct simulate_options *ret = self;
    static const struct option flags[] = {
        { "count", required_argument, NULL, 'n' }, { "prefix", required_argument, NULL, 'p' },
        { "cpu", required_argument, NULL, 'c' },   { "memory", required_argument, NULL, 'm' },
        { "pods", required_argument, NULL, 'P' },  { "zones", required_argument, NULL, 'z' },
        { "no-route", no_argument, NULL, 'r' },    { "no-events", no_argument, NULL, 'e' },
        { "help", no_argument, NULL, 'h' },        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        }
        if (!take_flag(c, ret))
            return command_misused(argv[0]) + 1;
    }
    if (optind == argc || strcmp(argv[optind], "simulate") != 0)
        return command_misused(argv[0]) + 1;
    return optind + 1 < argc ? command_unexpected(argv[0], argv[optind + 1]) + 1 : 0;
}

int cmd_nodes(int argc, char **argv)
{
    struct simulate_options opt = program_nodes_usual();
    return program_main(argc, argv, &(struct program_command){ parse, program_nodes_run, &opt });
}
