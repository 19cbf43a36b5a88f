/* plan.h - what is wanted, what is there, and the steps between the two.
 *
 * Rules only: nothing here looks at the machine or at the server, so tests need neither. Networks
 * of all namespaces of the cluster share one machine, and so one space of addresses. */
#pragma once

#include <sampan/base.h>

#include "prefix.h"

enum {
    PLAN_NAME = 16,          /* a link's name, with its NUL */
    PLAN_MAX_ADDRESSES = 16, /* of one bridge that are looked at; the rest comes next time */
    PLAN_MAX_STEPS = 2 * PLAN_MAX_ADDRESSES,
    PLAN_MTU = 1500, /* unless a network says another */
};

/* ---- Names ---- */

/* The bridge of a network: "net-" and ten hexadecimal digits, the same for the same key each time.
 * Its hardware address has the same digits, so that a bridge that we have made is known by itself,
 * from the moment it is made. */
void plan_bridge_name(struct spn_text key, char ret[PLAN_NAME]);
/* False: no bridge of ours has such a name. */
bool plan_bridge_mac(const char *name, uint8_t ret[6]);

/* ---- Is it possible? ---- */

/* What a network says. Text that is absent has no pointer. */
struct plan_spec {
    struct spn_text cidr, gateway;
    int64_t mtu; /* 0: PLAN_MTU */
    bool nat;
};

/* The same, understood. */
struct plan_want {
    char bridge[PLAN_NAME];
    struct prefix cidr;    /* 192.168.0.0/16 */
    struct prefix address; /* of the gateway: 192.168.0.1/16 */
    unsigned mtu;
    bool nat;
};

/* Why it cannot be: a reason for programs, a message for people. */
struct plan_refusal {
    const char *reason; /* NULL: it can be */
    char message[256];
};

bool plan_read(struct spn_text key, const struct plan_spec *spec, struct plan_want *ret,
               struct plan_refusal *why);

/* Another network, or an address of the machine that is no network's. */
struct plan_other {
    const char *name;    /* for the message */
    const char *bridge;  /* NULL: it is no network */
    struct prefix wants; /* family 0: nothing, or nothing that makes sense */
    struct prefix has;   /* what was made for it; family 0: nothing */
    bool is_older;       /* than the network in question */
};

/* Whoever has an address range keeps it, whatever others want. Among those that only want one, the
 * oldest gets it. `has`: what was made for the network in question. */
bool plan_is_free(const struct plan_want *want, const struct prefix *has,
                  const struct plan_other *others, size_t n, struct plan_refusal *why);

/* ---- From here to there ---- */

struct plan_actual {
    bool exists;  /* a link of that name */
    bool is_ours; /* it is a bridge with our hardware address */
    bool is_up;
    unsigned mtu;
    struct prefix addresses[PLAN_MAX_ADDRESSES]; /* without those of the link itself (fe80::) */
    size_t n_addresses;
    bool has_nat, has_wrong_nat; /* the rule that is wanted; any other rule for this bridge */
};

enum plan_step_kind {
    PLAN_CREATE,
    PLAN_SET_MTU,
    PLAN_ADD_ADDRESS,
    PLAN_DELETE_ADDRESS,
    PLAN_UP,
    PLAN_NAT_ON, /* the one rule that is wanted, in place of all others for this bridge */
    PLAN_NAT_OFF,
    PLAN_DELETE,
};

struct plan_step {
    enum plan_step_kind kind;
    struct prefix address; /* to add or delete */
};

struct plan {
    struct plan_step steps[PLAN_MAX_STEPS];
    size_t n;
};

/* False: the name is taken by something that is not ours. A new address comes before the old one
 * goes, and the bridge stays, so pods stay attached while it changes. */
bool plan_make(const struct plan_want *want, const struct plan_actual *actual, struct plan *ret,
               struct plan_refusal *why);
/* What is not ours stays. */
void plan_remove(const struct plan_actual *actual, struct plan *ret);
