/* slice_io.h - EndpointSlices in the cache and on the server, for whoever keeps them. */
#pragma once

#include <sampan/controller.h>

#include "controllers/common/own_writes.h"
#include "controllers/endpoints/slices.h"

/* Lives as long as the manager. */
struct slice_io {
    const char *manager; /* SLICE_CONTROLLER or SLICE_MIRRORING: whose slices */
    struct spn_cache *slices;
    struct own_writes *writes;
};

/* Changes of slices reach the controller, whose objects have the names of Services. */
void slice_io_watch(struct slice_io *io, struct spn_manager *m, struct spn_controller *c);
void slice_io_done(struct slice_io *io);

/* Those of the Service that the work is about. They are held until _done(). False: the cache does
 * not have all that we wrote yet, and nothing is held. */
struct slice_set {
    struct spn_objects held;
    const struct spn_value **items; /* in the arena */
    size_t n;
};
bool slice_io_get(struct slice_io *io, struct spn_work *w, struct slice_set *ret);
void slice_set_done(struct slice_set *s);

/* `creates` is false for an owner that is being deleted. */
int slice_io_write(struct slice_io *io, struct spn_work *w, const struct slice_plan *plan,
                   bool creates, struct spn_err *err);
