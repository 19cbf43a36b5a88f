/* resource_table.h - numbers for the names of resources, so that sums are arrays.
 *
 * The first three are always cpu (in thousandths), memory and ephemeral-storage. A name keeps its
 * number for ever. Any thread. */
#pragma once

#include <pthread.h>

#include "base/str.h"

enum {
    RESOURCE_CPU,
    RESOURCE_MEMORY,
    RESOURCE_STORAGE,
    RESOURCE_TABLE_MAX = 64, /* names beyond are had by no node */
};

struct resource_table {
    pthread_mutex_t lock; /* of what follows */
    struct str names[RESOURCE_TABLE_MAX];
    int n;
};

void resource_table_init(struct resource_table *t);
void resource_table_done(struct resource_table *t);
/* -1: there are too many. */
int resource_table_id(struct resource_table *t, struct str name);
struct str resource_table_name(struct resource_table *t, int id);
