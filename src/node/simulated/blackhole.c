#include "node/simulated/blackhole.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/banned.h"

#define NETWORK "198.18.0.0"
enum { NETWORK_BITS = 15, WAIT_SEC = 2 };

/* As `ip route add blackhole` says it to the kernel. */
struct wish {
    struct nlmsghdr head;
    struct rtmsg route;
    struct rtattr destination;
    struct in_addr address;
};

struct reply {
    struct nlmsghdr head;
    struct nlmsgerr what;
};

static enum blackhole meaning_of(int errnum)
{
    switch (errnum) {
    case 0:
        return BLACKHOLE_ADDED;
    case EEXIST:
        return BLACKHOLE_IS_THERE;
    case EPERM:
    case EACCES:
        return BLACKHOLE_FORBIDDEN;
    default:
        return BLACKHOLE_FAILED;
    }
}

static enum blackhole ask(int fd, const struct wish *wish)
{
    struct reply reply = { 0 };
    const struct timeval soon = { .tv_sec = WAIT_SEC };
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
    if (send(fd, wish, sizeof(*wish), 0) != (ssize_t)sizeof(*wish))
        return meaning_of(errno);
    const ssize_t n = recv(fd, &reply, sizeof(reply), 0);
    if (n < (ssize_t)sizeof(reply.head) + (ssize_t)sizeof(reply.what.error) ||
        reply.head.nlmsg_type != NLMSG_ERROR)
        return BLACKHOLE_FAILED;
    return meaning_of(-reply.what.error);
}

enum blackhole blackhole_add(void)
{
    autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct wish wish = {
        .head = { .nlmsg_len = sizeof(wish),
                  .nlmsg_type = RTM_NEWROUTE,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL },
        .route = { .rtm_family = AF_INET,
                   .rtm_dst_len = NETWORK_BITS,
                   .rtm_table = RT_TABLE_MAIN,
                   .rtm_protocol = RTPROT_BOOT,
                   .rtm_scope = RT_SCOPE_UNIVERSE,
                   .rtm_type = RTN_BLACKHOLE },
        .destination = { .rta_len = RTA_LENGTH(sizeof(struct in_addr)), .rta_type = RTA_DST },
    };
    if (fd < 0 || inet_pton(AF_INET, NETWORK, &wish.address) != 1)
        return BLACKHOLE_FAILED;
    return ask(fd, &wish);
}
