/* kubelet.h - as whom the server comes to nodes and pods, and whom it believes there.
 *
 * Contexts are replaced when certificates are made anew; whoever has one keeps it. Any thread. */
#pragma once

#include "net/tls.h"

struct kubelet;

struct kubelet_options {
    struct str cert_pem, key_pem; /* the server's own, for nodes; empty: none */
    struct str ca_pem;            /* of nodes; empty: nobody looks at their certificates */
    const char *address_types;    /* by preference; NULL: KUBELET_ADDRESS_TYPES */
};

#define KUBELET_ADDRESS_TYPES "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP"

enum { KUBELET_PORT = 10250 }; /* where a node does not say */

enum kubelet_trust {
    KUBELET_VERIFIED,   /* by the authority of nodes, if there is one */
    KUBELET_UNVERIFIED, /* whoever answers */
    KUBELET_STRANGER,   /* whoever answers, and without showing a certificate: pods */
    KUBELET_TRUSTS,
};

int kubelet_new(const struct kubelet_options *opt, struct kubelet **ret, struct err *err);
struct kubelet *kubelet_free(struct kubelet *k);
/* New certificates, for the connections to come. */
int kubelet_set(struct kubelet *k, const struct kubelet_options *opt, struct err *err);
/* A reference. */
struct tls_context *kubelet_tls(struct kubelet *k, enum kubelet_trust trust);
/* Whether somebody looks at the names in certificates of nodes. */
bool kubelet_verifies(const struct kubelet *k, enum kubelet_trust trust);
/* The i-th preferred type of address; empty after the last. */
struct str kubelet_address_type(const struct kubelet *k, size_t i);
