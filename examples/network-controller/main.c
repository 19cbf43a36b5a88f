/* main.c - the network controller: flags, a client, and controller_run() until a signal comes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sampan/config.h>
#include <sampan/log.h>
#include <sampan/stop.h>

#include "controller.h"

static const char help[] =
    "usage: network-controller [--cni-dir FOLDER] [--resync SECONDS] [FLAGS OF KUBECTL]\n"
    "\n"
    "Makes a Linux bridge of each Network (samplecrd.k8s.io/v1) on this machine.\n"
    "\n"
    "  --cni-dir FOLDER    where a CNI configuration is written for each network\n"
    "  --resync SECONDS    how often everything is looked at again (60; 0: never)\n"
    "  --kubeconfig FILE, --context NAME, --server URL, --token TOKEN, ...\n"
    "                      which server, and as whom, as for kubectl\n";

/* The value of a flag that is at argv[*i], as "--name=value" or "--name value"; else NULL. */
static const char *flag_value(char **argv, int *i, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(argv[*i], name, n) != 0)
        return NULL;
    if (argv[*i][n] == '=')
        return argv[*i] + n + 1;
    return argv[*i][n] == 0 && argv[*i + 1] ? argv[++*i] : NULL;
}

static bool read_seconds(const char *text, int64_t *ret_ms)
{
    char *end;
    long seconds = strtol(text, &end, 10);
    if (end == text || *end || seconds < 0 || seconds > 86400)
        return false;
    *ret_ms = seconds * 1000;
    return true;
}

static int read_flags(char **argv, struct controller_options *ret, struct spn_err *err)
{
    for (int i = 1; argv[i]; i++) {
        const char *value;
        if ((value = flag_value(argv, &i, "--cni-dir")))
            ret->cni_folder = *value ? value : NULL;
        else if ((value = flag_value(argv, &i, "--resync")) && read_seconds(value, &ret->resync_ms))
            continue;
        else
            return spn_err_set(err, SPN_BAD_REQUEST, "%s makes no sense here; see --help", argv[i]);
    }
    return 0;
}

static int run_with(const struct spn_config *config, struct controller_options *opt,
                    struct spn_err *err)
{
    int r = spn_client_new(config, &opt->client, err);
    if (r < 0)
        return r;
    r = controller_run(opt, err);
    spn_client_free(opt->client);
    return r;
}

static int run(struct spn_arena *a, int argc, char **argv, struct spn_err *err)
{
    struct spn_config_options flags = { .user_agent = "network-controller" };
    struct controller_options opt = { .resync_ms = 60000 };
    struct spn_config config;
    int r = spn_config_flags(a, &argc, argv, &flags, err);
    if (r < 0)
        return r;
    r = read_flags(argv, &opt, err);
    if (r < 0)
        return r;
    r = spn_config_load(&flags, a, &config, err);
    if (r < 0)
        return r;
    opt.stop = spn_stop_new();
    spn_stop_on_signals(opt.stop);
    r = run_with(&config, &opt, err);
    spn_stop_free(opt.stop);
    return r;
}

int main(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return fputs(help, stdout) < 0;
    spn_log_to(spn_log_stderr, NULL, SPN_LOG_INFO);
    struct spn_arena *a = spn_arena_new();
    struct spn_err err;
    int r = run(a, argc, argv, &err);
    if (r < 0)
        fprintf(stderr, "network-controller: %s\n", err.message);
    spn_arena_free(a);
    return r < 0;
}
