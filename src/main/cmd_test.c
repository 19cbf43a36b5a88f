/* test: a command with a control plane of its own, which lives as long as the command does.
 *
 * The control plane is this process, so it cannot outlive us; the command is our child. What kills
 * us without a word ends the command, too. */
#include "main/command.h"

#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/idiom.h"
#include "main/assets.h"
#include "main/up_options.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan test [OPTION OF 'up']... -- COMMAND [ARGUMENT]...\n"
    "Runs a command with a control plane of its own, and ends with the status of the command.\n"
    "\n"
    "The control plane has a free port, keeps its objects in memory and is gone with all of its\n"
    "files when the command has ended. Controllers and scheduler run; --api-only leaves them out,\n"
    "--simulate-nodes 3 adds nodes, --verbose says more. The command finds in its environment:\n"
    "\n"
    "  KUBECONFIG          the admin's kubeconfig\n"
    "  KUBEBUILDER_ASSETS  kube-apiserver and etcd, for suites that start their own\n"
    "\n"
    "With USE_EXISTING_CLUSTER=true such suites use this control plane instead.\n";

/* What is passed on to the command. */
static const int passed[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

struct visit {
    const char *dir;
    char **command; /* ends with NULL */
    sigset_t signals, old_mask;
};

/* ---- The command ---- */

static bool is_named(const char *entry, struct str name)
{
    return str_starts(str_of(entry), name) && entry[name.n] == '=';
}

/* Ours, with what the command is told. */
static char **make_environment(struct arena *a, const char *kubeconfig, const char *assets)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **all = arena_array(a, char *, n + 3);
    for (size_t i = 0; i < n; i++)
        if (!is_named(environ[i], STR("KUBECONFIG")) &&
            !is_named(environ[i], STR("KUBEBUILDER_ASSETS")))
            all[kept++] = environ[i];
    all[kept++] = (char *)arena_printf(a, "KUBECONFIG=%s", kubeconfig).p;
    all[kept++] = (char *)arena_printf(a, "KUBEBUILDER_ASSETS=%s", assets).p;
    return all;
}

enum { STATUS_NOT_RUN = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

/* In the child: nothing but system calls, since other threads held locks when it was made. */
__attribute__((noreturn)) static void become_command(const struct visit *v, char **environment,
                                                     pid_t parent)
{
    static const char unfound[] = "sampan test: there is no such command\n";
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(STATUS_NOT_RUN); /* it ended before we said so */
    (void)signal(SIGPIPE, SIG_DFL);
    (void)pthread_sigmask(SIG_SETMASK, &v->old_mask, NULL);
    (void)execvpe(v->command[0], v->command, environment);
    bool is_unfound = errno == ENOENT;
    if (is_unfound)
        (void)!write(STDERR_FILENO, unfound, sizeof(unfound) - 1);
    else
        perror("sampan test");
    _exit(is_unfound ? STATUS_NOT_FOUND : STATUS_NOT_RUN);
}

/* What a terminal sends reaches the command without us. */
static void pass_on(pid_t child, const siginfo_t *info)
{
    if (info->si_code != SI_KERNEL)
        (void)kill(child, info->si_signo);
}

static int wait_for(const struct visit *v, pid_t child)
{
    for (;;) {
        siginfo_t info;
        int status;
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
        if (sigwaitinfo(&v->signals, &info) > 0 && info.si_signo != SIGCHLD)
            pass_on(child, &info);
    }
}

/* ---- Its folder ---- */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_folder(const char *dir)
{
    enum { OPEN_MAX = 16 };
    (void)nftw(dir, remove_entry, OPEN_MAX, FTW_DEPTH | FTW_PHYS);
}

static int run_command(void *self, struct str address, const char *kubeconfig, struct err *err)
{
    const struct visit *v = self;
    const char *assets = arena_printf(err->arena, "%s/assets", v->dir).p;
    bool has_kubectl;
    (void)address;
    int r = assets_make(err->arena, assets, &has_kubectl, err);
    if (r < 0)
        return r;
    char **environment = make_environment(err->arena, kubeconfig, assets);
    pid_t self_pid = getpid();
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return err_errno(err, errno, "fork");
    if (child == 0)
        become_command(v, environment, self_pid);
    int status = wait_for(v, child);
    remove_folder(v->dir); /* a server in memory needs it no more, even if it does not end well */
    return status;
}

/* ---- The command line ---- */

static void block_signals(struct visit *v)
{
    sigemptyset(&v->signals);
    for (size_t i = 0; i < ARRAY_LEN(passed); i++)
        sigaddset(&v->signals, passed[i]);
    sigaddset(&v->signals, SIGCHLD);
    (void)pthread_sigmask(SIG_BLOCK, &v->signals, &v->old_mask);
}

static int visit(struct visit *v, struct up_options *opt)
{
    const char *tmp = getenv("TMPDIR");
    char dir[4096];
    if (snprintf(dir, sizeof(dir), "%s/sampan-test-XXXXXX", tmp && *tmp ? tmp : "/tmp") >=
            (int)sizeof(dir) ||
        !mkdtemp(dir)) {
        perror("sampan test: make a folder");
        return 1;
    }
    v->dir = opt->dir = dir;
    opt->guest = (struct up_guest){ .run = run_command, .self = v };
    int status = up_run("test", opt);
    remove_folder(dir);
    return status;
}

static int misuse(const char *why)
{
    fprintf(stderr, "sampan test: %s\n", why);
    return command_misused("test");
}

/* Before those of the user, so that his count. */
static int parse(int n, char **words, struct up_options *ret)
{
    static const char *const usual[] = { "test", "--store=memory", "--listen=127.0.0.1:0" };
    enum { N_USUAL = ARRAY_LEN(usual) };
    struct arena a;
    arena_init(&a);
    char **argv = arena_array(&a, char *, N_USUAL + (size_t)n + 1);
    memcpy(argv, usual, sizeof(usual));
    memcpy(argv + N_USUAL, words, (size_t)n * sizeof(*words));
    int end = up_options_parse(N_USUAL + n, argv, ret);
    arena_done(&a);
    return end;
}

/* How many words stand before "--". */
static int count_options(int argc, char **argv)
{
    int n = 0;
    while (n < argc && strcmp(argv[n], "--") != 0)
        n++;
    return n;
}

int cmd_test(int argc, char **argv)
{
    struct visit v = { 0 };
    struct up_options opt;
    int n = count_options(argc - 1, argv + 1);
    for (int i = 1; i <= n; i++)
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        }
    if (n + 2 >= argc)
        return misuse("which command? It stands behind --");
    v.command = argv + n + 2;
    int end = parse(n, argv + 1, &opt);
    if (end)
        return end - 1;
    if (opt.dir || opt.detach || opt.engine != STORE_MEMORY)
        return misuse("it keeps objects in memory, in a process that stays in the foreground");
    if (opt.log_level == LOG_INFO)
        opt.log_level = LOG_WARN;
    block_signals(&v);
    return visit(&v, &opt);
}
