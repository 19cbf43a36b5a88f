/* The behaviour suite of the store on a mirror of a real etcd, which each test gets new. */
#include "remote/remote.h"

#include <stdio.h>
#include <stdlib.h>

#include "net/grpc/suite_etcd.h"
#include "store/suite.h"
#include "store/suite_fixture.h"

static struct suite_etcd etcd = { .pid = -1 };

static int begin(const char *dir)
{
    return suite_etcd_start(&etcd, dir) > 0 ? 0 : -1;
}

static int open_remote(const struct store_options *opt, struct store **ret, struct err *err)
{
    const struct str server = str_of(etcd.url);
    return remote_open(&(struct remote_options){ .servers = &server,
                                                 .n_servers = 1,
                                                 .prefix = STR("/registry"),
                                                 .tick_ms = 3600 * 1000, /* revisions are counted */
                                                 .clock = opt->clock,
                                                 .history_bytes = opt->history_bytes,
                                                 .history_ns = opt->history_ns },
                       ret, err);
}

static void end(void)
{
    suite_etcd_kill(&etcd);
}

int main(void)
{
    static const struct suite_peer peer = { begin, open_remote, end };
    struct suite_etcd probe;
    char dir[] = "/tmp/engine_etcd.XXXXXX";
    int there = mkdtemp(dir) ? suite_etcd_start(&probe, dir) : 0;
    suite_etcd_kill(&probe);
    remove_tree(dir);
    if (there < 0) {
        (void)fprintf(stderr, "etcd is not installed\n");
        return 77; /* skipped */
    }
    suite_peer = &peer;
    return suite_run(STORE_MIRROR);
}
