#include "node/agent/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"
#include "node/pod/pod_config.h"

/* A container of the runtime; `is_old`: in a sandbox that is not there any more. */
struct had {
    const char *name;
    enum container_state state;
    int64_t code;
    bool is_old, has_changed;
};

enum { NO_SANDBOX, READY, NOT_READY };

struct row {
    const char *what;
    const char *spec;
    int sandbox;
    struct had have[4];
    enum probe_result startup, liveness; /* of all containers */
    bool restarts_all;
    const char *plan;
};

#define MAIN "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]"
#define TWO  "\"containers\":[{\"name\":\"c\",\"image\":\"i\"},{\"name\":\"d\",\"image\":\"i\"}]"
#define INITS \
    "\"initContainers\":[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"b\",\"image\":\"i\"}]"
#define SIDE "\"initContainers\":[{\"name\":\"s\",\"image\":\"i\",\"restartPolicy\":\"Always\"}]"
#define PROBED                                                                          \
    "\"initContainers\":[{\"name\":\"s\",\"image\":\"i\",\"restartPolicy\":\"Always\"," \
    "\"startupProbe\":{}}]"
#define ALWAYS ",\"restartPolicy\":\"Always\""
#define NEVER  ",\"restartPolicy\":\"Never\""
#define FAILS  ",\"restartPolicy\":\"OnFailure\""

static const struct row rows[] = {
    { "a new pod gets a sandbox and its containers", "{" TWO ALWAYS "}", NO_SANDBOX,
      .plan = "sandbox 0; main 0 1" },
    { "init containers come first", "{" INITS "," MAIN ALWAYS "}", NO_SANDBOX,
      .plan = "sandbox 0; init 0" },
    { "what runs is left alone",
      "{" MAIN ALWAYS "}",
      READY,
      { { "c", CONTAINER_RUNNING } },
      .plan = "" },
    { "what has ended is started again",
      "{" TWO ALWAYS "}",
      READY,
      { { "c", CONTAINER_EXITED, 0 }, { "d", CONTAINER_RUNNING } },
      .plan = "main 0" },
    { "success is enough for OnFailure",
      "{" TWO FAILS "}",
      READY,
      { { "c", CONTAINER_EXITED, 0 }, { "d", CONTAINER_EXITED, 1 } },
      .plan = "main 1" },
    { "nothing is left to run",
      "{" MAIN NEVER "}",
      READY,
      { { "c", CONTAINER_EXITED, 1 } },
      .plan = "kill pod" },
    { "a sandbox that is lost is made again",
      "{" MAIN ALWAYS "}",
      NOT_READY,
      { { "c", CONTAINER_EXITED, 1 } },
      .plan = "kill pod; sandbox 1; main 0" },
    { "but not for a pod that ran once",
      "{" MAIN NEVER "}",
      NOT_READY,
      { { "c", CONTAINER_EXITED, 1 } },
      .plan = "kill pod" },
    { "nor for one that has succeeded",
      "{" MAIN FAILS "}",
      NOT_READY,
      { { "c", CONTAINER_EXITED, 0 } },
      .plan = "kill pod" },
    { "the second init container follows the first",
      "{" INITS "," MAIN ALWAYS "}",
      READY,
      { { "a", CONTAINER_EXITED, 0 } },
      .plan = "init 1" },
    { "an init container that fails comes again",
      "{" INITS "," MAIN FAILS "}",
      READY,
      { { "a", CONTAINER_EXITED, 1 } },
      .plan = "init 0" },
    { "or ends the pod",
      "{" INITS "," MAIN NEVER "}",
      READY,
      { { "a", CONTAINER_EXITED, 1 } },
      .plan = "kill pod" },
    { "main containers follow the last one",
      "{" INITS "," MAIN ALWAYS "}",
      READY,
      { { "b", CONTAINER_EXITED, 0 } },
      .plan = "main 0" },
    { "init containers of another sandbox do not count",
      "{" INITS "," MAIN ALWAYS "}",
      READY,
      { { "b", CONTAINER_EXITED, 0, true } },
      .plan = "init 0" },
    { "a sidecar is enough to go on",
      "{" SIDE "," MAIN ALWAYS "}",
      READY,
      { { "s", CONTAINER_RUNNING } },
      .plan = "main 0" },
    { "its startup probe is waited for",
      "{" PROBED "," MAIN ALWAYS "}",
      READY,
      { { "s", CONTAINER_RUNNING } },
      PROBE_UNKNOWN,
      .plan = "" },
    { "which may pass",
      "{" PROBED "," MAIN ALWAYS "}",
      READY,
      { { "s", CONTAINER_RUNNING } },
      PROBE_SUCCESS,
      .plan = "main 0" },
    { "or fail",
      "{" PROBED "," MAIN ALWAYS "}",
      READY,
      { { "s", CONTAINER_RUNNING } },
      PROBE_FAILURE,
      .plan = "kill s: Init container s failed startup probe; init 0" },
    { "a sidecar that ends comes again",
      "{" SIDE "," MAIN NEVER "}",
      READY,
      { { "s", CONTAINER_EXITED, 1 }, { "c", CONTAINER_RUNNING } },
      .plan = "init 0" },
    { "but does not keep the pod alive",
      "{" SIDE "," MAIN NEVER "}",
      READY,
      { { "s", CONTAINER_RUNNING }, { "c", CONTAINER_EXITED, 0 } },
      .plan = "kill pod" },
    { "who is not alive is ended and comes again",
      "{" MAIN ALWAYS "}",
      READY,
      { { "c", CONTAINER_RUNNING } },
      PROBE_NONE,
      PROBE_FAILURE,
      .plan = "kill c: Container c failed liveness probe, will be restarted; main 0" },
    { "unless it must not",
      "{" MAIN NEVER "}",
      READY,
      { { "c", CONTAINER_RUNNING } },
      PROBE_NONE,
      PROBE_FAILURE,
      .plan = "kill pod; kill c: Container c failed liveness probe" },
    { "another image is another container",
      "{" MAIN NEVER "}",
      READY,
      { { "c", CONTAINER_RUNNING, 0, false, true } },
      .plan = "kill c: Container c definition changed, will be restarted; main 0" },
    { "one that was made but never started",
      "{" MAIN ALWAYS "}",
      READY,
      { { "c", CONTAINER_CREATED } },
      .plan = "main 0" },
    { "one that nobody knows",
      "{" MAIN ALWAYS "}",
      READY,
      { { "c", CONTAINER_UNKNOWN } },
      .plan = "kill c: Container is in \"unknown\" state, try killing it before restart; main 0" },
    { "an ephemeral one is started once",
      "{" MAIN ALWAYS ",\"ephemeralContainers\":[{\"name\":\"e\"}]}",
      READY,
      { { "c", CONTAINER_RUNNING } },
      .plan = "ephemeral 0" },
    { "and never again",
      "{" MAIN ALWAYS ",\"ephemeralContainers\":[{\"name\":\"e\"}]}",
      READY,
      { { "c", CONTAINER_RUNNING }, { "e", CONTAINER_EXITED, 1 } },
      .plan = "" },
    { "all anew: who asked for it goes last",
      "{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"restartPolicyRules\":[{\"action\":"
      "\"RestartAllContainers\",\"exitCodes\":{\"operator\":\"In\",\"values\":[7]}}]},{\"name\":"
      "\"d\",\"image\":\"i\"}]}",
      READY,
      { { "c", CONTAINER_EXITED, 7 }, { "d", CONTAINER_RUNNING } },
      .restarts_all = true,
      .plan = "reset d; reset c" },
};

static struct value read_pod(struct arena *a, const char *spec)
{
    struct value pod;
    struct str text = arena_printf(a, "{\"metadata\":{\"uid\":\"u\"},\"spec\":%s}", spec);
    assert_int_equal(json_read(a, text, NULL, &pod, NULL), 0);
    return pod;
}

static void make_have(struct arena *a, const struct row *r, const struct value *pod,
                      struct runtime_pod *ret)
{
    *ret = (struct runtime_pod){ .uid = STR("u") };
    ret->sandboxes = arena_array(a, struct runtime_sandbox, 1);
    ret->containers = arena_array(a, struct runtime_container, ARRAY_LEN(r->have));
    if (r->sandbox != NO_SANDBOX)
        ret->sandboxes[ret->n_sandboxes++] =
            (struct runtime_sandbox){ .id = STR("sb"),
                                      .is_ready = r->sandbox == READY,
                                      .has_network = true,
                                      .ip = STR("1.2.3.4") };
    ret->active = r->sandbox == READY ? STR("sb") : STR("");
    for (size_t i = 0; i < ARRAY_LEN(r->have) && r->have[i].name; i++) {
        const struct had *h = &r->have[i];
        const struct value *spec = pod_container(pod, str_of(h->name), NULL);
        ret->containers[ret->n_containers++] = (struct runtime_container){
            .id = str_of(h->name),
            .name = str_of(h->name),
            .sandbox_id = h->is_old ? STR("other") : STR("sb"),
            .state = h->state,
            .exit_code = h->code,
            .hash = h->has_changed ? STR("x") : pod_container_hash(a, spec),
        };
    }
}

static enum probe_result probe_of(void *arg, enum probe_kind kind, struct str id)
{
    const struct row *r = arg;
    (void)id;
    return kind == PROBE_STARTUP ? r->startup : kind == PROBE_LIVENESS ? r->liveness : PROBE_NONE;
}

static void part(struct buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void part(struct buf *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_printf(out, "%s", out->n ? "; " : "");
    buf_vprintf(out, fmt, ap);
    va_end(ap);
}

static void indices(struct buf *out, const char *name, const struct plan_indices *all)
{
    if (all->n)
        part(out, "%s", name);
    for (size_t i = 0; i < all->n; i++)
        buf_printf(out, " %zu", all->at[i]);
}

static void describe(struct buf *out, const struct plan *p, bool is_first)
{
    if (p->kill_pod && !is_first)
        part(out, "kill pod");
    for (size_t i = 0; i < p->n_kills; i++)
        part(out, "kill " STR_FMT ": " STR_FMT, STR_ARG(p->kills[i].container->name),
             STR_ARG(p->kills[i].message));
    for (size_t i = 0; i < p->n_resets; i++)
        part(out, "reset " STR_FMT, STR_ARG(p->resets[i]->name));
    if (p->create_sandbox)
        part(out, "sandbox %u", p->attempt);
    indices(out, "ephemeral", &p->ephemeral);
    indices(out, "init", &p->init);
    indices(out, "main", &p->main);
}

static void plans_are_upstreams(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        struct buf out = { 0 };
        arena_init(&a);
        struct value pod = read_pod(&a, rows[i].spec);
        struct runtime_pod have;
        make_have(&a, &rows[i], &pod, &have);
        const struct plan_input in = { .pod = &pod,
                                       .have = &have,
                                       .restarts_all = rows[i].restarts_all,
                                       .probe = probe_of,
                                       .arg = (void *)(uintptr_t)&rows[i] };
        struct plan p = plan_make(&a, &in);
        describe(&out, &p, rows[i].sandbox == NO_SANDBOX);
        buf_byte(&out, '\0');
        if (strcmp(out.p, rows[i].plan) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", rows[i].what, out.p, rows[i].plan);
        buf_done(&out);
        arena_done(&a);
    }
}

static void resizes_go_by_policy(void **state)
{
    (void)state;
    struct arena a;
    struct value actuated;
    arena_init(&a);
    const struct row r = { .sandbox = READY, .have = { { "c", CONTAINER_RUNNING } } };
    const char *spec = "{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"limits\":"
                       "{\"cpu\":\"200m\",\"memory\":\"2Mi\"}},\"resizePolicy\":[{\"resourceName\":"
                       "\"memory\",\"restartPolicy\":\"RestartContainer\"}]}]}";
    struct value pod = read_pod(&a, spec);
    struct runtime_pod have;
    make_have(&a, &r, &pod, &have);
    struct plan_input in = { .pod = &pod, .have = &have, .actuated = &actuated };
    static const struct {
        const char *given;
        size_t kills, resizes;
    } cases[] = {
        { "{\"c\":{\"limits\":{\"cpu\":\"0.2\",\"memory\":\"2048Ki\"}}}", 0, 0 },
        { "{\"c\":{\"limits\":{\"cpu\":\"100m\",\"memory\":\"2Mi\"}}}", 0, 1 },
        { "{\"c\":{\"limits\":{\"cpu\":\"200m\",\"memory\":\"1Mi\"}}}", 1, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(json_read(&a, str_of(cases[i].given), NULL, &actuated, NULL), 0);
        struct plan p = plan_make(&a, &in);
        assert_int_equal(p.n_kills, cases[i].kills);
        assert_int_equal(p.main.n, cases[i].kills);
        assert_int_equal(p.n_resizes, cases[i].resizes);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_upstreams),
        cmocka_unit_test(resizes_go_by_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
