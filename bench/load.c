/* load.c - load SCENARIO...: puts a Kubernetes API server, or two in turn, under load and says what
 * they did with it. See usage below, and README.md.
 *
 * Everything is bounded by count or by time. With two servers the rounds alternate, so that a slow
 * moment of the machine hits both. Exit: 0, 1 if something could not be done or any answer was not
 * as it should be, 2 for wrong arguments. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "bench/load_report.h"

#include "base/banned.h"

enum {
    MAX_TARGETS = 2,
    MAX_CONNECTIONS = 10000,
    MAX_IN_FLIGHT = 100000,
    MAX_SECONDS = 3600,
    MAX_COUNT = 10000000,
    MAX_SIZE = 1000000, /* a ConfigMap's limit is a MiB */
    MAX_OBJECTS = 1000000,
    MAX_WATCHERS = 20000,
    MAX_ROUNDS = 100,
};

struct load {
    struct load_options opt;
    const char *where[MAX_TARGETS]; /* kubeconfigs or URLs */
    struct load_target targets[MAX_TARGETS];
    size_t n_targets;
    char *filler;
    bool failed; /* something was not as it should be */
};

/* ---- Arguments ---- */

static void usage(FILE *out)
{
    fprintf(out,
            "Usage: load [options] SCENARIO...\n"
            "  --kubeconfig FILE   the server (default: $KUBECONFIG, ~/.kube/config)\n"
            "  --url URL           instead: https://HOST:PORT/FILE, for get and raw\n"
            "  --against FILE|URL  a second server; rounds alternate and the ratio is printed\n"
            "  --connections N     default 4\n"
            "  --in-flight N       requests in flight over all connections; default as listed\n"
            "  --seconds S         of each round, default 5; or\n"
            "  --count N           requests of each round (watch: events)\n"
            "  --warmup S          not counted; default 0.5, none with --count\n"
            "  --rounds N          default 1, with --against 3\n"
            "  --size BYTES        of an object's JSON as it is sent, default 1024\n"
            "  --objects N         for those scenarios that need many, default 1000\n"
            "  --watchers N        default 100\n"
            "  --custom            custom objects instead of ConfigMaps, on the first server\n"
            "  --namespace NAME    default load-XXXXXXXX, made and deleted\n"
            "  --keep              delete nothing\n"
            "  --filled            the objects are there, from an earlier run with --keep\n"
            "  --accept TYPE       what raw asks for, default application/json\n"
            "  --remote            the server need not be on loopback\n"
            "  --json              one line of JSON for each result\n"
            "Scenarios (in flight):\n");
    for (const struct load_scenario *s = load_scenarios; s->name; s++)
        fprintf(out, "  %-10s (%2zu) %s\n", s->name, s->in_flight, s->help);
}

static bool to_size(const char *text, uint64_t most, size_t *ret)
{
    uint64_t n;
    if (!str_to_u64(str_of(text), &n) || n == 0 || n > most)
        return false;
    *ret = n;
    return true;
}

static bool to_seconds(const char *text, double *ret)
{
    char *end;
    double s = strtod(text, &end);
    if (end == text || *end || !(s >= 0) || s > MAX_SECONDS)
        return false;
    *ret = s;
    return true;
}

enum flag {
    FLAG_KUBECONFIG,
    FLAG_AGAINST,
    FLAG_CONNECTIONS,
    FLAG_IN_FLIGHT,
    FLAG_SECONDS,
    FLAG_COUNT,
    FLAG_WARMUP,
    FLAG_ROUNDS,
    FLAG_SIZE,
    FLAG_OBJECTS,
    FLAG_WATCHERS,
    FLAG_CUSTOM,
    FLAG_NAMESPACE,
    FLAG_KEEP,
    FLAG_FILLED,
    FLAG_ACCEPT,
    FLAG_REMOTE,
    FLAG_JSON,
    FLAG_HELP,
};

static const struct option flags[] = {
    { "kubeconfig", required_argument, NULL, FLAG_KUBECONFIG },
    { "url", required_argument, NULL, FLAG_KUBECONFIG },
    { "against", required_argument, NULL, FLAG_AGAINST },
    { "connections", required_argument, NULL, FLAG_CONNECTIONS },
    { "in-flight", required_argument, NULL, FLAG_IN_FLIGHT },
    { "seconds", required_argument, NULL, FLAG_SECONDS },
    { "count", required_argument, NULL, FLAG_COUNT },
    { "warmup", required_argument, NULL, FLAG_WARMUP },
    { "rounds", required_argument, NULL, FLAG_ROUNDS },
    { "size", required_argument, NULL, FLAG_SIZE },
    { "objects", required_argument, NULL, FLAG_OBJECTS },
    { "watchers", required_argument, NULL, FLAG_WATCHERS },
    { "custom", no_argument, NULL, FLAG_CUSTOM },
    { "namespace", required_argument, NULL, FLAG_NAMESPACE },
    { "keep", no_argument, NULL, FLAG_KEEP },
    { "filled", no_argument, NULL, FLAG_FILLED },
    { "accept", required_argument, NULL, FLAG_ACCEPT },
    { "remote", no_argument, NULL, FLAG_REMOTE },
    { "json", no_argument, NULL, FLAG_JSON },
    { "help", no_argument, NULL, FLAG_HELP },
    { 0 },
};

static bool take_number(struct load_options *opt, enum flag flag, const char *text)
{
    size_t n = 0;
    bool ok = true;
    switch (flag) {
    case FLAG_CONNECTIONS:
        return to_size(text, MAX_CONNECTIONS, &opt->connections);
    case FLAG_IN_FLIGHT:
        return to_size(text, MAX_IN_FLIGHT, &opt->in_flight);
    case FLAG_SIZE:
        return to_size(text, MAX_SIZE, &opt->size);
    case FLAG_OBJECTS:
        return to_size(text, MAX_OBJECTS, &opt->objects);
    case FLAG_WATCHERS:
        return to_size(text, MAX_WATCHERS, &opt->watchers);
    case FLAG_SECONDS:
        return to_seconds(text, &opt->seconds) && opt->seconds > 0;
    case FLAG_WARMUP:
        return to_seconds(text, &opt->warmup);
    case FLAG_COUNT:
        ok = to_size(text, MAX_COUNT, &n);
        opt->count = n;
        return ok;
    case FLAG_ROUNDS:
        ok = to_size(text, MAX_ROUNDS, &n);
        opt->rounds = (unsigned)n;
        return ok;
    default:
        return false;
    }
}

static bool take_flag(struct load *l, enum flag flag, const char *text)
{
    switch (flag) {
    case FLAG_KUBECONFIG:
        l->where[0] = text;
        return true;
    case FLAG_AGAINST:
        l->where[1] = text;
        return true;
    case FLAG_NAMESPACE:
        l->opt.namespace = text;
        return strlen(text) < LOAD_NAME_BYTES;
    case FLAG_ACCEPT:
        l->opt.accept = text;
        return true;
    case FLAG_CUSTOM:
        l->opt.custom = true;
        return true;
    case FLAG_KEEP:
        l->opt.keep = true;
        return true;
    case FLAG_FILLED:
        l->opt.filled = true;
        return true;
    case FLAG_REMOTE:
        l->opt.remote = true;
        return true;
    case FLAG_JSON:
        l->opt.json = true;
        return true;
    default:
        return take_number(&l->opt, flag, text);
    }
}

/* 0, or the code to exit with plus one. */
static int read_flags(struct load *l, int argc, char **argv)
{
    int flag, index = 0;
    while ((flag = getopt_long(argc, argv, "h", flags, &index)) != -1) {
        if (flag == 'h' || flag == FLAG_HELP) {
            usage(stdout);
            return 1;
        }
        if (flag == '?') {
            usage(stderr);
            return 3;
        }
        if (!take_flag(l, (enum flag)flag, optarg)) {
            fprintf(stderr, "load: --%s cannot be %s\n", flags[index].name, optarg);
            return 3;
        }
    }
    if (optind == argc) {
        usage(stderr);
        return 3;
    }
    if (l->opt.rounds == 0)
        l->opt.rounds = l->where[1] ? 3 : 1;
    return 0;
}

/* All names are looked at before anything is done. */
static bool check_scenarios(char **argv, int argc)
{
    for (int i = 0; i < argc; i++) {
        if (!load_scenario_find(argv[i])) {
            fprintf(stderr, "load: there is no scenario \"%s\"\n", argv[i]);
            return false;
        }
        if (strcmp(argv[i], "raw") == 0 && (++i == argc || argv[i][0] != '/')) {
            fprintf(stderr, "load: raw needs a PATH that begins with /\n");
            return false;
        }
    }
    return true;
}

/* ---- One scenario ---- */

static void complain(struct load *l, const struct load_target *t, const char *doing,
                     struct err *err)
{
    fprintf(stderr, "load: %s, %s: " STR_FMT "\n", t->label, doing, STR_ARG(err->msg));
    err_clear(err);
    l->failed = true;
}

static struct load_run run_of(struct load *l, const struct load_scenario *s, struct load_target *t,
                              struct load_stats *stats, struct load_meter *meter)
{
    bool by_time = l->opt.count == 0;
    return (struct load_run){ .opt = &l->opt,
                              .scenario = s,
                              .target = t,
                              .stats = stats,
                              .meter = meter,
                              .filler = { l->filler, l->opt.size },
                              .limit = l->opt.count,
                              .seconds = by_time ? l->opt.seconds : 0,
                              .warmup = by_time && !s->consumes ? l->opt.warmup : 0 };
}

static int one_round(struct load *l, struct load_result *result, struct load_target *t, bool first,
                     struct err *err)
{
    const struct load_scenario *s = result->scenario;
    autofree struct load_stats *stats = mem_new(struct load_stats);
    struct load_meter meter = { 0 };
    struct load_run run = run_of(l, s, t, stats, &meter);
    size_t in_flight = l->opt.in_flight ? l->opt.in_flight : s->in_flight;
    int r = first || s->consumes ? load_scenario_fill(&run, err) : 0;
    if (r == 0)
        r = s->measure ? s->measure(&run, err) : load_run_measure(&run, in_flight, err);
    if (r == 0 && s->check && !load_interrupted)
        r = s->check(&run, err);
    if (r < 0)
        return r;
    load_stats_merge(&result->stats, stats);
    load_meter_merge(&result->meter, &meter);
    return 0;
}

static bool all_rounds(struct load *l, struct load_result *results, struct err *err)
{
    for (unsigned round = 0; round < l->opt.rounds && !load_interrupted; round++)
        for (size_t i = 0; i < l->n_targets; i++)
            if (one_round(l, &results[i], &l->targets[i], round == 0, err) < 0) {
                complain(l, &l->targets[i], results[i].scenario->name, err);
                return false;
            }
    return true;
}

static bool serves(struct load *l, const struct load_scenario *s)
{
    for (size_t i = 0; i < l->n_targets; i++)
        if (l->targets[i].plain && !s->plain) {
            fprintf(stderr, "load: %s needs an API server, and %s is a plain URL\n", s->name,
                    l->where[i]);
            l->failed = true;
            return false;
        }
    return true;
}

static void run_scenario(struct load *l, const struct load_scenario *s, struct err *err)
{
    struct load_result *results = mem_array(MAX_TARGETS, sizeof(*results));
    for (size_t i = 0; i < l->n_targets; i++) {
        results[i].scenario = s;
        results[i].target = &l->targets[i];
    }
    bool measured = serves(l, s) && all_rounds(l, results, err);
    for (size_t i = 0; measured && i < l->n_targets; i++) {
        load_report(&results[i], l->opt.json);
        l->failed |= load_stats_errors(&results[i].stats) != 0;
    }
    if (measured && l->n_targets == 2)
        load_report_ratio(&results[0], &results[1], l->opt.json);
    for (size_t i = 0; i < l->n_targets; i++) {
        struct load_target *t = &l->targets[i];
        if (t->namespace[0] && !l->opt.keep && load_target_clear(t, err) < 0)
            complain(l, t, "clean up", err);
    }
    free(results);
}

/* ---- All of them ---- */

static int open_targets(struct load *l, struct arena *a, struct err *err)
{
    static const char *const labels[MAX_TARGETS] = { "ours", "theirs" };
    size_t n = l->where[1] ? 2 : 1;
    for (size_t i = 0; i < n; i++) {
        l->n_targets++;
        int r = load_target_init(&l->targets[i], a, labels[i], l->where[i], l->opt.remote, err);
        if (r < 0)
            return r;
    }
    if (l->opt.custom)
        l->targets[0].resource = &load_custom_maps;
    return 0;
}

static int make_namespaces(struct load *l, struct err *err)
{
    for (size_t i = 0; i < l->n_targets; i++) {
        struct load_target *t = &l->targets[i];
        int r = t->plain ? 0 : load_target_make_namespace(t, l->opt.namespace, err);
        if (r < 0) {
            t->namespace[0] = 0;
            return r;
        }
    }
    return 0;
}

static void close_targets(struct load *l, struct err *err)
{
    for (size_t i = 0; i < l->n_targets; i++) {
        struct load_target *t = &l->targets[i];
        if (!l->opt.keep && load_target_drop_namespace(t, err) < 0)
            complain(l, t, "clean up", err);
        load_target_done(t);
    }
}

static bool needs_namespace(char **argv, int argc)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "raw") != 0)
            return true;
        else
            i++;
    return false;
}

static void run_all(struct load *l, char **argv, int argc, struct arena *a, struct err *err)
{
    int r = open_targets(l, a, err);
    if (r == 0 && needs_namespace(argv, argc))
        r = make_namespaces(l, err);
    if (r < 0)
        complain(l, &l->targets[l->n_targets - 1], "begin", err);
    for (int i = 0; r == 0 && i < argc && !load_interrupted; i++) {
        const struct load_scenario *s = load_scenario_find(argv[i]);
        if (strcmp(s->name, "raw") == 0)
            l->opt.raw_path = argv[++i];
        run_scenario(l, s, err);
    }
    close_targets(l, err);
}

static void on_signal(int number)
{
    (void)number;
    load_interrupted = 1;
}

int main(int argc, char **argv)
{
    struct load l = { .opt = { .connections = 4,
                               .seconds = 5,
                               .warmup = 0.5,
                               .size = 1024,
                               .objects = 1000,
                               .watchers = 100 } };
    int r = read_flags(&l, argc, argv);
    if (r)
        return r - 1;
    if (!check_scenarios(argv + optind, argc - optind))
        return 2;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);

    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    l.filler = load_filler_new(l.opt.size);
    run_all(&l, argv + optind, argc - optind, &a, &err);
    free(l.filler);
    arena_done(&a);
    return l.failed || load_interrupted ? 1 : 0;
}
