/* request.h - what an API request is about: group, version, resource, namespace, name, subresource,
 * and its decoded parameters. Pure; everything lies in the arena or points into tables.
 *
 * The path is decoded first and split then, as Go's router has it: %2F is a separator, so nothing
 * that is routed or authorized by one spelling can be stored under another. */
#pragma once

#include "api/kind.h"
#include "base/arena.h"
#include "net/http/http.h"

struct custom;
struct custom_kinds;

struct request_param {
    struct str key, value;
};

struct request {
    const struct kind_resource *resource;
    const struct kind_subresource *sub; /* NULL: the resource itself */
    struct str ns;                      /* NULL pointer: none in the path */
    struct str name;                    /* NULL pointer: the collection */
    struct str rest;                    /* what follows the subresource; only proxies have it */
    bool watch;  /* below /watch/, as watches were asked for before they had a parameter */
    bool no_sub; /* it names a subresource that the custom kind could have, but has not */
    struct custom *custom; /* that the resource is of: a reference; NULL if it is built in */
    const struct request_param *params; /* in the order sent */
    size_t n_params;
};

enum request_place {
    REQUEST_ELSEWHERE, /* not below /api/ or /apis/ */
    REQUEST_FOUND,
    REQUEST_NO_GROUP,     /* 404 as plain text */
    REQUEST_NO_RESOURCE,  /* 404 as a Status */
    REQUEST_BAD_ENCODING, /* 400: % without two digits, a NUL, bytes that are not UTF-8 */
};

/* Versions that are not of the choice are not there. `custom` may be NULL: there are none. */
enum request_place request_parse(struct arena *a, const struct http_request *http,
                                 enum kind_choice choice, struct custom_kinds *custom,
                                 struct request *ret);

/* The verb that the method means for this request, as a bit of enum kind_verb; 0 if none, or if the
 * resource does not have it. Of custom kinds also collections can be updated and patched, only to
 * be refused, and HEAD reads. */
unsigned request_verb(const struct http_request *http, const struct request *req);

/* The first value of a parameter; a NULL pointer if it is not there. */
struct str request_param(const struct request *req, struct str key);
/* A boolean as upstream's codec reads them: with any value but 0 and false, also an empty one, it
 * is set. */
bool request_flag(const struct request *req, struct str key);
/* A parameter that is a number: 1, 0 if it is not there, or ERR_BAD_REQUEST in Go's words. */
int request_int(const struct request *req, struct str key, int64_t *ret, struct err *err);
