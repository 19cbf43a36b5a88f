#include "main/command.h"

#include <getopt.h>
#include <stdio.h>

#include "main/instance.h"
#include "base/banned.h"

int command_misused(const char *name)
{
    fprintf(stderr, "See 'sampan %s --help'.\n", name);
    return EXIT_MISUSED;
}

int command_unexpected(const char *name, const char *word)
{
    fprintf(stderr, "sampan %s: unexpected argument '%s'\n", name, word);
    return command_misused(name);
}

int command_in_folder(const char *name, const char *given_dir, command_act *act, void *arg)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    const char *dir = instance_dir(&a, given_dir);
    int r;
    if (dir)
        r = act(&a, dir, arg, &err);
    else
        r = err_set(&err, ERR_BAD_REQUEST, "HOME is not set; use --data-dir DIR");
    if (r < 0)
        fprintf(stderr, "sampan %s: " STR_FMT "\n", name, STR_ARG(err.msg));
    arena_done(&a);
    return r < 0 ? 1 : r;
}

int command_parse_dir(int argc, char **argv, const char *usage, const char **ret)
{
    static const struct option flags[] = {
        { "data-dir", required_argument, NULL, 'd' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'd') {
            *ret = optarg;
        } else if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        } else {
            return command_misused(argv[0]) + 1;
        }
    }
    return argc == optind ? 0 : command_unexpected(argv[0], argv[optind]) + 1;
}
