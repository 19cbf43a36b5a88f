/* scrub: makes the data of a control plane anew, without what was deleted or replaced. */
#include "main/command.h"

#include <stdio.h>

#include "base/mem.h"
#include "main/instance.h"
#include "store/store.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan scrub [--data-dir DIR]\n"
    "Makes the data in DIR anew, so that no file has bytes of what was deleted or replaced: of "
    "Secrets\n"
    "that were stored before they were encrypted, for example. The control plane must not be "
    "running.\n"
    "Objects and their versions stay; clients that watch must list again. It does not reach "
    "backups,\n"
    "DIR/store/damaged.N, or blocks of the disk that no file has any more.\n";

static int scrub(struct arena *a, const char *dir, void *arg, struct err *err)
{
    (void)arg;
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
    r = store_scrub(arena_printf(a, "%s/store", dir).p, err);
    if (r < 0)
        return r;
    puts("what was deleted or replaced is gone");
    return 0;
}

int cmd_scrub(int argc, char **argv)
{
    const char *dir = NULL;
    int end = command_parse_dir(argc, argv, usage, &dir);
    return end ? end - 1 : command_in_folder(argv[0], dir, scrub, NULL);
}
