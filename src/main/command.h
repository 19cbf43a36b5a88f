/* command.h - the sub-commands of `sampan`: one row and one file each. */
#pragma once

#include "base/err.h"

struct command {
    const char *name;
    const char *summary;
    /* argv[0] is the sub-command's name. Returns the exit status; has said what went wrong. */
    int (*run)(int argc, char **argv);
};

int cmd_up(int argc, char **argv);
int cmd_down(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_backup(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_kubeconfig(int argc, char **argv);
int cmd_certs(int argc, char **argv);
int cmd_scrub(int argc, char **argv);
int cmd_dns(int argc, char **argv);
int cmd_mesh(int argc, char **argv);
int cmd_etcd(int argc, char **argv);
int cmd_kube_apiserver(int argc, char **argv);
int cmd_assets(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_controllers(int argc, char **argv);
int cmd_node(int argc, char **argv);
int cmd_nodes(int argc, char **argv);
int cmd_scheduler(int argc, char **argv);
int cmd_xray(int argc, char **argv);
int cmd_version(int argc, char **argv);

enum { EXIT_MISUSED = 2 };

/* Both print to standard error, the second names `word`, and return EXIT_MISUSED. */
int command_misused(const char *name);
int command_unexpected(const char *name, const char *word);
/* The arguments of a command whose only flag is --data-dir. 0, or an exit status + 1. */
int command_parse_dir(int argc, char **argv, const char *usage, const char **ret);

/* What a command does in the data folder `dir`. Returns an exit status, or a negative code with
 * `*err` filled. The arena lives as long as the call. */
typedef int command_act(struct arena *a, const char *dir, void *arg, struct err *err);

/* The frame of every command that works in a data folder: finds the folder (`given_dir`, or the
 * default one if that is NULL), calls `act` there and prints its error as "sampan NAME: ...".
 * Returns the exit status. */
int command_in_folder(const char *name, const char *given_dir, command_act *act, void *arg);
