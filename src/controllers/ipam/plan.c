#include "controllers/ipam/plan.h"

#include <stdlib.h>

#include "base/mem.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/ipam/cidr_set.h"
#include "base/banned.h"

enum { USUAL_BITS_V4 = 24, USUAL_BITS_V6 = 64 };

struct ipam {
    struct cidr_set *sets[IPAM_FAMILIES]; /* in the order of the options */
    size_t n;
};

/* ---- Making ---- */

static unsigned block_bits(const struct controllers_options *opt, const struct cidr *c)
{
    unsigned usual = c->ip.is_v4 ? USUAL_BITS_V4 : USUAL_BITS_V6;
    unsigned given = c->ip.is_v4 ? opt->node_bits_v4 : opt->node_bits_v6;
    if (!given)
        given = opt->node_bits;
    return given ? given : usual;
}

static int add_network(struct ipam *m, const struct controllers_options *opt, struct str text,
                       struct spn_err *err)
{
    struct cidr c;
    struct arena a;
    if (!ip_cidr_parse(text, &c))
        return spn_err_set(err, SPN_INVALID, "--cluster-cidr: \"" STR_FMT "\" is no network",
                           STR_ARG(text));
    if (m->n == IPAM_FAMILIES)
        return spn_err_set(err, SPN_INVALID, "--cluster-cidr: at most one network of each family");
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = cidr_set_new(c, block_bits(opt, &c), &m->sets[m->n], &why);
    if (r < 0)
        r = spn_err_set(err, SPN_INVALID, "--cluster-cidr: " STR_FMT, STR_ARG(why.msg));
    arena_done(&a);
    m->n += r == 0;
    return r;
}

static int add_networks(struct ipam *m, const struct controllers_options *opt, struct spn_err *err)
{
    for (struct str rest = str_of(opt->cluster_cidr ? opt->cluster_cidr : ""); rest.n;) {
        int r = add_network(m, opt, str_cut(&rest, ','), err);
        if (r < 0)
            return r;
    }
    if (!m->n)
        return spn_err_set(err, SPN_INVALID, "--allocate-node-cidrs needs --cluster-cidr");
    return 0;
}

/* Addresses of Services are for no node. */
static void keep_off_services(struct ipam *m, const char *service_cidr)
{
    for (struct str rest = str_of(service_cidr ? service_cidr : ""); rest.n;) {
        struct cidr c;
        if (ip_cidr_parse(str_cut(&rest, ','), &c))
            for (size_t i = 0; i < m->n; i++)
                (void)cidr_set_occupy(m->sets[i], &c);
    }
}

int ipam_new(const struct controllers_options *opt, struct ipam **ret, struct spn_err *err)
{
    struct ipam *m = mem_new(struct ipam);
    int r = add_networks(m, opt, err);
    if (r < 0) {
        ipam_free(m);
        return r;
    }
    keep_off_services(m, opt->service_cidr);
    *ret = m;
    return 0;
}

struct ipam *ipam_free(struct ipam *m)
{
    for (size_t i = 0; m && i < IPAM_FAMILIES; i++)
        cidr_set_free(m->sets[i]);
    free(m);
    return NULL;
}

/* ---- Blocks of nodes ---- */

static const struct spn_value *blocks_of(const struct spn_value *node)
{
    return spn_value_dig(node, "spec", "podCIDRs");
}

int ipam_occupy(struct ipam *m, const struct spn_value *node, struct spn_err *err)
{
    const struct spn_value *all = blocks_of(node);
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct cidr c;
        struct spn_text text = spn_value_text(spn_value_at(all, i));
        if (!ip_cidr_parse(str_in(text), &c))
            return spn_err_set(err, SPN_INVALID, "failed to parse node " SPN_FMT ", CIDR " SPN_FMT,
                               SPN_ARG(meta_name(node)), SPN_ARG(text));
        if (i >= m->n)
            return spn_err_set(err, SPN_INVALID,
                               "node:" SPN_FMT " has an allocated cidr: " SPN_FMT
                               " at index:%zu that does not exist in cluster cidrs configuration",
                               SPN_ARG(meta_name(node)), SPN_ARG(text), i);
        if (!cidr_set_occupy(m->sets[i], &c))
            return spn_err_set(err, SPN_INVALID,
                               "cidr " SPN_FMT " of node " SPN_FMT
                               " is out the range of the cluster's",
                               SPN_ARG(text), SPN_ARG(meta_name(node)));
    }
    return 0;
}

void ipam_release(struct ipam *m, const struct spn_value *node)
{
    ipam_give_back(m, blocks_of(node));
}

struct spn_value *ipam_take(struct ipam *m, struct spn_arena *a)
{
    struct spn_value *all = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < m->n; i++) {
        struct cidr c;
        char text[IP_TEXT_MAX];
        if (!cidr_set_take(m->sets[i], &c)) {
            ipam_give_back(m, all);
            return NULL;
        }
        struct spn_text copy = spn_arena_text(a, text_out(ip_cidr_format(&c, text)));
        spn_value_push(a, all, spn_value_new_text(a, copy));
    }
    return all;
}

void ipam_give_back(struct ipam *m, const struct spn_value *blocks)
{
    for (size_t i = 0; i < spn_value_count(blocks) && i < m->n; i++) {
        struct cidr c;
        if (ip_cidr_parse(str_in(spn_value_text(spn_value_at(blocks, i))), &c))
            (void)cidr_set_release(m->sets[i], &c);
    }
}
