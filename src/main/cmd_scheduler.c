/* scheduler: gives pods a node, alone, against any API server. */
#include "main/command.h"

#include <getopt.h>
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "main/program_scheduler.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan scheduler [OPTION]...\n"
    "Gives pods a node, until it is stopped.\n"
    "\n"
    "  --config FILE           a KubeSchedulerConfiguration: profiles, plugins, weights\n"
    "  --leader-elect=BOOL     only one of several works (default true)\n"
    "  --health-address ADDR   where /healthz, /readyz and /metrics are\n"
    "Which server, and as whom, is said by the flags that kubectl has: --kubeconfig, --context,\n"
    "--as and so on.\n";

struct job {
    struct program_scheduler program;
    const char *config_file;
};

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, void *self)
{
    struct job *j = self;
    static const struct option flags[] = {
        { "config", required_argument, NULL, 'c' },
        { "leader-elect", optional_argument, NULL, 'l' },
        { "health-address", required_argument, NULL, 'a' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'c') {
            j->config_file = optarg;
        } else if (c == 'l') {
            if (!program_bool(optarg, &j->program.manager.elects))
                return command_misused(argv[0]) + 1;
        } else if (c == 'a') {
            j->program.manager.health = optarg;
        } else if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        } else {
            return command_misused(argv[0]) + 1;
        }
    }
    return optind < argc ? command_unexpected(argv[0], argv[optind]) + 1 : 0;
}

static int load_config(const char *path, struct buf *ret, struct spn_err *err)
{
    struct arena a;
    enum { CONFIG_MAX = 1 << 20 };
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = 0;
    if (file_read(path, CONFIG_MAX, ret, &why) < 0)
        r = spn_err_set(err, SPN_FILE, STR_FMT, STR_ARG(why.msg));
    arena_done(&a);
    return r;
}

static int run(void *self, const struct spn_config *cfg, struct spn_stop *stop, struct spn_err *err)
{
    struct job *j = self;
    autobuf text = { 0 };
    int r = j->config_file ? load_config(j->config_file, &text, err) : 0;
    if (r < 0)
        return r;
    j->program.opt.config = (struct spn_text){ text.p, text.n };
    return program_scheduler_run(&j->program, cfg, stop, err);
}

int cmd_scheduler(int argc, char **argv)
{
    struct job j = { .program = program_scheduler_usual() };
    return program_main(argc, argv, &(struct program_command){ parse, run, &j });
}
