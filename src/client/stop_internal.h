/* stop_internal.h - how calls of the library take part in a stop. Private to this folder. */
#pragma once

#include <sampan/stop.h>
#include <sys/queue.h>

/* Called once when the stop is set, on the thread that sets it; at once if it is set already. */
struct stop_listener {
    void (*on_stop)(struct stop_listener *l);
    LIST_ENTRY(stop_listener) link; /* private */
};

/* NULL stops are never set. */
void stop_listen(struct spn_stop *s, struct stop_listener *l);
/* After this `on_stop` neither runs nor will run. */
void stop_unlisten(struct spn_stop *s, struct stop_listener *l);
