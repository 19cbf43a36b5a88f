/* Probes and lifecycle handlers. */
#include "api/validate/pod/validate_pod.h"
#include "base/idiom.h"
#include "base/banned.h"

static void check_http(struct field_errors *e, const struct field_path *path,
                       const struct value *http)
{
    static const struct str schemes[] = { STR("HTTP"), STR("HTTPS") };
    static const struct str protocols[] = { STR("HTTP1"), STR("HTTP2") };
    struct str scheme = value_text(http, "scheme");
    (void)validate_required(e, path_at(path, "path"), value_text(http, "path"));
    (void)validate_port_or_name(e, path_at(path, "port"), value_get(http, STR("port")));
    (void)validate_one_of(e, path_at(path, "scheme"), scheme, WORDS(schemes));
    value_each_item (it, value_get(http, STR("httpHeaders")))
        (void)validate_header_name(e, path_at(path, "httpHeaders"), value_text(it, "name"));
    const struct value *protocol = validate_member(http, "protocol");
    if (!protocol ||
        !validate_one_of(e, path_at(path, "protocol"), value_str(protocol), WORDS(protocols)) ||
        !str_eq(value_str(protocol), STR("HTTP2")))
        return;
    if (!str_eq(scheme, STR("HTTP")))
        fault_value(e, path_at(path, "protocol"), protocol, "is only supported with HTTP (H2C)");
    else if (value_text(http, "host").n)
        fault_text(e, path_at(path, "host"), value_text(http, "host"),
                   "must be empty when `protocol` is \"HTTP2\"");
}

static void check_exec(struct field_errors *e, const struct field_path *path,
                       const struct value *exec)
{
    if (!validate_count(exec, "command"))
        fault_required(e, path_at(path, "command"), "");
}

static void check_tcp(struct field_errors *e, const struct field_path *path,
                      const struct value *tcp)
{
    (void)validate_port_or_name(e, path_at(path, "port"), value_get(tcp, STR("port")));
}

static void check_grpc(struct field_errors *e, const struct field_path *path,
                       const struct value *grpc)
{
    static const struct str modes[] = { STR("Plaintext"), STR("TLS") };
    (void)validate_port(e, path_at(path, "port"), validate_int(grpc, "port"));
    const struct value *mode = validate_member(grpc, "mode");
    if (mode)
        (void)validate_one_of(e, path_at(path, "mode"), value_str(mode), WORDS(modes));
}

static void check_sleep(struct field_errors *e, const struct field_path *path,
                        const struct value *sleep, const struct pod_scope *scope)
{
    int64_t seconds = validate_int(sleep, "seconds"), grace = validate__int(scope->grace_period);
    if (scope->grace_period && (seconds < 0 || seconds > grace))
        fault_int(e, path, seconds,
                  "must be non-negative and less than terminationGracePeriodSeconds (%ld)",
                  (long)grace);
}

/* One of the handlers, and no second one. */
static void check_handler(struct field_errors *e, const struct field_path *path,
                          const struct value *handler, bool is_probe, const struct pod_scope *scope)
{
    static const struct {
        struct str name;
        void (*check)(struct field_errors *e, const struct field_path *path, const struct value *v);
        bool in_probes, in_lifecycles;
    } kinds[] = {
        { STR("exec"), check_exec, true, true },     { STR("httpGet"), check_http, true, true },
        { STR("tcpSocket"), check_tcp, true, true }, { STR("grpc"), check_grpc, true, false },
        { STR("sleep"), NULL, false, true },
    };
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!(is_probe ? kinds[i].in_probes : kinds[i].in_lifecycles))
            continue;
        const struct value *v = validate__member(handler, kinds[i].name);
        if (!v)
            continue;
        struct field_path at = field_child(path, kinds[i].name);
        if (n++)
            fault_forbidden(e, &at, "may not specify more than 1 handler type");
        else if (kinds[i].check)
            kinds[i].check(e, &at, v);
        else
            check_sleep(e, &at, v, scope);
    }
    if (!n)
        fault_required(e, path, "must specify a handler type");
}

/* ---- Probes ---- */

enum probe { PROBE_LIVENESS, PROBE_READINESS, PROBE_STARTUP };

static void check_probe(struct field_errors *e, const struct field_path *path,
                        const struct value *probe, enum probe kind, const struct pod_scope *scope)
{
    const struct value *grace = validate_member(probe, "terminationGracePeriodSeconds");
    check_handler(e, path, probe, true, scope);
    (void)validate_nonnegative(e, path_at(path, "initialDelaySeconds"),
                               validate_int(probe, "initialDelaySeconds"));
    (void)validate_nonnegative(e, path_at(path, "timeoutSeconds"),
                               validate_int(probe, "timeoutSeconds"));
    (void)validate_nonnegative(e, path_at(path, "periodSeconds"),
                               validate_int(probe, "periodSeconds"));
    (void)validate_nonnegative(e, path_at(path, "successThreshold"),
                               validate_int(probe, "successThreshold"));
    (void)validate_nonnegative(e, path_at(path, "failureThreshold"),
                               validate_int(probe, "failureThreshold"));
    const struct field_path *grace_path = path_at(path, "terminationGracePeriodSeconds");
    if (grace && validate__int(grace) <= 0)
        fault_value(e, grace_path, grace, "must be greater than 0");
    if (kind == PROBE_READINESS && grace)
        fault_value(e, grace_path, grace, "must not be set for readinessProbes");
    if (kind != PROBE_READINESS && validate_int(probe, "successThreshold") != 1)
        fault_int(e, path_at(path, "successThreshold"), validate_int(probe, "successThreshold"),
                  "must be 1");
}

void validate_probes(struct field_errors *e, const struct field_path *path,
                     const struct value *container, const struct pod_scope *scope)
{
    const struct value *liveness = validate_member(container, "livenessProbe"),
                       *readiness = validate_member(container, "readinessProbe"),
                       *startup = validate_member(container, "startupProbe");
    if (liveness)
        check_probe(e, path_at(path, "livenessProbe"), liveness, PROBE_LIVENESS, scope);
    if (readiness)
        check_probe(e, path_at(path, "readinessProbe"), readiness, PROBE_READINESS, scope);
    if (startup)
        check_probe(e, path_at(path, "startupProbe"), startup, PROBE_STARTUP, scope);
}

/* ---- Lifecycle ---- */

static void check_stop_signal(struct field_errors *e, const struct field_path *path,
                              struct str signal, const struct value *os)
{
    /* In the order of the alphabet, as the message has them. */
    static const struct str of_linux[] = {
        STR("SIGABRT"),     STR("SIGALRM"),     STR("SIGBUS"),      STR("SIGCHLD"),
        STR("SIGCLD"),      STR("SIGCONT"),     STR("SIGFPE"),      STR("SIGHUP"),
        STR("SIGILL"),      STR("SIGINT"),      STR("SIGIO"),       STR("SIGIOT"),
        STR("SIGKILL"),     STR("SIGPIPE"),     STR("SIGPOLL"),     STR("SIGPROF"),
        STR("SIGPWR"),      STR("SIGQUIT"),     STR("SIGRTMAX"),    STR("SIGRTMAX-1"),
        STR("SIGRTMAX-10"), STR("SIGRTMAX-11"), STR("SIGRTMAX-12"), STR("SIGRTMAX-13"),
        STR("SIGRTMAX-14"), STR("SIGRTMAX-2"),  STR("SIGRTMAX-3"),  STR("SIGRTMAX-4"),
        STR("SIGRTMAX-5"),  STR("SIGRTMAX-6"),  STR("SIGRTMAX-7"),  STR("SIGRTMAX-8"),
        STR("SIGRTMAX-9"),  STR("SIGRTMIN"),    STR("SIGRTMIN+1"),  STR("SIGRTMIN+10"),
        STR("SIGRTMIN+11"), STR("SIGRTMIN+12"), STR("SIGRTMIN+13"), STR("SIGRTMIN+14"),
        STR("SIGRTMIN+15"), STR("SIGRTMIN+2"),  STR("SIGRTMIN+3"),  STR("SIGRTMIN+4"),
        STR("SIGRTMIN+5"),  STR("SIGRTMIN+6"),  STR("SIGRTMIN+7"),  STR("SIGRTMIN+8"),
        STR("SIGRTMIN+9"),  STR("SIGSEGV"),     STR("SIGSTKFLT"),   STR("SIGSTOP"),
        STR("SIGSYS"),      STR("SIGTERM"),     STR("SIGTRAP"),     STR("SIGTSTP"),
        STR("SIGTTIN"),     STR("SIGTTOU"),     STR("SIGURG"),      STR("SIGUSR1"),
        STR("SIGUSR2"),     STR("SIGVTALRM"),   STR("SIGWINCH"),    STR("SIGXCPU"),
        STR("SIGXFSZ"),
    };
    static const struct str of_windows[] = { STR("SIGKILL"), STR("SIGTERM") };
    struct str name = value_text(os, "name");
    if (!os)
        fault_forbidden(e, path, "may not be set for containers with empty `spec.os.name`");
    else if (str_eq(name, STR("windows")))
        (void)validate_one_of(e, path, signal, WORDS(of_windows));
    else if (str_eq(name, STR("linux")))
        (void)validate_one_of(e, path, signal, WORDS(of_linux));
}

void validate_lifecycle(struct field_errors *e, const struct field_path *path,
                        const struct value *lifecycle, const struct pod_scope *scope)
{
    const struct value *start = validate_member(lifecycle, "postStart"),
                       *stop = validate_member(lifecycle, "preStop"),
                       *signal = validate_member(lifecycle, "stopSignal");
    if (start)
        check_handler(e, path_at(path, "postStart"), start, false, scope);
    if (stop)
        check_handler(e, path_at(path, "preStop"), stop, false, scope);
    if (signal)
        check_stop_signal(e, path_at(path, "stopSignal"), value_str(signal), scope->os);
}
