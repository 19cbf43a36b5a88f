/* flow_keeper.h - keeps the objects of priority and fairness in order while the server runs.
 *
 * Mandatory ones that somebody deletes or changes are set back, and each FlowSchema says whether
 * its level is there. A worker looks at all of them after every change; changes that come meanwhile
 * let it look once more. */
#pragma once

#include "server/core/api.h"

struct flow_keeper;

struct flow_keeper *flow_keeper_new(struct api *api);
/* No worker runs any more. */
struct flow_keeper *flow_keeper_free(struct flow_keeper *k);

/* Something has changed. Any thread; waits for nobody. */
void flow_keeper_look(struct api *api);
