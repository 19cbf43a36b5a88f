#include "node/pod/pod_place.h"

#include "base/banned.h"

static bool is_v6(struct str ip)
{
    return str_find(ip, ':') >= 0;
}

size_t pod_ips_sorted(const struct pod_place *p, struct str ret[POD_IPS_MAX])
{
    size_t n = 0;
    const bool v6_first = p->node->n_host_ips && is_v6(p->node->host_ips[0]);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < p->n_pod_ips && n < POD_IPS_MAX; i++)
            if ((is_v6(p->pod_ips[i]) == v6_first) == (round == 0))
                ret[n++] = p->pod_ips[i];
    return n;
}

const struct pod_volume *pod_volume_find(const struct pod_place *p, struct str name)
{
    for (size_t i = 0; i < p->n_volumes; i++)
        if (str_eq(p->volumes[i].name, name))
            return &p->volumes[i];
    return NULL;
}
