/* A KubeletConfiguration: whatever the file says, it is read or refused with a reason. */
#include "node/config/node_config.h"

#include <stdlib.h>

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    struct node_config config = node_config_usual();
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    if (node_config_read(&a, (struct str){ (const char *)bytes, n }, &config, &err) < 0 &&
        !err.msg.n)
        abort();
    arena_done(&a);
    return 0;
}
