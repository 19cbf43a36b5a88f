/* stats_volumes.c - what the volumes of a pod hold. They are walked through, so what was found
 * counts for a minute. */
#include <dirent.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/stats/stats_internal.h"
#include "base/banned.h"

enum { REMEMBERED = 4096, MINUTE_MS = 60000 };

void stats__volumes_init(struct stats_volumes *v)
{
    pthread_mutex_init(&v->lock, NULL);
    lru_init(&v->known, sizeof(struct known_volume), REMEMBERED);
}

void stats__volumes_done(struct stats_volumes *v)
{
    lru_done(&v->known);
    pthread_mutex_destroy(&v->lock);
}

static bool recall(struct stats_volumes *v, struct str path, struct volume_usage *ret)
{
    pthread_mutex_lock(&v->lock);
    const struct known_volume *k = lru_get(&v->known, path);
    const bool is_fresh = k->until_ns > clock_mono_ns(&clock_system);
    *ret = k->usage;
    pthread_mutex_unlock(&v->lock);
    return is_fresh;
}

static bool measure(struct stats_volumes *v, struct str path, struct arena *a,
                    struct volume_usage *ret)
{
    const struct pod_volume volume = { .path = path };
    struct err why = ERR_INIT(a);
    if (recall(v, path, ret))
        return true;
    if (volumes_usage(&volume, ret, &why) < 0)
        return false;
    pthread_mutex_lock(&v->lock);
    struct known_volume *k = lru_get(&v->known, path);
    k->until_ns = clock_mono_ns(&clock_system) + MINUTE_MS * NS_PER_MS;
    k->usage = *ret;
    pthread_mutex_unlock(&v->lock);
    return true;
}

static void put(struct arena *a, struct value *obj, const char *key, uint64_t n)
{
    value_put(a, obj, str_of(key), value_int((int64_t)n));
}

static struct value volume_value(struct arena *a, struct str name, const struct volume_usage *u)
{
    struct value one = value_object();
    char now[CLOCK_TEXT_BYTES];
    value_put(a, &one, STR("time"),
              value_string(arena_str(a, clock_format(clock_wall_ns(&clock_system), false, now))));
    put(a, &one, "availableBytes", u->available);
    put(a, &one, "capacityBytes", u->capacity);
    put(a, &one, "usedBytes", u->used);
    put(a, &one, "inodesFree", u->inodes_free);
    put(a, &one, "inodes", u->inodes);
    put(a, &one, "inodesUsed", u->inodes_used);
    value_put(a, &one, STR("name"), value_string(name));
    return one;
}

/* Volumes of one kind: folders in ROOT/pods/UID/volumes/KIND. */
static void add_kind(struct stats_volumes *v, struct str folder, struct arena *a,
                     struct value *list)
{
    DIR *dir = opendir(str_cstr(a, folder));
    const struct dirent *e;
    while (dir && (e = readdir(dir))) {
        struct volume_usage usage;
        if (e->d_name[0] == '.')
            continue;
        struct str path = arena_printf(a, STR_FMT "/%s", STR_ARG(folder), e->d_name);
        if (measure(v, path, a, &usage))
            value_put_item(a, list, volume_value(a, arena_str(a, str_of(e->d_name)), &usage));
    }
    if (dir)
        (void)closedir(dir);
}

struct value stats__volumes(struct stats_volumes *v, struct str root_dir, struct str uid,
                            struct arena *a)
{
    struct value list = value_array();
    struct str all =
        arena_printf(a, STR_FMT "/pods/" STR_FMT "/volumes", STR_ARG(root_dir), STR_ARG(uid));
    DIR *dir = opendir(str_cstr(a, all));
    const struct dirent *e;
    while (dir && (e = readdir(dir)))
        if (e->d_name[0] != '.')
            add_kind(v, arena_printf(a, STR_FMT "/%s", STR_ARG(all), e->d_name), a, &list);
    if (dir)
        (void)closedir(dir);
    return list;
}
