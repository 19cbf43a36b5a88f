/* caches.h - caches that all controllers of a manager share: one for each resource, and one more
 * for each selector. Before the manager runs. */
#pragma once

#include <sampan/controller.h>

struct spn_cache *caches_get(struct spn_manager *m, struct spn_target what);
/* Of what these field selectors let through. */
struct spn_cache *caches_select(struct spn_manager *m, struct spn_target what, const char *fields);
/* With an index of owners (owned.h). */
struct spn_cache *caches_owned(struct spn_manager *m, struct spn_target what);
