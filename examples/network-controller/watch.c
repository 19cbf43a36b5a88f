/* watch.c - see watch.h. */
#include "watch.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "nat.h"

struct watch {
    void (*fn)(void *arg, const char *name);
    void *arg;
    struct mnl_socket *links, *rules; /* `rules` is NULL where the kernel has no nftables */
    int stop;                         /* an eventfd */
    pthread_t thread;
    char buf[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
};

static const char *link_name(const struct nlmsghdr *msg)
{
    const struct nlattr *attr;
    mnl_attr_for_each(attr, msg, sizeof(struct ifinfomsg))
    {
        if (mnl_attr_get_type(attr) == IFLA_IFNAME &&
            mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
            return mnl_attr_get_str(attr);
    }
    return NULL;
}

/* The name of a link that is gone already is not needed: that it went is told by itself. */
static void tell_address(struct watch *w, const struct nlmsghdr *msg)
{
    const struct ifaddrmsg *head = mnl_nlmsg_get_payload(msg);
    char name[IF_NAMESIZE];
    if (mnl_nlmsg_get_payload_len(msg) >= sizeof(*head) && if_indextoname(head->ifa_index, name))
        w->fn(w->arg, name);
}

static int on_link_message(const struct nlmsghdr *msg, void *arg)
{
    struct watch *w = arg;
    const char *name;
    switch (msg->nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
        name = link_name(msg);
        if (name)
            w->fn(w->arg, name);
        break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
        tell_address(w, msg);
        break;
    default:
        break;
    }
    return MNL_CB_OK;
}

/* A table or chain that goes takes its rules along, and each of them is told. */
static int on_rule_message(const struct nlmsghdr *msg, void *arg)
{
    struct watch *w = arg;
    char bridge[PLAN_NAME];
    if (nat_is_deletion(msg, bridge))
        w->fn(w->arg, bridge);
    return MNL_CB_OK;
}

static void read_some(struct watch *w, struct mnl_socket *sock, mnl_cb_t fn)
{
    ssize_t n = mnl_socket_recvfrom(sock, w->buf, sizeof(w->buf));
    if (n > 0)
        (void)mnl_cb_run(w->buf, (size_t)n, 0, 0, fn, w);
    else if (n < 0 && errno == ENOBUFS)
        w->fn(w->arg, NULL);
}

static void *watch_thread(void *arg)
{
    struct watch *w = arg;
    struct pollfd fds[] = {
        { .fd = w->stop, .events = POLLIN },
        { .fd = mnl_socket_get_fd(w->links), .events = POLLIN },
        { .fd = w->rules ? mnl_socket_get_fd(w->rules) : -1, .events = POLLIN },
    };
    while (poll(fds, 3, -1) >= 0 || errno == EINTR) {
        if (fds[0].revents)
            break;
        if (fds[1].revents)
            read_some(w, w->links, on_link_message);
        if (fds[2].revents)
            read_some(w, w->rules, on_rule_message);
    }
    return NULL;
}

static struct mnl_socket *listen_to(int bus, unsigned groups)
{
    struct mnl_socket *sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
    if (sock && mnl_socket_bind(sock, groups, MNL_SOCKET_AUTOPID) < 0) {
        mnl_socket_close(sock);
        sock = NULL;
    }
    return sock;
}

static struct watch *watch_free(struct watch *w)
{
    if (w->links)
        mnl_socket_close(w->links);
    if (w->rules)
        mnl_socket_close(w->rules);
    if (w->stop >= 0)
        close(w->stop);
    free(w);
    return NULL;
}

int watch_start(void (*fn)(void *arg, const char *name), void *arg, struct watch **ret,
                struct spn_err *err)
{
    struct watch *w = calloc(1, sizeof(*w));
    if (!w)
        abort();
    w->fn = fn;
    w->arg = arg;
    w->stop = eventfd(0, EFD_CLOEXEC);
    w->links = listen_to(NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
    w->rules = listen_to(NETLINK_NETFILTER, 1u << (NFNLGRP_NFTABLES - 1));
    if (w->stop < 0 || !w->links || pthread_create(&w->thread, NULL, watch_thread, w) != 0) {
        watch_free(w);
        return spn_err_set(err, SPN_SERVER_ERROR, "links cannot be watched");
    }
    *ret = w;
    return 0;
}

struct watch *watch_stop(struct watch *w)
{
    if (!w)
        return NULL;
    eventfd_write(w->stop, 1);
    pthread_join(w->thread, NULL);
    return watch_free(w);
}
