/* audit_event.h - what is known of one audited request, and the events that are made of it.
 *
 * It lies in the exchange's arena and belongs to whoever has the exchange: the loop, then perhaps a
 * worker, then the loop again. It sees the answer as the exchange's observer. All functions take
 * NULL, a request that is not audited, and then do nothing. Authorization headers and tokens are
 * never in an event, except where they are in an object that the policy wants to see. */
#pragma once

#include "base/value.h"
#include "net/http/http.h"
#include "server/audit/audit.h"

struct audit_annotation;
struct audit_event;

/* What every event's JSON begins with. */
#define AUDIT_EVENT_HEAD STR("{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",")

struct audit_subject {
    struct str id;                  /* the Audit-ID */
    const struct access *about;     /* its user NULL: whoever asks was not believed */
    struct audit_annotation *notes; /* that the first event has already; taken over */
    bool is_long;                   /* has a stage of its own when its answer begins */
};

/* Asks the policy and makes the first event. `*ret` is NULL if the request is not audited. False if
 * a back end is strict and did not take it. On the loop; everything lives as long as the
 * exchange. */
bool audit_event_begin(struct audit *au, struct http_exchange *x, const struct audit_subject *s,
                       struct audit_event **ret);

/* As whom the request goes on; `constraint` is the verb that allowed it, empty for the old one. */
void audit_event_impersonated(struct audit_event *e, const struct user *as, struct str constraint);
/* The first value of a key counts. Both live as long as the exchange. */
void audit_event_annotate(struct audit_event *e, struct str key, struct str value);

/* Where a request can lose time. The event of a slow one says how much, as upstream. */
enum audit_layer {
    AUDIT_LAYER_QUEUE, /* for its turn among others: server/flow/flow.h */
    AUDIT_LAYER_STORE,
    AUDIT_LAYERS,
};
/* Adds to what the request has spent there. */
void audit_event_took(struct audit_event *e, enum audit_layer layer, int64_t ns);

/* Whether audit_event_object() is to be called, and whether with managers. */
bool audit_event_wants_object(const struct audit_event *e);
bool audit_event_omits_managers(const struct audit_event *e);
/* What was sent fills what the path leaves open of the event's reference. */
void audit_event_metadata(struct audit_event *e, const struct value *obj);
/* What was sent, as JSON, or a patch. It is copied. */
void audit_event_object(struct audit_event *e, struct str json);
void audit_event_patch(struct audit_event *e, const struct value *patch);
