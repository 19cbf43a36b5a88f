#include "main/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/idiom.h"
#include "server/version.h"
#include "base/banned.h"

static const struct command commands[] = {
    { "up", "start a control plane", cmd_up },
    { "down", "stop a control plane", cmd_down },
    { "status", "say whether a control plane runs, and where", cmd_status },
    { "backup", "write all objects of a control plane to a file", cmd_backup },
    { "restore", "make a data folder from a backup", cmd_restore },
    { "check", "find damaged data, and take it out on request", cmd_check },
    { "kubeconfig", "make a kubeconfig for a colleague", cmd_kubeconfig },
    { "certs", "say which certificates there are and when they end, and renew them", cmd_certs },
    { "scrub", "leave no byte of what was deleted or replaced in the data", cmd_scrub },
    { "dns", "serve the names of a cluster", cmd_dns },
    { "mesh", "configure Envoys as the control plane of a service mesh", cmd_mesh },
    { "test", "run a command with a control plane of its own", cmd_test },
    { "assets", "make a folder with a kube-apiserver, an etcd and a kubectl for test suites",
      cmd_assets },
    { "kube-apiserver", "start an API server with kube-apiserver's flags", cmd_kube_apiserver },
    { "etcd", "serve the etcd API, for a kube-apiserver or anybody else", cmd_etcd },
    { "generate", "make C code and definitions for custom kinds", cmd_generate },
    { "controllers", "run the built-in controllers against an API server", cmd_controllers },
    { "node", "run the pods of a node, by a container runtime", cmd_node },
    { "nodes", "pretend to be nodes that run pods", cmd_nodes },
    { "scheduler", "give pods a node, against an API server", cmd_scheduler },
    { "xray", "show the way of a write through the server", cmd_xray },
    { "version", "print the version", cmd_version },
};
enum { N_COMMANDS = ARRAY_LEN(commands) };

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

static void print_help(FILE *out)
{
    fputs("Sampan is a declarative control plane that speaks the Kubernetes API.\n\n"
          "Usage: sampan COMMAND [OPTION]...\n\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-14s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'sampan COMMAND --help' lists the options of a command.\n", out);
}

int cmd_version(int argc, char **argv)
{
    if (argc > 1) {
        fputs("Usage: sampan version\n", strcmp(argv[1], "--help") ? stderr : stdout);
        return strcmp(argv[1], "--help") ? EXIT_MISUSED : 0;
    }
    puts("sampan " SAMPAN_VERSION " (Kubernetes API " SAMPAN_API_MAJOR "." SAMPAN_API_MINOR ")");
    return 0;
}

/* A link of that name is the command: who looks for an etcd, a kube-apiserver or a kubelet finds
 * one.
 */
static const struct command *called(const char *path)
{
    static const char *const names[][2] = {
        { "etcd", "etcd" },
        { "kube-apiserver", "kube-apiserver" },
        { "kubelet", "node" },
    };
    const char *last = strrchr(path, '/');
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(last ? last + 1 : path, names[i][0]) == 0)
            return find_command(names[i][1]);
    return NULL;
}

int main(int argc, char **argv)
{
    const struct command *by_name = argc > 0 ? called(argv[0]) : NULL;
    if (by_name)
        return by_name->run(argc, argv);
    if (argc < 2) {
        print_help(stderr);
        return EXIT_MISUSED;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return 0;
    }
    const struct command *found = find_command(argv[1]);
    if (found)
        return found->run(argc - 1, argv + 1);
    fprintf(stderr, "sampan: there is no command '%s'. See 'sampan --help'.\n", argv[1]);
    return EXIT_MISUSED;
}
