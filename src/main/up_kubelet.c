#include "main/up_kubelet.h"

#include <stdio.h>

#include "main/account_keys.h"
#include "base/banned.h"

const char up_kubelet_usage[] =
    "  --kubelet-client-certificate FILE, --kubelet-client-key FILE\n"
    "                      as whom it comes to nodes, for logs and commands (default a\n"
    "                      certificate of its own authority)\n"
    "  --kubelet-certificate-authority FILE\n"
    "                      of nodes' certificates (default none: nobody looks at them)\n"
    "  --kubelet-preferred-address-types LIST\n"
    "                      where nodes are reached, by preference (default\n"
    "                      " KUBELET_ADDRESS_TYPES ")\n";

void up_kubelet_take(enum up_kubelet_flag flag, const char *given, struct up_kubelet *ret)
{
    switch (flag) {
    case UP_KUBELET_CERT:
        ret->cert = given;
        break;
    case UP_KUBELET_KEY:
        ret->key = given;
        break;
    case UP_KUBELET_CA:
        ret->ca = given;
        break;
    case UP_KUBELET_TYPES:
        ret->types = given;
        break;
    case UP_KUBELET_END:
        break;
    }
}

bool up_kubelet_check(const struct up_kubelet *opt)
{
    if (!opt->cert == !opt->key)
        return true;
    fprintf(stderr, "sampan up: --kubelet-client-certificate and --kubelet-client-key must be set "
                    "together\n");
    return false;
}

static int read_file(struct arena *a, const char *path, struct str *ret, struct err *err)
{
    return path ? account_text(a, path, ret, err) : 0;
}

int up_kubelet_load(struct arena *a, const struct up_kubelet *opt, const struct pki_pair *own,
                    struct kubelet_options *ret, struct err *err)
{
    *ret = (struct kubelet_options){ .cert_pem = own->cert_pem,
                                     .key_pem = own->key_pem,
                                     .address_types = opt->types };
    int r = read_file(a, opt->cert, &ret->cert_pem, err);
    if (r < 0)
        return r;
    r = read_file(a, opt->key, &ret->key_pem, err);
    if (r < 0)
        return r;
    return read_file(a, opt->ca, &ret->ca_pem, err);
}
