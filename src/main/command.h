/* command.h - the sub-commands of `sampan`: one row and one file each. */
#pragma once

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
int cmd_version(int argc, char **argv);

/* Exit status for a wrong command line, after a pointer to --help on standard error. */
int command_misused(const char *name);
