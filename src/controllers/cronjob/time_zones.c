#include "controllers/cronjob/time_zones.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

enum { FILE_MAX = 1 << 20, NAME_MAX_BYTES = 255 };

struct zone {
    struct zone *next;
    struct str name;
    const struct zone_rules *rules; /* NULL: UTC */
};

struct time_zones {
    pthread_mutex_t lock; /* of all that follows */
    struct arena arena;
    struct zone *first;
};

struct time_zones *time_zones_new(void)
{
    struct time_zones *z = mem_new(struct time_zones);
    (void)pthread_mutex_init(&z->lock, NULL);
    arena_init(&z->arena);
    return z;
}

struct time_zones *time_zones_free(struct time_zones *z)
{
    if (!z)
        return NULL;
    arena_done(&z->arena);
    (void)pthread_mutex_destroy(&z->lock);
    free(z);
    return NULL;
}

static bool load_file(struct time_zones *z, const char *path, const struct zone_rules **ret)
{
    struct arena a;
    autobuf bytes = { 0 };
    arena_init(&a);
    struct err unsaid = ERR_INIT(&a);
    const bool is_good = file_read(path, FILE_MAX, &bytes, &unsaid) == 0 &&
                         zone_rules_parse(&z->arena, buf_str(&bytes), ret, &unsaid) == 0;
    arena_done(&a);
    return is_good;
}

/* Nothing outside of these folders is looked at. */
static bool load_name(struct time_zones *z, struct str name, const struct zone_rules **ret)
{
    static const char *const folders[] = { "/usr/share/zoneinfo", "/usr/share/lib/zoneinfo",
                                           "/usr/lib/locale/TZ", "/etc/zoneinfo" };
    bool is_good = false;
    for (size_t i = 0; i < ARRAY_LEN(folders) && !is_good; i++)
        is_good =
            load_file(z, arena_printf(&z->arena, "%s/" STR_FMT, folders[i], STR_ARG(name)).p, ret);
    return is_good;
}

/* As the environment says, or the system. Where neither does it is UTC. */
static void load_local(struct time_zones *z, const struct zone_rules **ret)
{
    const char *tz = getenv("TZ");
    if (tz && tz[0] == ':')
        tz++;
    if (!tz)
        (void)load_file(z, "/etc/localtime", ret);
    else if (tz[0] == '/')
        (void)load_file(z, tz, ret);
    else if (tz[0])
        (void)load_name(z, str_of(tz), ret);
}

static bool is_safe(struct spn_text name)
{
    for (size_t i = 0; i + 1 < name.n; i++)
        if (name.p[i] == '.' && name.p[i + 1] == '.')
            return false;
    return name.n <= NAME_MAX_BYTES && name.p[0] != '/' && name.p[0] != '\\' &&
           !memchr(name.p, 0, name.n);
}

/* The lock is held. */
static int find(struct time_zones *z, struct spn_text name, const struct zone_rules **ret,
                struct spn_err *err)
{
    const struct zone_rules *rules = NULL;
    for (const struct zone *zone = z->first; zone; zone = zone->next)
        if (str_eq(zone->name, str_in(name))) {
            *ret = zone->rules;
            return 0;
        }
    if (spn_text_eq(name, SPN_TEXT("Local")))
        load_local(z, &rules);
    else if (!load_name(z, str_in(name), &rules))
        return spn_err_set(err, SPN_NOT_FOUND, "unknown time zone " SPN_FMT, SPN_ARG(name));
    struct zone *zone = arena_new(&z->arena, struct zone);
    *zone = (struct zone){ z->first, arena_str(&z->arena, str_in(name)), rules };
    z->first = zone;
    *ret = rules;
    return 0;
}

int time_zones_get(struct time_zones *z, struct spn_text name, const struct zone_rules **ret,
                   struct spn_err *err)
{
    if (!name.n || spn_text_eq(name, SPN_TEXT("UTC"))) {
        *ret = NULL;
        return 0;
    }
    if (!is_safe(name))
        return spn_err_set(err, SPN_NOT_FOUND, "time: invalid location name");
    (void)pthread_mutex_lock(&z->lock);
    int r = find(z, name, ret, err);
    (void)pthread_mutex_unlock(&z->lock);
    return r;
}
