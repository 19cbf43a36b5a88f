/* up_kubelet.h - the flags of `sampan up` about how nodes are reached; named and read as
 * kube-apiserver's. */
#pragma once

#include <getopt.h>

#include "net/crypto/pki.h"
#include "server/core/kubelet.h"

struct up_kubelet {
    const char *cert, *key, *ca, *types; /* files, and a list; NULL: not given */
};

/* What getopt_long() returns for them; those of up_openid.h are smaller. */
enum up_kubelet_flag {
    UP_KUBELET_CERT = 1024,
    UP_KUBELET_KEY,
    UP_KUBELET_CA,
    UP_KUBELET_TYPES,
    UP_KUBELET_END,
};

#define UP_KUBELET_OPTIONS                                                           \
    { "kubelet-client-certificate", required_argument, NULL, UP_KUBELET_CERT },      \
        { "kubelet-client-key", required_argument, NULL, UP_KUBELET_KEY },           \
        { "kubelet-certificate-authority", required_argument, NULL, UP_KUBELET_CA }, \
    {                                                                                \
        "kubelet-preferred-address-types", required_argument, NULL, UP_KUBELET_TYPES \
    }

extern const char up_kubelet_usage[];

void up_kubelet_take(enum up_kubelet_flag flag, const char *given, struct up_kubelet *ret);
/* False, after a message, if the flags do not go together. */
bool up_kubelet_check(const struct up_kubelet *opt);
/* Reads the files; `own` is used where no certificate is named. Texts lie in the arena. */
int up_kubelet_load(struct arena *a, const struct up_kubelet *opt, const struct pki_pair *own,
                    struct kubelet_options *ret, struct err *err);
