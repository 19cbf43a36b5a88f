/* register_lease.c - the Lease in kube-node-lease by which others see that the node lives. */
#include "base/clock.h"
#include "base/log.h"
#include "client/bridge.h"
#include "node/register/register_internal.h"
#include "base/banned.h"

enum { LEASE_MS = 10000, TRIES = 5, FIRST_PAUSE_MS = 200, LAST_PAUSE_MS = 7000 };

static struct spn_target lease_target(const struct registration *r)
{
    return (struct spn_target){ .group = SPN_TEXT("coordination.k8s.io"),
                                .version = SPN_TEXT("v1"),
                                .plural = SPN_TEXT("leases"),
                                .ns = SPN_TEXT("kube-node-lease"),
                                .name = text_out(r->place.facts->name) };
}

/* The Lease ends with its Node. */
static void own(struct arena *a, struct value *lease, struct str node, struct str uid)
{
    struct value *meta = value_ensure(a, lease, STR("metadata"));
    const struct value *owners = value_get(meta, STR("ownerReferences"));
    if ((owners && owners->n) || !uid.n)
        return;
    struct value list = value_array(), one = value_object();
    value_put(a, &one, STR("apiVersion"), value_string(STR("v1")));
    value_put(a, &one, STR("kind"), value_string(STR("Node")));
    value_put(a, &one, STR("name"), value_string(node));
    value_put(a, &one, STR("uid"), value_string(uid));
    value_put_item(a, &list, one);
    value_put(a, meta, STR("ownerReferences"), list);
}

static void renew(struct arena *a, struct registration *r, struct value *lease)
{
    char text[CLOCK_TEXT_BYTES];
    struct str now = arena_str(a, clock_format(clock_wall_ns(&clock_system), true, text));
    struct value *spec = value_ensure(a, lease, STR("spec"));
    value_put(a, spec, STR("leaseDurationSeconds"), value_int(REGISTER_LEASE_SEC));
    value_put(a, spec, STR("renewTime"), value_string(now));
    own(a, lease, r->place.facts->name, register__uid(r, a));
}

static struct value new_lease(struct arena *a, struct registration *r)
{
    struct value lease = value_object(), meta = value_object(), spec = value_object();
    struct str name = r->place.facts->name;
    value_put(a, &meta, STR("name"), value_string(name));
    value_put(a, &meta, STR("namespace"), value_string(STR("kube-node-lease")));
    value_put(a, &spec, STR("holderIdentity"), value_string(name));
    value_put(a, &lease, STR("apiVersion"), value_string(STR("coordination.k8s.io/v1")));
    value_put(a, &lease, STR("kind"), value_string(STR("Lease")));
    value_put(a, &lease, STR("metadata"), meta);
    value_put(a, &lease, STR("spec"), spec);
    renew(a, r, &lease);
    return lease;
}

static int make_lease(struct registration *r, struct arena *a, struct value *kept,
                      struct spn_err *err)
{
    const struct spn_call how = { .stop = r->stop, .timeout_ms = LEASE_MS };
    const struct value lease = new_lease(a, r);
    struct spn_target at = lease_target(r);
    struct spn_value *answer;
    at.name = SPN_TEXT("");
    int rc = spn_client_create(r->place.client, &at, value_out(&lease), &how, arena_out(a), &answer,
                               err);
    if (rc < 0)
        return rc;
    *kept = *value_in(answer);
    return 0;
}

/* `kept` is the Lease as it was last written, so that a renewal is one request; null: read it.
 * After a failure it is null. */
static int renew_once(struct registration *r, struct arena *a, struct value *kept,
                      struct spn_err *err)
{
    const struct spn_target at = lease_target(r);
    const struct spn_call how = { .stop = r->stop, .timeout_ms = LEASE_MS };
    struct value lease = value_borrow(kept);
    struct spn_value *answer;
    const bool is_known = !value_is(kept, VALUE_NULL);
    *kept = value_null();
    if (!is_known) {
        int rc = spn_client_get(r->place.client, &at, &how, arena_out(a), &answer, err);
        if (rc == -SPN_NOT_FOUND)
            return make_lease(r, a, kept, err);
        if (rc < 0)
            return rc;
        lease = *value_in(answer);
    }
    renew(a, r, &lease);
    int rc = spn_client_update(r->place.client, &at, value_out(&lease), &how, arena_out(a), &answer,
                               err);
    if (rc < 0)
        return rc;
    *kept = *value_in(answer);
    return 0;
}

static bool renew_or_warn(struct registration *r, struct arena *a, struct value *kept)
{
    struct spn_err why = { 0 };
    for (int i = 0; i < TRIES && !spn_stop_is_set(r->stop); i++)
        if (renew_once(r, a, kept, &why) == 0)
            return true;
    if (why.code != SPN_CANCELLED)
        log_warn("the node's lease was not renewed", LOG_CSTR("err", why.message));
    return false;
}

void *register__lease_run(void *arg)
{
    struct registration *r = arg;
    struct arena arenas[2]; /* the Lease that was kept lies in one, the next one in the other */
    struct value kept = value_null();
    size_t turn = 0;
    int64_t pause_ms = FIRST_PAUSE_MS;
    const int64_t every = r->place.opt->lease_ms ? r->place.opt->lease_ms : LEASE_MS;
    arena_init(&arenas[0]);
    arena_init(&arenas[1]);
    while (!register_wait(r, every) && !spn_stop_is_set(r->stop))
        ;
    while (!spn_stop_is_set(r->stop)) {
        turn = !turn;
        arena_reset(&arenas[turn]);
        const bool is_renewed = renew_or_warn(r, &arenas[turn], &kept);
        (void)spn_stop_wait(r->stop, is_renewed ? every : pause_ms);
        pause_ms = is_renewed                     ? FIRST_PAUSE_MS
                   : pause_ms * 2 < LAST_PAUSE_MS ? pause_ms * 2
                                                  : LAST_PAUSE_MS;
    }
    arena_done(&arenas[0]);
    arena_done(&arenas[1]);
    return NULL;
}
