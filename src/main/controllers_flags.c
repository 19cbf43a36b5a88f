#include "main/controllers_flags.h"

#include <stddef.h>
#include <stdio.h>

#include "api/go/goduration.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "main/program.h"
#include "base/banned.h"

const char controllers_flags_usage[] =
    "  --allocate-node-cidrs[=BOOL]\n"
    "                      every node gets a block of addresses for its pods (default false)\n"
    "  --cluster-cidr NET  the network of these blocks; a comma separates two, one of each family\n"
    "  --node-cidr-mask-size, --node-cidr-mask-size-ipv4, --node-cidr-mask-size-ipv6 N\n"
    "                      bits of a block (default 24, of IPv6 64)\n"
    "  --cluster-signing-duration TIME\n"
    "                      how long certificates that are asked for last at most (default 8760h)\n"
    "  --enable-hostpath-provisioner[=BOOL]\n"
    "                      volumes of the class kubernetes.io/host-path are made on this machine\n"
    "  --horizontal-pod-autoscaler-sync-period TIME\n"
    "                      autoscalers are looked at so often (default 15s)\n"
    "  --legacy-service-account-token-clean-up-period TIME\n"
    "                      tokens in Secrets that are unused for so long go (default 8760h)\n"
    "  --node-monitor-period TIME, --node-monitor-grace-period TIME\n"
    "                      nodes are looked at so often (default 5s), and are lost after so long\n"
    "                      without a word (default 50s)\n"
    "  --pvclaimbinder-sync-period TIME\n"
    "                      claims that wait are looked at so often (default 15s)\n";

enum form { A_BOOL, A_TEXT, BITS, TIME };

static const struct {
    enum controllers_flag flag;
    enum form form;
    size_t at;
} rows[] = {
    { CONTROLLERS_ALLOCATE_CIDRS, A_BOOL,
      offsetof(struct controllers_options, allocates_node_cidrs) },
    { CONTROLLERS_CLUSTER_CIDR, A_TEXT, offsetof(struct controllers_options, cluster_cidr) },
    { CONTROLLERS_NODE_BITS, BITS, offsetof(struct controllers_options, node_bits) },
    { CONTROLLERS_NODE_BITS_V4, BITS, offsetof(struct controllers_options, node_bits_v4) },
    { CONTROLLERS_NODE_BITS_V6, BITS, offsetof(struct controllers_options, node_bits_v6) },
    { CONTROLLERS_SIGNING_DURATION, TIME, offsetof(struct controllers_options, signing_ms) },
    { CONTROLLERS_HOST_PATHS, A_BOOL, offsetof(struct controllers_options, makes_host_paths) },
    { CONTROLLERS_AUTOSCALER_SYNC, TIME, offsetof(struct controllers_options, autoscaler_sync_ms) },
    { CONTROLLERS_LEGACY_TOKENS, TIME, offsetof(struct controllers_options, legacy_token_ms) },
    { CONTROLLERS_NODE_MONITOR, TIME, offsetof(struct controllers_options, node_monitor_ms) },
    { CONTROLLERS_NODE_GRACE, TIME, offsetof(struct controllers_options, node_grace_ms) },
    { CONTROLLERS_VOLUME_SYNC, TIME, offsetof(struct controllers_options, volume_sync_ms) },
};

/* As Go writes them: "5s". False: it is none, or too short to be of use. */
static bool read_time(const char *text, int64_t *ret_ms)
{
    struct arena a;
    int64_t ns;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    bool is_good = goduration_parse(str_of(text), &ns, &why) == 0 && ns >= NS_PER_MS;
    arena_done(&a);
    if (is_good)
        *ret_ms = ns / NS_PER_MS;
    return is_good;
}

static bool read_bits(const char *text, unsigned *ret)
{
    uint64_t n;
    if (!str_to_u64(str_of(text), &n) || n < 1 || n > 128)
        return false;
    *ret = (unsigned)n;
    return true;
}

static bool read_as(enum form form, const char *given, void *to)
{
    switch (form) {
    case A_BOOL:
        return program_bool(given, to);
    case A_TEXT:
        *(const char **)to = given;
        return true;
    case BITS:
        return read_bits(given, to);
    case TIME:
        return read_time(given, to);
    }
    return false;
}

static const char *name_of(enum controllers_flag flag)
{
    static const struct option names[] = { CONTROLLERS_OPTIONS };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].val == (int)flag)
            return names[i].name;
    return "?";
}

bool controllers_flags_take(const char *command, enum controllers_flag flag, const char *given,
                            struct controllers_options *ret)
{
    static const char *const forms[] = { [A_BOOL] = "true or false",
                                         [A_TEXT] = "text",
                                         [BITS] = "a number from 1 to 128",
                                         [TIME] = "a time like 5s or 1h30m" };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].flag != flag)
            continue;
        if (read_as(rows[i].form, given, (char *)ret + rows[i].at))
            return true;
        fprintf(stderr, "sampan %s: --%s must be %s, not '%s'\n", command, name_of(flag),
                forms[rows[i].form], given);
    }
    return false;
}
