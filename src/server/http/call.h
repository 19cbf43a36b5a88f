/* call.h - one API request, from the decoded path to its answer.
 *
 * verbs/dispatch.h makes it. A call lies in its exchange's arena and ends with it. Verbs answer it
 * by the functions below, which work on the loop and on a worker. */
#pragma once

#include "auth/user.h"
#include "base/value.h"
#include "net/http.h"
#include "server/core/api.h"
#include "server/object/encode.h"
#include "server/object/format.h"
#include "server/http/request.h"

struct audit_event;

struct call_warning {
    struct call_warning *next;
    struct str text;
};

/* What the client is told beside the answer. */
struct call_warnings {
    struct call_warning *first;
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
};

/* Where what waits runs: with custom kinds whose objects a webhook converts among themselves, so
 * that a slow one holds up nobody else. */
struct workers *call_workers(const struct call *c);

/* A Warning header of the answer; each text once, and no more than a hundred. It lives as long as
 * the call. */
void call_warn(struct call *c, struct str text);

/* The answers. Each ends the exchange. */
void call_fail(struct call *c, const struct err *err);
/* An object of the storage version, in the version and form that was asked for; or one of any other
 * type (a Scale), as it is. */
void call_object(struct call *c, int status, const struct kind_type *type, struct value *obj);
/* `kind: Status`, successful, about one object. */
void call_success(struct call *c, struct str name, struct str uid);
/* The same of an object that nobody could read. */
void call_deleted_unread(struct call *c, struct str name);

/* The headers that every answer in this form begins with, for those who stream theirs; warnings
 * included. In the arena. */
size_t call_headers(struct call *c, struct str content_type, const struct http_header **ret);
