/* call.h - one API request, from the decoded path to its answer.
 *
 * verbs/dispatch.h makes it. A call lies in its exchange's arena and ends with it. Verbs answer it
 * by the functions below, which work on the loop and on a worker. */
#pragma once

#include "auth/user.h"
#include "base/value.h"
#include "net/http/http.h"
#include "server/core/api.h"
#include "server/object/encode.h"
#include "server/object/format.h"
#include "server/http/request.h"

struct audit_event;
struct xray;

struct call_warning {
    struct call_warning *next;
    struct str text;
};

/* What the client is told beside the answer. */
struct call_warnings {
    struct call_warning *first;
};

/* What auditors are told, of a copy of a call that another thread has. */
struct call_note {
    struct call_note *next;
    struct str key, value;
};
struct call_notes {
    struct call_note *first;
};

struct call {
    struct api *api;
    struct http_exchange *x;
    const struct http_request *http;
    struct arena *arena; /* the exchange's */
    struct request req;
    const struct user *user;            /* NULL: the server itself */
    const struct kind_resource *stored; /* req.resource in the version in which it is stored */
    enum kind_verb verb;
    struct format format;
    enum encode_include include;    /* of a Table that answers a write */
    struct call_warnings *warnings; /* a copy of a call shares them; NULL: nobody hears */
    uint32_t retry_after_sec;       /* of a refusal; 0: not said */
    struct audit_event *audit;      /* NULL: it is not audited */
    enum admission_namespace ns_is; /* of an object that is being created */
    struct str asked_name;          /* of such an object, before plugins have seen it; or empty */
    bool is_step;                   /* of another write, which may hold a turn: it takes none */
    struct call_notes *notes;       /* NULL: they go right into the event */
    struct xray *xray;              /* NULL: nobody looks; else the answer comes inside of it */
};

/* Where what waits runs: with custom kinds whose objects a webhook converts, and with reviews,
 * among themselves, so that a slow webhook holds up nobody else. */
struct workers *call_workers(const struct call *c);

/* Whether it does: then nobody else may have to wait for it. */
bool call_may_wait(const struct call *c);
/* Whether a webhook or a policy may have a say in it. Any thread. */
bool call_may_be_refused(const struct call *c);

/* A Warning header of the answer; each text once, and no more than a hundred. It lives as long as
 * the call. */
void call_warn(struct call *c, struct str text);

/* Tells auditors, if the call is audited; both texts live as long as the call. */
void call_annotate(struct call *c, struct str key, struct str value);

/* The answers. Each ends the exchange. */
void call_fail(struct call *c, const struct err *err);
/* An object of the storage version, in the version and form that was asked for; or one of any other
 * type (a Scale), as it is. */
void call_object(struct call *c, int status, const struct kind_type *type, struct value *obj);
/* A Status that somebody else has given, with the code that it names. */
void call_status(struct call *c, struct value *status);
/* `kind: Status`, successful, about one object. */
void call_success(struct call *c, struct str name, struct str uid);
/* The same of an object that nobody could read. */
void call_deleted_unread(struct call *c, struct str name);

/* The headers that every answer in this form begins with, for those who stream theirs; warnings
 * included. In the arena. */
size_t call_headers(struct call *c, struct str content_type, const struct http_header **ret);
