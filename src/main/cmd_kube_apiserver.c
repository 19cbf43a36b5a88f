/* kube-apiserver: the API server with upstream's flags, for programs that start one. */
#include "main/command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "main/kube_apiserver.h"
#include "main/up_options.h"
#include "base/banned.h"

/* What a user should know before it serves, a line each. */
static void say_notes(const struct kube_apiserver_line *line)
{
    if (line->unknown.n)
        fprintf(stderr, "sampan kube-apiserver: flags that mean nothing here: " STR_FMT "\n",
                STR_ARG(line->unknown));
    if (line->unused_etcd)
        fprintf(stderr, "sampan kube-apiserver: %s is not used, because of SAMPAN_STORE\n",
                line->unused_etcd);
}

static int run(struct arena *a, int argc, char **argv)
{
    const struct kube_apiserver_wishes wishes = { .controllers = getenv("SAMPAN_CONTROLLERS"),
                                                  .store = getenv("SAMPAN_STORE") };
    struct kube_apiserver_line line;
    struct up_options opt;
    int end = kube_apiserver_parse(a, argc, argv, &wishes, &line);
    if (end)
        return end - 1;
    optind = 0; /* glibc: start over */
    end = up_options_parse(line.argc, line.argv, &opt);
    if (end)
        return end - 1;
    say_notes(&line);
    return up_run("kube-apiserver", &opt);
}

int cmd_kube_apiserver(int argc, char **argv)
{
    struct arena a;
    arena_init(&a);
    int status = run(&a, argc, argv);
    arena_done(&a);
    return status;
}
