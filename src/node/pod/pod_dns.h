/* pod_dns.h - what a pod's /etc/resolv.conf says. */
#pragma once

#include "node/pod/pod_config.h"

/* CRI's DNSConfig. Reads the node's resolv.conf. */
int pod_dns(const struct pod_place *p, struct arena *a, struct value *ret, struct err *err);

struct resolv_conf {
    struct value servers, searches, options; /* arrays of texts */
};
/* Texts are borrowed. ERR_INVALID: a name server without an address. */
int resolv_conf_read(struct arena *a, struct str text, struct resolv_conf *ret, struct err *err);
