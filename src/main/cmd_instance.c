/* down and status: stops the control plane of a folder, and says whether it runs. */
#include "main/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "main/ask.h"
#include "main/instance.h"
#include "base/banned.h"

/* Asks the process to stop and waits until it has let go of the folder. */
static int stop(struct arena *a, const char *dir, const struct instance *in, struct err *err)
{
    enum { STEP_MS = 10, PATIENCE_MS = LIMIT_DRAIN_MS + 20000 };
    if (in->pid <= 0)
        return err_set(err, ERR_UNAVAILABLE,
                       "the control plane is still starting; try again in a moment");
    if (kill((pid_t)in->pid, SIGTERM) < 0)
        return err_errno(err, errno, "stop process %ld", in->pid);
    struct instance now = *in;
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        int r = instance_look(a, dir, &now, err);
        if (r < 0)
            return r;
        if (!now.running)
            return 0;
        (void)nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * NS_PER_MS }, NULL);
    }
    return err_set(err, ERR_TIMEOUT, "process %ld did not stop in time", in->pid);
}

static int stop_if_running(struct arena *a, const char *dir, void *arg, struct err *err)
{
    (void)arg;
    struct instance in;
    int r = instance_look(a, dir, &in, err);
    if (r < 0)
        return r;
    if (in.running)
        return stop(a, dir, &in, err);
    printf("sampan is not running in %s\n", dir);
    return 0;
}

/* What waits for initializers, for as long as one waits for an answer to `status`. */
static void say_what_waits(struct arena *a, const char *dir, struct str address)
{
    enum { PATIENCE_MS = 5000 };
    struct fetch_reply reply;
    struct err err = ERR_INIT(a);
    const struct fetch_request req = { .method = STR("GET"),
                                       .url = STR("/sampan/v1/waiting"),
                                       .timeout_ms = PATIENCE_MS };
    if (ask_running(a, dir, address, &req, &reply, &err) < 0)
        printf("it does not answer: " STR_FMT "\n", STR_ARG(err.msg));
    else if (reply.status == 200)
        printf(STR_FMT, STR_ARG(reply.body));
}

static int say_where(struct arena *a, const char *dir, void *arg, struct err *err)
{
    enum { NOT_RUNNING = 3 };
    (void)arg;
    struct instance in;
    int r = instance_look(a, dir, &in, err);
    if (r < 0)
        return r;
    if (!in.running) {
        printf("sampan is not running in %s\n", dir);
        return NOT_RUNNING;
    }
    printf("sampan serves https://" STR_FMT " from %s (process %ld)\n", STR_ARG(in.address), dir,
           in.pid);
    say_what_waits(a, dir, in.address);
    return 0;
}

static int run(int argc, char **argv, const char *usage, command_act *act)
{
    const char *dir = NULL;
    int end = command_parse_dir(argc, argv, usage, &dir);
    return end ? end - 1 : command_in_folder(argv[0], dir, act, NULL);
}

int cmd_down(int argc, char **argv)
{
    return run(argc, argv,
               "Usage: sampan down [--data-dir DIR]\n"
               "Stops the control plane that serves from DIR, and waits until it has stopped.\n",
               stop_if_running);
}

int cmd_status(int argc, char **argv)
{
    return run(argc, argv,
               "Usage: sampan status [--data-dir DIR]\n"
               "Says whether a control plane serves from DIR; exit status 3 if not. Objects that\n"
               "wait for initializers are named.\n",
               say_where);
}
