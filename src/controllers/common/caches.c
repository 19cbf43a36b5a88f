#include "controllers/common/caches.h"

#include "controllers/common/owned.h"
#include "base/banned.h"

struct spn_cache *caches_select(struct spn_manager *m, struct spn_target what, const char *fields)
{
    const struct spn_informer_options of = { .what = what, .fields = fields };
    return spn_informer_cache(spn_informers_get(spn_manager_informers(m), &of));
}

struct spn_cache *caches_get(struct spn_manager *m, struct spn_target what)
{
    return caches_select(m, what, NULL);
}

struct spn_cache *caches_owned(struct spn_manager *m, struct spn_target what)
{
    struct spn_cache *cache = caches_get(m, what);
    owned_index(cache);
    return cache;
}
