#include "scheduler/resource_table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

void resource_table_init(struct resource_table *t)
{
    *t = (struct resource_table){ .lock = PTHREAD_MUTEX_INITIALIZER };
    (void)resource_table_id(t, STR("cpu"));
    (void)resource_table_id(t, STR("memory"));
    (void)resource_table_id(t, STR("ephemeral-storage"));
}

void resource_table_done(struct resource_table *t)
{
    for (int i = 0; i < t->n; i++)
        free((void *)(uintptr_t)t->names[i].p);
    pthread_mutex_destroy(&t->lock);
}

static int find(const struct resource_table *t, struct str name)
{
    for (int i = 0; i < t->n; i++)
        if (str_eq(t->names[i], name))
            return i;
    return -1;
}

int resource_table_id(struct resource_table *t, struct str name)
{
    pthread_mutex_lock(&t->lock);
    int id = find(t, name);
    if (id < 0 && t->n < RESOURCE_TABLE_MAX && name.n) {
        id = t->n++;
        t->names[id] = (struct str){ mem_dup(name.p, name.n), name.n };
    }
    pthread_mutex_unlock(&t->lock);
    return id;
}

struct str resource_table_name(struct resource_table *t, int id)
{
    pthread_mutex_lock(&t->lock);
    struct str name = t->names[id];
    pthread_mutex_unlock(&t->lock);
    return name;
}
