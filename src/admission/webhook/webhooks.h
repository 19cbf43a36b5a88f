/* webhooks.h - what the two plugins for webhooks share. Private to this folder.
 *
 * All webhooks of one kind stand in one list: by the name of their configuration, and there in its
 * order. It is made when the first request needs it (memory.h). */
#pragma once

#include "admission/dynamic/conditions.h"
#include "admission/dynamic/match.h"
#include "admission/memory.h"
#include "admission/webhook/hook.h"
#include "admission/webhook/review.h"

struct webhook {
    struct str name, configuration;
    struct str uid; /* of this one among all, also where names repeat */
    struct hook *hook;
    const struct match *match;
    const struct conditions *conditions;
    struct str review_version; /* a NULL pointer: none that we speak */
    int64_t timeout_ms;
    bool ignores_failure;
    bool has_side_effects; /* also in a dry run */
    bool is_reinvoked;     /* after others have changed the object */
};

struct webhooks {
    struct webhook *list;
    size_t n;
};

/* Of the memo of a plugin: see memory.h. */
int webhooks_make(struct admission_request *req, struct str plural, struct arena *a,
                  const void **ret, struct err *err);
void webhooks_done(const void *made);
uint64_t webhooks_interest(const void *made);
bool webhooks_may_wait(const void *made, const struct admission_call *call);

/* A view of the request that several webhooks have. */
struct webhooks_sight {
    struct webhooks_sight *next;
    struct view view;
    struct str rest; /* review_rest(); empty: not made yet */
};

/* One that is for a request, and what it is asked. All of it lies in the request's arena. */
struct webhooks_call {
    const struct webhook *webhook;
    struct webhooks_sight *sight;
    struct str uid, body, to;
    int64_t timeout_ms;
};

/* 1, and `*ret` names webhook and sight; 0: it is not for this request; or an error. */
int webhooks_want(const struct webhook *w, struct admission_request *req, const struct value *obj,
                  struct webhooks_sight **sights, struct webhooks_call *ret, struct err *err);

/* How a call ended. */
enum webhooks_result {
    WEBHOOKS_ANSWERED,
    WEBHOOKS_FAILED, /* it could not be asked, or makes no sense: its failurePolicy says what then
                      */
    WEBHOOKS_BROKEN, /* the request fails in any case */
};

/* Writes the question and finds the webhook. */
enum webhooks_result webhooks_prepare(struct admission_request *req, struct webhooks_call *call,
                                      struct err *err);
/* Asks. Uses nothing of the request but what is in `call`, so any thread may do it, with an arena
 * of its own. */
enum webhooks_result webhooks_ask(const struct webhooks_call *call, struct arena *a,
                                  bool is_mutating, struct review_answer *ret, struct err *err);

/* Tells auditors and the client what the webhook has for them. */
void webhooks_tell(struct admission_request *req, const struct webhook *w,
                   const struct review_answer *answer);
/* The request fails: 'Internal error occurred: failed calling webhook "x": WHY'. */
int webhooks_fail(const struct webhook *w, struct err *err);
/* It goes on although that was so. `index` is what auditors know it by. */
void webhooks_fail_open(struct admission_request *req, const struct webhook *w, const char *kind,
                        int round, size_t index);
