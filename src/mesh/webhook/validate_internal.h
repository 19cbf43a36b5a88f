/* validate_internal.h - what the files of this folder share. */
#pragma once

#include "mesh/webhook/validate.h"

struct check {
    struct arena *arena;
    struct str ns, name;
    unsigned warnings;
    struct err *err;
};

/* All: 0, or ERR_INVALID. */
int check__host(struct check *c, struct str host, bool wild);
int check__port(struct check *c, const struct value *v);
int check__duration(struct check *c, const struct value *v);
int check__percent(struct check *c, const struct value *v);
int check__export_to(struct check *c, const struct value *list);
int check__label(struct check *c, struct str s, const char *what);
int check__regex(struct check *c, struct str s);
bool check__is_ip(struct check *c, struct str s); /* or a network */
bool check__has(const struct value *v);           /* an array, object or text that is not empty */

int check__virtual_service(struct check *c, const struct value *spec);
int check__destination_rule(struct check *c, const struct value *spec);
int check__gateway(struct check *c, const struct value *spec);
int check__service_entry(struct check *c, const struct value *spec);
int check__workload_entry(struct check *c, const struct value *spec);
int check__sidecar(struct check *c, const struct value *spec);
int check__authorization(struct check *c, const struct value *spec);
int check__request_authentication(struct check *c, const struct value *spec);
int check__peer_authentication(struct check *c, const struct value *spec);
