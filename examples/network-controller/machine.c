/* machine.c - see machine.h. */
#include "machine.h"

/* One round is enough, but for an IPv4 address that goes: the kernel then drops those of the same
 * range that came after it, and the next round puts ours back. */
enum { MACHINE_ROUNDS = 4 };

int machine_open(struct machine *m, const char *cni_folder, struct spn_err *err)
{
    *m = (struct machine){ .cni_folder = cni_folder };
    int r = link_open(&m->link, err);
    if (r < 0)
        return r;
    r = nat_open(&m->nat, err);
    if (r < 0)
        m->link = link_close(m->link);
    return r;
}

void machine_close(struct machine *m)
{
    m->link = link_close(m->link);
    m->nat = nat_close(m->nat);
}

static int observe(struct machine *m, const char *bridge, const struct prefix *cidr,
                   struct plan_actual *ret, struct spn_err *err)
{
    int r = link_observe(m->link, bridge, ret, err);
    if (r < 0)
        return r;
    r = nat_observe(m->nat, bridge, cidr, ret, err);
    return r < 0 ? spn_err_wrap(err, "NAT") : 0;
}

static int turn_nat_on(struct machine *m, const struct plan_want *want, struct spn_err *err)
{
    int r = nat_forward(want->cidr.family, err);
    if (r < 0)
        return r;
    return nat_set(m->nat, want->bridge, &want->cidr, err);
}

static int take_step(struct machine *m, const struct plan_want *want, const struct plan_step *step,
                     struct spn_err *err)
{
    switch (step->kind) {
    case PLAN_CREATE:
        return link_create(m->link, want->bridge, err);
    case PLAN_SET_MTU:
        return link_set_mtu(m->link, want->bridge, want->mtu, err);
    case PLAN_ADD_ADDRESS:
        return link_add_address(m->link, want->bridge, &step->address, err);
    case PLAN_DELETE_ADDRESS:
        return link_delete_address(m->link, want->bridge, &step->address, err);
    case PLAN_UP:
        return link_set_up(m->link, want->bridge, err);
    case PLAN_NAT_ON:
        return turn_nat_on(m, want, err);
    case PLAN_NAT_OFF:
        return nat_remove(m->nat, want->bridge, err);
    case PLAN_DELETE:
        return link_delete(m->link, want->bridge, err);
    }
    return 0;
}

static int take_steps(struct machine *m, const struct plan_want *want, const struct plan *plan,
                      unsigned *done, struct spn_err *err)
{
    for (size_t i = 0; i < plan->n; i++) {
        int r = take_step(m, want, &plan->steps[i], err);
        if (r < 0)
            return r;
        *done |= 1u << plan->steps[i].kind;
    }
    return 0;
}

/* 1: nothing is left to do; 0: it cannot be; 2: steps were taken, and one more look is due. */
static int make_round(struct machine *m, const struct plan_want *want, unsigned *done,
                      struct plan_refusal *why, struct spn_err *err)
{
    struct plan_actual actual;
    struct plan plan;
    int r = observe(m, want->bridge, &want->cidr, &actual, err);
    if (r < 0)
        return r;
    if (!plan_make(want, &actual, &plan, why))
        return 0;
    if (plan.n == 0)
        return 1;
    r = take_steps(m, want, &plan, done, err);
    return r < 0 ? r : 2;
}

static int write_cni(struct machine *m, struct spn_text key, const struct plan_want *want,
                     struct spn_arena *a, unsigned *done, struct spn_err *err)
{
    if (!m->cni_folder)
        return 1;
    int r = cni_write(m->cni_folder, want->bridge, cni_text(a, key, want), err);
    if (r < 0)
        return r;
    *done |= r > 0 ? MACHINE_CNI_WRITTEN : 0;
    return 1;
}

int machine_make(struct machine *m, struct spn_text key, const struct plan_want *want,
                 struct spn_arena *a, unsigned *ret_done, struct plan_refusal *why,
                 struct spn_err *err)
{
    *ret_done = 0;
    for (int i = 0; i < MACHINE_ROUNDS; i++) {
        int r = make_round(m, want, ret_done, why, err);
        if (r <= 0)
            return r;
        if (r == 1)
            return write_cni(m, key, want, a, ret_done, err);
    }
    return spn_err_set(err, SPN_SERVER_ERROR, "%s changes while it is set up", want->bridge);
}

int machine_remove(struct machine *m, const char *bridge, unsigned *ret_done, struct spn_err *err)
{
    struct plan_want want = { 0 };
    struct plan_actual actual;
    struct plan plan;
    memcpy(want.bridge, bridge, strnlen(bridge, PLAN_NAME - 1));
    *ret_done = 0;
    int r = observe(m, bridge, &want.cidr, &actual, err);
    if (r < 0)
        return r;
    plan_remove(&actual, &plan);
    r = take_steps(m, &want, &plan, ret_done, err);
    if (r < 0)
        return r;
    return m->cni_folder ? cni_remove(m->cni_folder, bridge, err) : 0;
}

int machine_each_bridge(struct machine *m, void (*fn)(void *arg, const char *bridge), void *arg,
                        struct spn_err *err)
{
    int r = link_each_bridge(m->link, fn, arg, err);
    if (r < 0)
        return r;
    r = nat_each_bridge(m->nat, fn, arg, err);
    if (r < 0)
        return r;
    return m->cni_folder ? cni_each_bridge(m->cni_folder, fn, arg, err) : 0;
}
