/* netlink.h - one question to the kernel and its answer. A socket belongs to one thread, and to the
 * network namespace in which it was opened. */
#pragma once

#include <libmnl/libmnl.h>

#include <sampan/err.h>

struct netlink {
    struct mnl_socket *sock;
    unsigned port, seq;
    char request[16384] __attribute__((aligned(NLMSG_ALIGNTO)));
    char answer[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/* `bus` is NETLINK_ROUTE or NETLINK_NETFILTER. */
int netlink_open(int bus, struct netlink **ret, struct spn_err *err);
struct netlink *netlink_close(struct netlink *nl); /* NULL will do */

/* Sends a message whose sequence number is nl->seq, and gives each message of the answer to `fn`,
 * which may be NULL. Returns 0 or an errno; EINTR: what is listed has changed meanwhile. */
int netlink_exchange(struct netlink *nl, const struct nlmsghdr *msg, mnl_cb_t fn, void *arg);
/* Sends `n` bytes of messages. The one with the number `first` opens the batch, the one with the
 * number `last` asks for an acknowledgement. Returns 0 or the first errno. */
int netlink_batch(struct netlink *nl, const void *batch, size_t n, unsigned first, unsigned last);

/* For an errno: SPN_NOT_FOUND, SPN_EXISTS, SPN_FORBIDDEN, and SPN_SERVER_ERROR for all others. */
int netlink_fail(struct spn_err *err, int errnum, const char *what, const char *name);
