/* up_etcd.h - the flags of `sampan up` about an etcd that has the data; named as kube-apiserver's.
 */
#pragma once

#include <getopt.h>

#include "remote/remote.h"

struct up_etcd {
    const char *servers, *ca, *cert, *key, *prefix, *user_file; /* NULL: not given */
};

/* What getopt_long() returns for them; all others are smaller. */
enum up_etcd_flag {
    UP_ETCD_SERVERS = 4096,
    UP_ETCD_CA,
    UP_ETCD_CERT,
    UP_ETCD_KEY,
    UP_ETCD_PREFIX,
    UP_ETCD_USER_FILE,
    UP_ETCD_END,
};

#define UP_ETCD_OPTIONS                                              \
    { "etcd-servers", required_argument, NULL, UP_ETCD_SERVERS },    \
        { "etcd-cafile", required_argument, NULL, UP_ETCD_CA },      \
        { "etcd-certfile", required_argument, NULL, UP_ETCD_CERT },  \
        { "etcd-keyfile", required_argument, NULL, UP_ETCD_KEY },    \
        { "etcd-prefix", required_argument, NULL, UP_ETCD_PREFIX },  \
    {                                                                \
        "etcd-user-file", required_argument, NULL, UP_ETCD_USER_FILE \
    }

extern const char up_etcd_usage[];

void up_etcd_take(enum up_etcd_flag flag, const char *given, struct up_etcd *ret);
/* False, after a message, if the flags do not go together. */
bool up_etcd_check(const struct up_etcd *opt);
/* Reads the files, and who we are from the file or from SAMPAN_ETCD_USER. Texts lie in the arena.
 * Without servers there is nothing to read. */
int up_etcd_load(struct arena *a, const struct up_etcd *opt, struct remote_options *ret,
                 struct err *err);
