/* link.c - see link.h. */
#include "link.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netlink.h"

/* A list that changes while it is made is made again; what comes twice then does no harm. */
enum { LINK_TRIES = 8 };

struct link {
    struct netlink *nl;
};

int link_open(struct link **ret, struct spn_err *err)
{
    struct netlink *nl;
    int r = netlink_open(NETLINK_ROUTE, &nl, err);
    if (r < 0)
        return r;
    struct link *l = calloc(1, sizeof(*l));
    if (!l)
        abort();
    l->nl = nl;
    *ret = l;
    return 0;
}

struct link *link_close(struct link *l)
{
    if (l)
        netlink_close(l->nl);
    free(l);
    return NULL;
}

/* ---- Questions ---- */

static struct nlmsghdr *begin(struct link *l, int type, int flags)
{
    struct nlmsghdr *msg = mnl_nlmsg_put_header(l->nl->request);
    msg->nlmsg_type = (uint16_t)type;
    msg->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
    msg->nlmsg_seq = ++l->nl->seq;
    return msg;
}

static struct nlmsghdr *begin_link(struct link *l, int type, int flags, const char *name)
{
    struct nlmsghdr *msg = begin(l, type, flags);
    struct ifinfomsg *head = mnl_nlmsg_put_extra_header(msg, sizeof(*head));
    head->ifi_family = AF_UNSPEC;
    if (name)
        mnl_attr_put_strz(msg, IFLA_IFNAME, name);
    return msg;
}

/* ---- Looking ---- */

static const char *attr_text(const struct nlattr *attr)
{
    return mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0 ? "" : mnl_attr_get_str(attr);
}

static bool is_bridge(const struct nlattr *link_info)
{
    const struct nlattr *attr;
    mnl_attr_for_each_nested(attr, link_info)
    {
        if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
            return strncmp(mnl_attr_get_payload(attr), "bridge", mnl_attr_get_payload_len(attr)) ==
                   0;
    }
    return false;
}

struct found_link {
    char name[PLAN_NAME];
    uint8_t mac[6];
    bool is_bridge, is_up;
    unsigned mtu;
    int index;
};

static void read_link_attr(const struct nlattr *attr, struct found_link *ret)
{
    switch (mnl_attr_get_type(attr)) {
    case IFLA_IFNAME:
        snprintf(ret->name, sizeof(ret->name), "%s", attr_text(attr));
        break;
    case IFLA_MTU:
        ret->mtu = mnl_attr_get_u32(attr);
        break;
    case IFLA_ADDRESS:
        if (mnl_attr_get_payload_len(attr) == sizeof(ret->mac))
            memcpy(ret->mac, mnl_attr_get_payload(attr), sizeof(ret->mac));
        break;
    case IFLA_LINKINFO:
        ret->is_bridge = is_bridge(attr);
        break;
    default:
        break;
    }
}

static bool read_link(const struct nlmsghdr *msg, struct found_link *ret)
{
    if (msg->nlmsg_type != RTM_NEWLINK || mnl_nlmsg_get_payload_len(msg) < sizeof(struct ifinfomsg))
        return false;
    const struct ifinfomsg *head = mnl_nlmsg_get_payload(msg);
    *ret = (struct found_link){ .index = head->ifi_index, .is_up = head->ifi_flags & IFF_UP };
    const struct nlattr *attr;
    mnl_attr_for_each(attr, msg, sizeof(*head))
    {
        read_link_attr(attr, ret);
    }
    return true;
}

static bool is_ours(const struct found_link *found)
{
    uint8_t mac[6];
    return found->is_bridge && plan_bridge_mac(found->name, mac) &&
           memcmp(mac, found->mac, sizeof(mac)) == 0;
}

static int on_link(const struct nlmsghdr *msg, void *arg)
{
    read_link(msg, arg);
    return MNL_CB_OK;
}

/* `ret->index` is 0 if there is no such link. */
static int find_link(struct link *l, const char *name, struct found_link *ret, struct spn_err *err)
{
    *ret = (struct found_link){ 0 };
    int errnum = netlink_exchange(l->nl, begin_link(l, RTM_GETLINK, 0, name), on_link, ret);
    return errnum == 0 || errnum == ENODEV ? 0 : netlink_fail(err, errnum, "look at", name);
}

/* ---- Addresses ---- */

static const void *address_of(const struct nlmsghdr *msg, unsigned n)
{
    const void *local = NULL, *address = NULL;
    const struct nlattr *attr;
    mnl_attr_for_each(attr, msg, sizeof(struct ifaddrmsg))
    {
        if (mnl_attr_get_payload_len(attr) != n)
            continue;
        if (mnl_attr_get_type(attr) == IFA_LOCAL)
            local = mnl_attr_get_payload(attr);
        if (mnl_attr_get_type(attr) == IFA_ADDRESS)
            address = mnl_attr_get_payload(attr);
    }
    return local ? local : address; /* they differ where there is a peer */
}

static bool read_address(const struct nlmsghdr *msg, int *ret_index, struct prefix *ret)
{
    if (msg->nlmsg_type != RTM_NEWADDR || mnl_nlmsg_get_payload_len(msg) < sizeof(struct ifaddrmsg))
        return false;
    const struct ifaddrmsg *head = mnl_nlmsg_get_payload(msg);
    if (head->ifa_family != AF_INET && head->ifa_family != AF_INET6)
        return false;
    if (head->ifa_family == AF_INET6 && head->ifa_scope == RT_SCOPE_LINK)
        return false; /* the kernel's own, fe80:: */
    struct prefix p = { .family = head->ifa_family, .len = head->ifa_prefixlen };
    const void *bytes = address_of(msg, prefix_bytes(p.family));
    if (!bytes)
        return false;
    memcpy(p.bytes, bytes, prefix_bytes(p.family));
    *ret_index = (int)head->ifa_index;
    *ret = p;
    return true;
}

struct address_search {
    int index;
    struct plan_actual *ret;
};

static int on_address(const struct nlmsghdr *msg, void *arg)
{
    struct address_search *search = arg;
    struct plan_actual *ret = search->ret;
    struct prefix address;
    int index;
    if (read_address(msg, &index, &address) && index == search->index &&
        ret->n_addresses < PLAN_MAX_ADDRESSES)
        ret->addresses[ret->n_addresses++] = address;
    return MNL_CB_OK;
}

static int dump_addresses(struct link *l, mnl_cb_t fn, void *arg, struct spn_err *err)
{
    int errnum = EINTR;
    for (int i = 0; i < LINK_TRIES && errnum == EINTR; i++) {
        struct nlmsghdr *msg = begin(l, RTM_GETADDR, NLM_F_DUMP);
        mnl_nlmsg_put_extra_header(msg, sizeof(struct ifaddrmsg));
        errnum = netlink_exchange(l->nl, msg, fn, arg);
    }
    return errnum ? netlink_fail(err, errnum, "list", "addresses") : 0;
}

int link_observe(struct link *l, const char *name, struct plan_actual *ret, struct spn_err *err)
{
    struct found_link found;
    int r = find_link(l, name, &found, err);
    if (r < 0)
        return r;
    *ret = (struct plan_actual){ .exists = found.index != 0,
                                 .is_ours = is_ours(&found),
                                 .is_up = found.is_up,
                                 .mtu = found.mtu };
    if (!ret->exists)
        return 0;
    struct address_search search = { found.index, ret };
    return dump_addresses(l, on_address, &search, err);
}

/* ---- Changing ---- */

int link_create(struct link *l, const char *name, struct spn_err *err)
{
    uint8_t mac[6];
    if (!plan_bridge_mac(name, mac))
        return spn_err_set(err, SPN_BAD_REQUEST, "%s is no name of a bridge of ours", name);
    struct nlmsghdr *msg = begin_link(l, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, name);
    mnl_attr_put(msg, IFLA_ADDRESS, sizeof(mac), mac);
    struct nlattr *nest = mnl_attr_nest_start(msg, IFLA_LINKINFO);
    mnl_attr_put_strz(msg, IFLA_INFO_KIND, "bridge");
    mnl_attr_nest_end(msg, nest);
    int errnum = netlink_exchange(l->nl, msg, NULL, NULL);
    return errnum ? netlink_fail(err, errnum, "make bridge", name) : 0;
}

int link_delete(struct link *l, const char *name, struct spn_err *err)
{
    int errnum = netlink_exchange(l->nl, begin_link(l, RTM_DELLINK, 0, name), NULL, NULL);
    return errnum && errnum != ENODEV ? netlink_fail(err, errnum, "delete bridge", name) : 0;
}

int link_set_mtu(struct link *l, const char *name, unsigned mtu, struct spn_err *err)
{
    struct nlmsghdr *msg = begin_link(l, RTM_NEWLINK, 0, name);
    mnl_attr_put_u32(msg, IFLA_MTU, mtu);
    int errnum = netlink_exchange(l->nl, msg, NULL, NULL);
    return errnum ? netlink_fail(err, errnum, "set the MTU of", name) : 0;
}

int link_set_up(struct link *l, const char *name, struct spn_err *err)
{
    struct nlmsghdr *msg = begin_link(l, RTM_NEWLINK, 0, name);
    struct ifinfomsg *head = mnl_nlmsg_get_payload(msg);
    head->ifi_flags = IFF_UP;
    head->ifi_change = IFF_UP;
    int errnum = netlink_exchange(l->nl, msg, NULL, NULL);
    return errnum ? netlink_fail(err, errnum, "start", name) : 0;
}

static struct nlmsghdr *begin_address(struct link *l, int type, int flags, int index,
                                      const struct prefix *address)
{
    struct nlmsghdr *msg = begin(l, type, flags);
    struct ifaddrmsg *head = mnl_nlmsg_put_extra_header(msg, sizeof(*head));
    head->ifa_family = (uint8_t)address->family;
    head->ifa_prefixlen = (uint8_t)address->len;
    head->ifa_index = (unsigned)index;
    unsigned n = prefix_bytes(address->family);
    mnl_attr_put(msg, IFA_LOCAL, n, address->bytes);
    mnl_attr_put(msg, IFA_ADDRESS, n, address->bytes);
    return msg;
}

/* The broadcast address is the last one of the network, as people expect it of `ip addr`. A gateway
 * of IPv6 is ours by decree: waiting for the answer of another one would only delay it. */
static void put_address_details(struct nlmsghdr *msg, const struct prefix *address)
{
    struct prefix last = prefix_last(address);
    if (address->family == AF_INET)
        mnl_attr_put(msg, IFA_BROADCAST, 4, last.bytes);
    else
        mnl_attr_put_u32(msg, IFA_FLAGS, IFA_F_NODAD);
}

static int find_index(struct link *l, const char *name, int *ret, struct spn_err *err)
{
    struct found_link found;
    int r = find_link(l, name, &found, err);
    if (r < 0)
        return r;
    *ret = found.index;
    return found.index ? 0 : netlink_fail(err, ENODEV, "find", name);
}

int link_add_address(struct link *l, const char *name, const struct prefix *address,
                     struct spn_err *err)
{
    int index;
    int r = find_index(l, name, &index, err);
    if (r < 0)
        return r;
    struct nlmsghdr *msg = begin_address(l, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, index, address);
    put_address_details(msg, address);
    int errnum = netlink_exchange(l->nl, msg, NULL, NULL);
    return errnum && errnum != EEXIST ? netlink_fail(err, errnum, "add an address to", name) : 0;
}

int link_delete_address(struct link *l, const char *name, const struct prefix *address,
                        struct spn_err *err)
{
    int index;
    int r = find_index(l, name, &index, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? 0 : r;
    int errnum =
        netlink_exchange(l->nl, begin_address(l, RTM_DELADDR, 0, index, address), NULL, NULL);
    return errnum && errnum != EADDRNOTAVAIL
               ? netlink_fail(err, errnum, "delete an address of", name)
               : 0;
}

/* ---- All of them ---- */

/* Links are kept while their addresses are asked for: one socket answers one question at a time. */
struct found_links {
    struct found_link *items;
    size_t n, room;
};

static int on_each_link(const struct nlmsghdr *msg, void *arg)
{
    struct found_links *all = arg;
    if (all->n == all->room) {
        all->room = all->room ? 2 * all->room : 16;
        all->items = reallocarray(all->items, all->room, sizeof(*all->items));
        if (!all->items)
            abort();
    }
    if (read_link(msg, &all->items[all->n]))
        all->n++;
    return MNL_CB_OK;
}

static int find_links(struct link *l, struct found_links *ret, struct spn_err *err)
{
    *ret = (struct found_links){ 0 };
    int errnum = EINTR;
    for (int i = 0; i < LINK_TRIES && errnum == EINTR; i++)
        errnum = netlink_exchange(l->nl, begin_link(l, RTM_GETLINK, NLM_F_DUMP, NULL), on_each_link,
                                  ret);
    return errnum ? netlink_fail(err, errnum, "list", "links") : 0;
}

int link_each_bridge(struct link *l, void (*fn)(void *arg, const char *name), void *arg,
                     struct spn_err *err)
{
    struct found_links all;
    int r = find_links(l, &all, err);
    for (size_t i = 0; r == 0 && i < all.n; i++)
        if (is_ours(&all.items[i]))
            fn(arg, all.items[i].name);
    free(all.items);
    return r;
}

struct address_walk {
    const struct found_links *links;
    void (*fn)(void *arg, const char *name, const struct prefix *address);
    void *arg;
};

static int on_each_address(const struct nlmsghdr *msg, void *arg)
{
    const struct address_walk *walk = arg;
    struct prefix address;
    int index;
    if (!read_address(msg, &index, &address))
        return MNL_CB_OK;
    for (size_t i = 0; i < walk->links->n; i++)
        if (walk->links->items[i].index == index && !is_ours(&walk->links->items[i]))
            walk->fn(walk->arg, walk->links->items[i].name, &address);
    return MNL_CB_OK;
}

int link_each_address(struct link *l,
                      void (*fn)(void *arg, const char *name, const struct prefix *address),
                      void *arg, struct spn_err *err)
{
    struct found_links all;
    int r = find_links(l, &all, err);
    if (r < 0) {
        free(all.items);
        return r;
    }
    struct address_walk walk = { &all, fn, arg };
    r = dump_addresses(l, on_each_address, &walk, err);
    free(all.items);
    return r;
}
