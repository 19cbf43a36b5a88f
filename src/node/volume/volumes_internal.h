/* volumes_internal.h - what the files behind volumes.h share. */
#pragma once

#include "node/volume/volumes.h"

struct volumes {
    const struct node_facts *node;
    const struct pod_objects *objects;
};
