/* service_claim_internal.h - shared by the files that give addresses and ports to Services. */
#pragma once

#include "base/value.h"
#include "server/registry/service_claim.h"
#include "server/core/service_ip.h"

/* One Service on its way into the store. */
struct claim {
    struct call *call;
    bool dry_run;
    struct str name;
    struct value *spec;
    const struct value *old_spec; /* NULL: a new one */
    struct store_snap *snap;      /* in which is seen what is taken */
    struct registry_extra *extra;
    int64_t highest_port; /* that was claimed; 0: none */
    struct err *err;
};

/* service_claim_fields.c: what the fields ask for, addresses first. */
int service_claim__addresses(struct claim *cl);
int service_claim__ports(struct claim *cl);

/* Any one that is free, or a particular one; `*ret_why` says why it cannot be had, empty if it can.
 * Negative if the store or the range failed. */
int service_claim__any_address(struct claim *cl, const struct service_range *range,
                               struct str *ret);
int service_claim__address(struct claim *cl, const struct service_range *range, struct str address,
                           struct str *ret_why);
int service_claim__any_port(struct claim *cl, int64_t *ret);
int service_claim__port(struct claim *cl, int64_t port, struct str *ret_why);
void service_claim__release_address(struct call *c, struct registry_extra *extra,
                                    struct str address);
void service_claim__release_port(struct call *c, struct registry_extra *extra, int64_t port);
