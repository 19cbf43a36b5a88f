#include "node/simulated/pod_wish.h"

#include <stdio.h>

#include "api/go/goduration.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "base/banned.h"

enum { START_MS = 1000, RUN_MS = 2000, INIT_MS = 1000, MAX_CODE = 255 };

/* Both names are taken; the first is the one that is written about. */
static const char *const prefixes[] = { "simulate.sampan.io/", "simulate.sampan.dev/" };

struct spn_text pod_wish_text(const struct spn_value *pod, const char *name)
{
    const struct spn_value *notes = spn_value_dig(pod, "metadata", "annotations");
    for (size_t i = 0; spn_value_count(notes) && i < ARRAY_LEN(prefixes); i++) {
        char key[64];
        (void)snprintf(key, sizeof(key), "%s%s", prefixes[i], name);
        struct spn_text t = spn_value_text(spn_value_get(notes, key));
        if (t.n)
            return t;
    }
    return (struct spn_text){ 0 };
}

static int64_t wish_ms(const struct spn_value *pod, const char *name, int64_t otherwise)
{
    struct arena a;
    int64_t ns;
    struct spn_text t = pod_wish_text(pod, name);
    if (!t.n)
        return otherwise;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    const bool is_good = goduration_parse(str_in(t), &ns, &err) == 0 && ns >= 0;
    arena_done(&a);
    return is_good ? ns / NS_PER_MS : otherwise;
}

static int64_t wish_code(const struct spn_value *pod, const char *name)
{
    int64_t code;
    struct spn_text t = pod_wish_text(pod, name);
    return t.n && str_to_i64(str_in(t), &code) && code >= 0 && code <= MAX_CODE ? code : 0;
}

static enum pod_probe wish_probe(const struct spn_value *pod)
{
    static const struct {
        struct str word;
        enum pod_probe probe;
    } words[] = { { STR("startup"), PROBE_STARTUP },
                  { STR("readiness"), PROBE_READINESS },
                  { STR("liveness"), PROBE_LIVENESS } };
    struct str t = str_in(pod_wish_text(pod, "fail-probe"));
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(t, words[i].word))
            return words[i].probe;
    return PROBE_NONE;
}

/* A server runs for ever, unless it is told how it ends. */
static int64_t usual_exit_ms(const struct spn_value *pod)
{
    struct str policy = str_in(spn_value_text(spn_value_dig(pod, "spec", "restartPolicy")));
    const bool is_server = !policy.n || str_eq(policy, STR("Always"));
    return is_server && !pod_wish_text(pod, "exit-code").n ? -1 : RUN_MS;
}

struct pod_wish pod_wish_read(const struct spn_value *pod)
{
    return (struct pod_wish){
        .start_ms = wish_ms(pod, "start-after", START_MS),
        .exit_ms = wish_ms(pod, "exit-after", wish_ms(pod, "run-for", usual_exit_ms(pod))),
        .exit_code = wish_code(pod, "exit-code"),
        .init_ms = wish_ms(pod, "init-for", INIT_MS),
        .init_code = wish_code(pod, "init-exit-code"),
        .ready_ms = wish_ms(pod, "ready-after", -1),
        .stop_ms = wish_ms(pod, "stop-after", 0),
        .is_never_ready = str_eq(str_in(pod_wish_text(pod, "ready")), STR("false")),
        .fails = wish_probe(pod),
        .no_image = pod_wish_text(pod, "image-pull-error"),
    };
}
