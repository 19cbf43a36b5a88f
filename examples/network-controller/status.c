/* status.c - see status.h. */
#include "status.h"

#include <sampan/meta.h>

#include "gen_network.h"

static const char *ready_reason(const struct status *s)
{
    return s->reason ? s->reason : "NetworkReady";
}

bool status_is_news(const struct spn_value *network, const struct status *s)
{
    const struct spn_value *ready = spn_condition_get(network, "Ready");
    const char *message = s->message ? s->message : "";
    return !spn_text_eq(spn_value_text(spn_value_get(ready, "reason")),
                        spn_text_of(ready_reason(s))) ||
           !spn_text_eq(spn_value_text(spn_value_get(ready, "message")), spn_text_of(message));
}

/* What is said now. Nonsense that somebody wrote there is nothing. */
static struct network_status *status_read(const struct spn_value *network, struct spn_arena *a)
{
    struct network_status *status;
    if (network_status_decode(a, spn_value_get(network, "status"), &status, NULL) < 0)
        return spn_arena_alloc(a, sizeof(*status));
    return status;
}

struct prefix status_range(const struct spn_value *network, struct spn_arena *a)
{
    struct prefix range = { 0 };
    struct spn_text text = status_read(network, a)->cidr;
    if (text.p)
        (void)prefix_parse(text.p, text.n, &range);
    return range;
}

static void put_made(struct spn_arena *a, struct network_status *status,
                     const struct plan_want *made)
{
    char text[PREFIX_TEXT];
    status->bridge = spn_arena_text(a, spn_text_of(made->bridge));
    status->cidr = spn_arena_text(a, spn_text_of(prefix_text(&made->cidr, text)));
    status->gateway = spn_arena_text(a, spn_text_of(prefix_address_text(&made->address, text)));
}

static struct spn_int generation_of(const struct spn_value *network)
{
    struct spn_int generation = { 0 };
    generation.is_set =
        spn_value_int(spn_value_dig(network, "metadata", "generation"), &generation.value);
    return generation;
}

static void put_conditions(struct spn_arena *a, struct spn_value *network, const struct status *s)
{
    const struct spn_condition ready = { .type = "Ready",
                                         .status = s->reason ? "False" : "True",
                                         .reason = ready_reason(s),
                                         .message = s->message };
    const struct spn_condition conflict = { .type = "Conflict",
                                            .status = s->is_conflict ? "True" : "False",
                                            .reason = s->is_conflict ? s->reason : "NoConflict",
                                            .message = s->is_conflict ? s->message : "" };
    spn_condition_set(a, network, &ready);
    spn_condition_set(a, network, &conflict);
}

/* The whole status as it should be. */
static const struct spn_value *status_tree(struct spn_arena *a, const struct spn_value *network,
                                           const struct status *s, bool has_generation)
{
    struct network_status *status = status_read(network, a);
    if (s->made)
        put_made(a, status, s->made);
    status->observed_generation = has_generation ? generation_of(network) : (struct spn_int){ 0 };
    struct spn_value *copy = spn_value_copy(a, network);
    spn_value_set(a, copy, "status", network_status_encode(a, status));
    put_conditions(a, copy, s);
    return spn_value_get(copy, "status");
}

/* Fields that are absent now are taken away by null. */
static struct spn_text patch_text(struct spn_arena *a, const struct spn_value *network,
                                  const struct spn_value *status)
{
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT);
    struct spn_value *meta = spn_value_ensure(a, patch, "metadata");
    spn_value_set_text(a, meta, "uid", spn_value_text(spn_value_dig(network, "metadata", "uid")));
    struct spn_value *whole = spn_value_set(a, patch, "status", spn_value_copy(a, status));
    if (!spn_value_get(status, "observedGeneration"))
        spn_value_set(a, whole, "observedGeneration", spn_value_new(a, SPN_NULL));
    return spn_value_json(a, patch);
}

/* 1: written; 0: there is no need to. */
static int write_to(struct spn_client *c, const struct spn_target *at,
                    const struct spn_value *network, const struct status *s,
                    const struct spn_call *how, struct spn_arena *a, struct spn_err *err)
{
    const struct spn_value *status = status_tree(a, network, s, at->sub.n > 0);
    if (spn_value_eq(status, spn_value_get(network, "status")))
        return 0;
    int r =
        spn_client_patch(c, at, SPN_MERGE_PATCH, patch_text(a, network, status), how, a, NULL, err);
    return r < 0 ? r : 1;
}

int status_write(struct spn_client *c, const struct spn_target *at, const struct spn_value *network,
                 const struct status *s, const struct spn_call *how, struct spn_arena *a,
                 struct spn_err *err)
{
    struct spn_target sub = *at;
    sub.sub = SPN_TEXT("status");
    int r = write_to(c, &sub, network, s, how, a, err);
    if (r != -SPN_NOT_FOUND)
        return r;
    r = write_to(c, at, network, s, how, a, err);
    return r == -SPN_NOT_FOUND ? 0 : r;
}
