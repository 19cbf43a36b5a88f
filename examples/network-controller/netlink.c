/* netlink.c - see netlink.h. */
#include "netlink.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int netlink_fail(struct spn_err *err, int errnum, const char *what, const char *name)
{
    enum spn_code code = SPN_SERVER_ERROR;
    if (errnum == ENODEV || errnum == ENOENT || errnum == EADDRNOTAVAIL)
        code = SPN_NOT_FOUND;
    else if (errnum == EEXIST)
        code = SPN_EXISTS;
    else if (errnum == EPERM || errnum == EACCES)
        code = SPN_FORBIDDEN;
    return spn_err_set(err, code, "%s %s: %s", what, name, strerror(errnum));
}

int netlink_open(int bus, struct netlink **ret, struct spn_err *err)
{
    struct mnl_socket *sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
    if (!sock)
        return netlink_fail(err, errno, "open", "netlink");
    if (mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0) {
        int errnum = errno;
        mnl_socket_close(sock);
        return netlink_fail(err, errnum, "bind", "netlink");
    }
    struct netlink *nl = calloc(1, sizeof(*nl));
    if (!nl)
        abort();
    nl->sock = sock;
    nl->port = mnl_socket_get_portid(sock);
    *ret = nl;
    return 0;
}

struct netlink *netlink_close(struct netlink *nl)
{
    if (nl)
        mnl_socket_close(nl->sock);
    free(nl);
    return NULL;
}

/* Returns the number of bytes, or a negative errno. */
static ssize_t receive(struct netlink *nl)
{
    for (;;) {
        ssize_t n = mnl_socket_recvfrom(nl->sock, nl->answer, sizeof(nl->answer));
        if (n >= 0)
            return n;
        if (errno != EINTR)
            return -errno;
    }
}

int netlink_exchange(struct netlink *nl, const struct nlmsghdr *msg, mnl_cb_t fn, void *arg)
{
    if (mnl_socket_sendto(nl->sock, msg, msg->nlmsg_len) < 0)
        return errno;
    for (;;) {
        ssize_t n = receive(nl);
        if (n < 0)
            return (int)-n;
        int r = mnl_cb_run(nl->answer, (size_t)n, nl->seq, nl->port, fn, arg);
        if (r < 0 && errno == EPROTO)
            continue; /* the rest of an answer that was given up */
        if (r <= 0)
            return r < 0 ? errno : 0;
    }
}

struct batch_state {
    unsigned first, last;
    int errnum;
    bool is_over;
};

/* A batch that is refused as a whole has only its first message answered. */
static void note_answer(const struct nlmsghdr *msg, struct batch_state *state)
{
    if (msg->nlmsg_type != NLMSG_ERROR ||
        mnl_nlmsg_get_payload_len(msg) < sizeof(struct nlmsgerr) || msg->nlmsg_seq < state->first ||
        msg->nlmsg_seq > state->last)
        return;
    const struct nlmsgerr *answer = mnl_nlmsg_get_payload(msg);
    if (answer->error && !state->errnum)
        state->errnum = -answer->error;
    if (msg->nlmsg_seq == state->last || (answer->error && msg->nlmsg_seq == state->first))
        state->is_over = true;
}

int netlink_batch(struct netlink *nl, const void *batch, size_t n, unsigned first, unsigned last)
{
    struct batch_state state = { first, last, 0, false };
    if (mnl_socket_sendto(nl->sock, batch, n) < 0)
        return errno;
    while (!state.is_over) {
        ssize_t got = receive(nl);
        if (got < 0)
            return (int)-got;
        int left = (int)got;
        struct nlmsghdr *msg = (struct nlmsghdr *)nl->answer;
        for (; mnl_nlmsg_ok(msg, left); msg = mnl_nlmsg_next(msg, &left))
            note_answer(msg, &state);
    }
    return state.errnum;
}
