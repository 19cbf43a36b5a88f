/* sampan/stop.h - one switch that ends whatever waits: calls, watches, informers, controllers.
 *
 * It is set once and stays set. Any thread may set it and ask for it. */
#pragma once

#include <sampan/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_stop;

SPN_API struct spn_stop *spn_stop_new(void);
SPN_API struct spn_stop *spn_stop_free(struct spn_stop *s); /* nobody waits with it any more */

SPN_API void spn_stop_set(struct spn_stop *s);
SPN_API bool spn_stop_is_set(const struct spn_stop *s); /* NULL: never */
/* Waits until it is set, at most so long (-1: for ever). True: it is set. */
SPN_API bool spn_stop_wait(struct spn_stop *s, int64_t ms);

/* Sets it on SIGINT and SIGTERM. The first of these ends the program in good order, a second one at
 * once. Call it early, before there are threads: they inherit what it blocks. It ends with
 * spn_stop_free(). SPN_EXISTS: another one has been chosen before. */
SPN_API int spn_stop_on_signals(struct spn_stop *s);

#ifdef __cplusplus
}
#endif
