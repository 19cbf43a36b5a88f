/* pod_event.h - events as schedulers write them: events.k8s.io/v1, with an action.
 *
 * The same event again within six minutes makes the first one a series, whose count rises. Any
 * thread; each write waits for the server. */
#pragma once

#include "scheduler/calls.h"

struct pod_event {
    struct call_pod about;
    const struct call_pod *related; /* or NULL */
    struct str component;           /* "default-scheduler" */
    const char *reason, *action;
    struct str message; /* cut off after 1024 bytes */
    bool is_warning;
};

struct pod_event_writer;

struct pod_event_writer *pod_event_writer_new(struct spn_client *client, struct spn_stop *stop);
struct pod_event_writer *pod_event_writer_free(struct pod_event_writer *w);
/* An event that cannot be written is lost. */
void pod_event_write(struct pod_event_writer *w, struct spn_arena *a, const struct pod_event *e);
