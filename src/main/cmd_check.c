/* check: compares all data of a control plane with its checksums, and repairs on request. */
#include "main/command.h"

#include <getopt.h>
#include <stdio.h>

#include "base/mem.h"
#include "main/instance.h"
#include "store/store.h"
#include "base/banned.h"

struct job {
    const char *dir;
    bool repairs;
};

static const char usage[] =
    "Usage: sampan check [--data-dir DIR] [--repair]\n"
    "Reads all data in DIR and names what is damaged. The control plane must not be running.\n\n"
    "  --repair  take damaged data out and name it; it is kept in DIR/store/damaged.N\n\n"
    "Exit status: 0 if nothing is damaged or everything was repaired, else 1. Clients no longer "
    "see\n"
    "what a repair takes out. A backup may still have it; see `sampan restore`.\n";

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, struct job *ret)
{
    static const struct option flags[] = {
        { "data-dir", required_argument, NULL, 'd' },
        { "repair", no_argument, NULL, 'r' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'd') {
            ret->dir = optarg;
        } else if (c == 'r') {
            ret->repairs = true;
        } else if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        } else {
            return command_misused(argv[0]) + 1;
        }
    }
    return argc == optind ? 0 : command_unexpected(argv[0], argv[optind]) + 1;
}

static void on_damaged(void *arg, struct str key, struct str what)
{
    const struct job *job = arg;
    printf("%s " STR_FMT ": " STR_FMT "\n", job->repairs ? "taken out" : "damaged", STR_ARG(key),
           STR_ARG(what));
}

static int check(struct arena *a, const char *dir, void *arg, struct err *err)
{
    struct job *job = arg;
    struct instance in = { 0 };
    int r = instance_look(a, dir, &in, err);
    if (r < 0)
        return r;
    if (in.running)
        return err_set(err, ERR_CONFLICT,
                       "the control plane is running (process %ld); stop it first", in.pid);
    autoclose int lock_fd = instance_claim(dir, err);
    if (lock_fd < 0)
        return lock_fd;
    const char *store_dir = arena_printf(a, "%s/store", dir).p;
    struct store_skip told = { on_damaged, job };
    r = job->repairs ? store_repair(store_dir, &told, err) : 0;
    if (r < 0)
        return r;
    r = store_verify(store_dir, job->repairs ? NULL : &told, err);
    if (r < 0)
        return r;
    puts("no damage found");
    return 0;
}

int cmd_check(int argc, char **argv)
{
    struct job job = { 0 };
    int end = parse(argc, argv, &job);
    return end ? end - 1 : command_in_folder(argv[0], job.dir, check, &job);
}
