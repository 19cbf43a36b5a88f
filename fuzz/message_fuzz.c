/* Messages of other systems. The first byte chooses a type, the rest is a message. What
 * message_read() makes of it, written and read again, gives the same bytes; zeros that stood there
 * are left out. What JSON cannot say (a duration of 20,000 years, an Any of an unknown type) may be
 * refused when it is written. */
#include "wire/message.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char *const types[] = {
    "runtime.v1.RunPodSandboxRequest",
    "runtime.v1.CreateContainerRequest",
    "runtime.v1.ContainerStatusResponse",
    "runtime.v1.ListContainersResponse",
    "runtime.v1.ListPodSandboxStatsResponse",
    "runtime.v1.ImageStatusResponse",
    "runtime.v1.StatusResponse",
    "runtime.v1.ExecSyncResponse",
    "envoy.service.discovery.v3.DiscoveryRequest",
    "envoy.service.discovery.v3.DeltaDiscoveryRequest",
    "envoy.service.discovery.v3.DiscoveryResponse",
    "envoy.config.cluster.v3.Cluster",
    "envoy.config.listener.v3.Listener",
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
    "google.protobuf.Any",
    "google.protobuf.Struct",
};

static void must(bool good)
{
    if (!good)
        abort();
}

static void check(struct arena *a, const struct message_type *m, struct str message)
{
    struct value once, twice;
    autobuf out = { 0 };
    autobuf again = { 0 };
    struct err err = ERR_INIT(a);
    if (message_read(a, m, message, &once, &err) < 0 || message_write(&out, m, &once, &err) < 0)
        return;
    must(message_read(a, m, buf_str(&out), &twice, &err) == 0);
    must(message_write(&again, m, &twice, &err) == 0);
    must(str_eq(buf_str(&out), buf_str(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    if (n < 1)
        return 0;
    const struct message_type *m = message_find(str_of(types[bytes[0] % ARRAY_LEN(types)]));
    must(m != NULL);
    arena_init(&a);
    check(&a, m, (struct str){ (const char *)bytes + 1, n - 1 });
    arena_done(&a);
    return 0;
}
