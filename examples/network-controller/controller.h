/* controller.h - brings the networks of this machine to what Networks say.
 *
 *     informer ── on_add, on_update, on_delete ──┐
 *     watch of links, addresses and rules ───────┼──► queue ──► process_next_work_item
 *     resync ────────────────────────────────────┘                └─► sync_handler(key)
 *
 * One worker: networks of all namespaces share the machine, so their order matters. */
#pragma once

#include <sampan/client.h>

struct controller;

struct controller_options {
    struct spn_client *client;
    struct spn_stop *stop;  /* ends it */
    const char *cni_folder; /* NULL: no files are written */
    int64_t resync_ms;      /* everything is looked at again so often; 0: never */
};

/* Runs until the stop is set. What was made stays: pods go on talking while nobody looks. */
int controller_run(const struct controller_options *opt, struct spn_err *err);
