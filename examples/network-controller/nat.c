/* nat.c - see nat.h. */
#include "nat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/table.h>
#include <libnftnl/udata.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stddef.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netlink.h"

#define NAT_TABLE "sampan-networks"
#define NAT_CHAIN "postrouting"

enum {
    NAT_PRIORITY = 100, /* "srcnat" */
    NAT_MARK = 96,      /* a bridge and a range as text */
    NAT_MAX_OLD = 32,   /* rules that are replaced at once; the rest comes next time */
    NAT_REGISTER = NFT_REG_1,
};

struct nat {
    struct netlink *nl;
};

int nat_open(struct nat **ret, struct spn_err *err)
{
    struct netlink *nl;
    int r = netlink_open(NETLINK_NETFILTER, &nl, err);
    if (r < 0)
        return r;
    struct nat *n = calloc(1, sizeof(*n));
    if (!n)
        abort();
    n->nl = nl;
    *ret = n;
    return 0;
}

struct nat *nat_close(struct nat *n)
{
    if (n)
        netlink_close(n->nl);
    free(n);
    return NULL;
}

static void *need(void *p)
{
    if (!p)
        abort(); /* no memory left */
    return p;
}

static void mark_of(const char *bridge, const struct prefix *cidr, char ret[NAT_MARK])
{
    char text[PREFIX_TEXT];
    snprintf(ret, NAT_MARK, "%s %s", bridge, prefix_text(cidr, text));
}

/* ---- Which rules are there? ---- */

static int on_mark(const struct nftnl_udata *attr, void *arg)
{
    char *mark = arg;
    if (nftnl_udata_type(attr) == NFTNL_UDATA_RULE_COMMENT)
        snprintf(mark, NAT_MARK, "%.*s", (int)nftnl_udata_len(attr),
                 (const char *)nftnl_udata_get(attr));
    return 0;
}

static void read_mark(const struct nftnl_rule *rule, char ret[NAT_MARK])
{
    uint32_t n = 0;
    const void *data = nftnl_rule_get_data(rule, NFTNL_RULE_USERDATA, &n);
    ret[0] = 0;
    if (data)
        (void)nftnl_udata_parse(data, n, on_mark, ret);
}

/* False: it is not one of ours. */
static bool read_rule(const struct nlmsghdr *msg, char ret_mark[NAT_MARK], uint64_t *ret_handle)
{
    struct nftnl_rule *rule = need(nftnl_rule_alloc());
    const char *table =
        nftnl_rule_nlmsg_parse(msg, rule) == 0 ? nftnl_rule_get_str(rule, NFTNL_RULE_TABLE) : NULL;
    bool is_ours = table && strcmp(table, NAT_TABLE) == 0;
    if (is_ours) {
        read_mark(rule, ret_mark);
        *ret_handle = nftnl_rule_get_u64(rule, NFTNL_RULE_HANDLE);
    }
    nftnl_rule_free(rule);
    return is_ours;
}

struct rule_walk {
    void (*fn)(void *arg, const char *mark, uint64_t handle);
    void *arg;
};

static int on_rule(const struct nlmsghdr *msg, void *arg)
{
    const struct rule_walk *walk = arg;
    char mark[NAT_MARK];
    uint64_t handle;
    if (read_rule(msg, mark, &handle))
        walk->fn(walk->arg, mark, handle);
    return MNL_CB_OK;
}

static struct nlmsghdr *begin_dump(struct nat *n)
{
    struct nlmsghdr *msg = nftnl_nlmsg_build_hdr(n->nl->request, NFT_MSG_GETRULE, NFPROTO_INET,
                                                 NLM_F_DUMP, ++n->nl->seq);
    mnl_attr_put_strz(msg, NFTA_RULE_TABLE, NAT_TABLE);
    return msg;
}

/* A list that changes while it is made is made again; what comes twice then does no harm. */
static int each_rule(struct nat *n, void (*fn)(void *arg, const char *mark, uint64_t handle),
                     void *arg, struct spn_err *err)
{
    struct rule_walk walk = { fn, arg };
    int errnum = EINTR;
    for (int i = 0; i < 8 && errnum == EINTR; i++)
        errnum = netlink_exchange(n->nl, begin_dump(n), on_rule, &walk);
    return errnum == 0 || errnum == ENOENT ? 0 : netlink_fail(err, errnum, "list", "NAT rules");
}

/* The rules of one bridge. */
struct bridge_rules {
    const char *bridge, *mark; /* the mark of the rule that is wanted, or NULL */
    uint64_t old[NAT_MAX_OLD]; /* handles of all its rules, wanted or not */
    size_t n_old, n_wanted;
    bool others; /* there are rules of other bridges */
};

static void note_rule(void *arg, const char *mark, uint64_t handle)
{
    struct bridge_rules *rules = arg;
    size_t n = strlen(rules->bridge);
    if (strncmp(mark, rules->bridge, n) != 0 || mark[n] != ' ') {
        rules->others = true;
        return;
    }
    for (size_t i = 0; i < rules->n_old; i++)
        if (rules->old[i] == handle)
            return;
    if (rules->n_old == NAT_MAX_OLD)
        return;
    rules->old[rules->n_old++] = handle;
    if (rules->mark && strcmp(mark, rules->mark) == 0)
        rules->n_wanted++;
}

int nat_observe(struct nat *n, const char *bridge, const struct prefix *cidr,
                struct plan_actual *ret, struct spn_err *err)
{
    char mark[NAT_MARK];
    mark_of(bridge, cidr, mark);
    struct bridge_rules rules = { .bridge = bridge, .mark = mark };
    int r = each_rule(n, note_rule, &rules, err);
    if (r < 0)
        return r;
    ret->has_nat = rules.n_wanted > 0;
    ret->has_wrong_nat = rules.n_old > (ret->has_nat ? 1 : 0);
    return 0;
}

/* False: the mark is not one of ours. */
static bool bridge_of(const char *mark, char ret[PLAN_NAME])
{
    uint8_t mac[6];
    snprintf(ret, PLAN_NAME, "%.*s", (int)strcspn(mark, " "), mark);
    return plan_bridge_mac(ret, mac);
}

bool nat_is_deletion(const struct nlmsghdr *msg, char ret_bridge[PLAN_NAME])
{
    char mark[NAT_MARK];
    uint64_t handle;
    return msg->nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_DELRULE) &&
           read_rule(msg, mark, &handle) && bridge_of(mark, ret_bridge);
}

struct bridge_walk {
    void (*fn)(void *arg, const char *bridge);
    void *arg;
};

static void tell_bridge(void *arg, const char *mark, uint64_t handle)
{
    (void)handle;
    const struct bridge_walk *walk = arg;
    char bridge[PLAN_NAME];
    if (bridge_of(mark, bridge))
        walk->fn(walk->arg, bridge);
}

int nat_each_bridge(struct nat *n, void (*fn)(void *arg, const char *bridge), void *arg,
                    struct spn_err *err)
{
    struct bridge_walk walk = { fn, arg };
    return each_rule(n, tell_bridge, &walk, err);
}

/* ---- The rule ---- */

static void add_meta(struct nftnl_rule *rule, uint32_t key)
{
    struct nftnl_expr *expr = need(nftnl_expr_alloc("meta"));
    nftnl_expr_set_u32(expr, NFTNL_EXPR_META_KEY, key);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_META_DREG, NAT_REGISTER);
    nftnl_rule_add_expr(rule, expr);
}

static void add_compare(struct nftnl_rule *rule, uint32_t op, const void *bytes, uint32_t n)
{
    struct nftnl_expr *expr = need(nftnl_expr_alloc("cmp"));
    nftnl_expr_set_u32(expr, NFTNL_EXPR_CMP_SREG, NAT_REGISTER);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_CMP_OP, op);
    nftnl_expr_set(expr, NFTNL_EXPR_CMP_DATA, bytes, n);
    nftnl_rule_add_expr(rule, expr);
}

static void add_source_address(struct nftnl_rule *rule, int family)
{
    uint32_t at =
        family == AF_INET ? offsetof(struct iphdr, saddr) : offsetof(struct ip6_hdr, ip6_src);
    struct nftnl_expr *expr = need(nftnl_expr_alloc("payload"));
    nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_DREG, NAT_REGISTER);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_OFFSET, at);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_LEN, prefix_bytes(family));
    nftnl_rule_add_expr(rule, expr);
}

static void add_mask(struct nftnl_rule *rule, const struct prefix *cidr)
{
    struct prefix none = { .family = cidr->family, .len = cidr->len };
    struct prefix host = prefix_last(&none); /* ones where the mask has zeros */
    uint32_t n = prefix_bytes(cidr->family);
    for (uint32_t i = 0; i < n; i++)
        host.bytes[i] = (uint8_t)~host.bytes[i];
    struct nftnl_expr *expr = need(nftnl_expr_alloc("bitwise"));
    nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_SREG, NAT_REGISTER);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_DREG, NAT_REGISTER);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_LEN, n);
    nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_MASK, host.bytes, n);
    nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_XOR, none.bytes, n);
    nftnl_rule_add_expr(rule, expr);
}

static void add_mark(struct nftnl_rule *rule, const char *mark)
{
    struct nftnl_udata_buf *buf = need(nftnl_udata_buf_alloc(NFT_USERDATA_MAXLEN));
    nftnl_udata_put_strz(buf, NFTNL_UDATA_RULE_COMMENT, mark);
    nftnl_rule_set_data(rule, NFTNL_RULE_USERDATA, nftnl_udata_buf_data(buf),
                        nftnl_udata_buf_len(buf));
    nftnl_udata_buf_free(buf);
}

static struct nftnl_rule *rule_new(void)
{
    struct nftnl_rule *rule = need(nftnl_rule_alloc());
    nftnl_rule_set_u32(rule, NFTNL_RULE_FAMILY, NFPROTO_INET);
    nftnl_rule_set_str(rule, NFTNL_RULE_TABLE, NAT_TABLE);
    nftnl_rule_set_str(rule, NFTNL_RULE_CHAIN, NAT_CHAIN);
    return rule;
}

static struct nftnl_rule *rule_of(const char *bridge, const struct prefix *cidr)
{
    uint8_t protocol = cidr->family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6;
    char name[PLAN_NAME] = { 0 }, mark[NAT_MARK];
    snprintf(name, sizeof(name), "%s", bridge);
    mark_of(bridge, cidr, mark);

    struct nftnl_rule *rule = rule_new();
    add_mark(rule, mark);
    add_meta(rule, NFT_META_NFPROTO);
    add_compare(rule, NFT_CMP_EQ, &protocol, sizeof(protocol));
    add_source_address(rule, cidr->family);
    add_mask(rule, cidr);
    add_compare(rule, NFT_CMP_EQ, cidr->bytes, prefix_bytes(cidr->family));
    add_meta(rule, NFT_META_OIFNAME);
    add_compare(rule, NFT_CMP_NEQ, name, sizeof(name));
    nftnl_rule_add_expr(rule, need(nftnl_expr_alloc("masq")));
    return rule;
}

/* ---- Transactions ---- */

struct transaction {
    struct netlink *nl;
    struct mnl_nlmsg_batch *batch;
    unsigned first;
    struct nlmsghdr *last;
};

static void transaction_begin(struct transaction *t, struct nat *n)
{
    t->nl = n->nl;
    t->first = ++n->nl->seq;
    t->batch = need(mnl_nlmsg_batch_start(n->nl->request, sizeof(n->nl->request)));
    t->last = nftnl_batch_begin(mnl_nlmsg_batch_current(t->batch), t->first);
    mnl_nlmsg_batch_next(t->batch);
}

static struct nlmsghdr *transaction_add(struct transaction *t, uint16_t type, uint16_t flags)
{
    t->last = nftnl_nlmsg_build_hdr(mnl_nlmsg_batch_current(t->batch), type, NFPROTO_INET, flags,
                                    ++t->nl->seq);
    return t->last;
}

/* The last message of the transaction is the one that the kernel acknowledges. */
static int transaction_end(struct transaction *t)
{
    t->last->nlmsg_flags |= NLM_F_ACK;
    unsigned last = t->last->nlmsg_seq;
    nftnl_batch_end(mnl_nlmsg_batch_current(t->batch), ++t->nl->seq);
    mnl_nlmsg_batch_next(t->batch);
    int errnum = netlink_batch(t->nl, mnl_nlmsg_batch_head(t->batch),
                               mnl_nlmsg_batch_size(t->batch), t->first, last);
    mnl_nlmsg_batch_stop(t->batch);
    return errnum;
}

static void add_table(struct transaction *t, uint16_t type, uint16_t flags)
{
    struct nftnl_table *table = need(nftnl_table_alloc());
    nftnl_table_set_u32(table, NFTNL_TABLE_FAMILY, NFPROTO_INET);
    nftnl_table_set_str(table, NFTNL_TABLE_NAME, NAT_TABLE);
    nftnl_table_nlmsg_build_payload(transaction_add(t, type, flags), table);
    nftnl_table_free(table);
    mnl_nlmsg_batch_next(t->batch);
}

static void add_chain(struct transaction *t)
{
    struct nftnl_chain *chain = need(nftnl_chain_alloc());
    nftnl_chain_set_u32(chain, NFTNL_CHAIN_FAMILY, NFPROTO_INET);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, NAT_TABLE);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, NAT_CHAIN);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, "nat");
    nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, NF_INET_POST_ROUTING);
    nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, NAT_PRIORITY);
    nftnl_chain_nlmsg_build_payload(transaction_add(t, NFT_MSG_NEWCHAIN, NLM_F_CREATE), chain);
    nftnl_chain_free(chain);
    mnl_nlmsg_batch_next(t->batch);
}

/* Takes over the rule. */
static void add_rule(struct transaction *t, uint16_t type, uint16_t flags, struct nftnl_rule *rule)
{
    nftnl_rule_nlmsg_build_payload(transaction_add(t, type, flags), rule);
    nftnl_rule_free(rule);
    mnl_nlmsg_batch_next(t->batch);
}

static void add_deletions(struct transaction *t, const struct bridge_rules *rules)
{
    for (size_t i = 0; i < rules->n_old; i++) {
        struct nftnl_rule *rule = rule_new();
        nftnl_rule_set_u64(rule, NFTNL_RULE_HANDLE, rules->old[i]);
        add_rule(t, NFT_MSG_DELRULE, 0, rule);
    }
}

int nat_set(struct nat *n, const char *bridge, const struct prefix *cidr, struct spn_err *err)
{
    struct bridge_rules rules = { .bridge = bridge };
    int r = each_rule(n, note_rule, &rules, err);
    if (r < 0)
        return r;
    struct transaction t;
    transaction_begin(&t, n);
    add_table(&t, NFT_MSG_NEWTABLE, NLM_F_CREATE);
    add_chain(&t);
    add_deletions(&t, &rules);
    add_rule(&t, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, rule_of(bridge, cidr));
    int errnum = transaction_end(&t);
    return errnum ? netlink_fail(err, errnum, "set up NAT for", bridge) : 0;
}

int nat_remove(struct nat *n, const char *bridge, struct spn_err *err)
{
    struct bridge_rules rules = { .bridge = bridge };
    int r = each_rule(n, note_rule, &rules, err);
    if (r < 0)
        return r;
    if (rules.n_old == 0)
        return 0;
    struct transaction t;
    transaction_begin(&t, n);
    add_deletions(&t, &rules);
    if (!rules.others)
        add_table(&t, NFT_MSG_DELTABLE, 0);
    int errnum = transaction_end(&t);
    return errnum && errnum != ENOENT ? netlink_fail(err, errnum, "end NAT for", bridge) : 0;
}

/* ---- Forwarding ---- */

int nat_forward(int family, struct spn_err *err)
{
    const char *path = family == AF_INET ? "/proc/sys/net/ipv4/ip_forward"
                                         : "/proc/sys/net/ipv6/conf/all/forwarding";
    char now = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, &now, 1);
    if (fd >= 0)
        close(fd);
    if (n == 1 && now == '1')
        return 0;
    fd = open(path, O_WRONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : write(fd, "1", 1);
    int errnum = errno;
    if (fd >= 0)
        close(fd);
    return n == 1 ? 0 : spn_err_set(err, SPN_FILE, "%s: %s", path, strerror(errnum));
}
