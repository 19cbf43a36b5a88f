/* extent.h - how much of a collection a request is about: which of its objects, from where on, as
 * of which revision.
 *
 * A list shows it, a delete of the collection deletes it and then shows it; both read and check
 * the same parameters here, before anything happens. Rules only: waiting for a revision that is
 * not there yet is the caller's (await.h). */
#pragma once

#include "server/http/call.h"
#include "server/http/selection.h"

struct extent {
    struct selection sel;
    struct str prefix;           /* of the keys; empty: none can match */
    struct str start;            /* the key to begin with; empty: the first */
    uint64_t rev;                /* 0: the newest */
    uint64_t wait_rev;           /* the newest one must not be below it */
    int64_t began_ms;            /* wall clock at the first page; 0: not said */
    bool goes_on;                /* behind an earlier page, by its token */
    enum encode_include include; /* of a Table: what its rows have of the objects */
};

/* ERR_BAD_REQUEST, ERR_INVALID and ERR_NOT_ACCEPTABLE in upstream's words and order. Text lies in
 * the call's arena. */
int extent_read(struct call *c, struct extent *ret, struct err *err);

/* ERR_EXPIRED: its revision is not kept any more. Who came with a token gets another, which goes on
 * with `start` at the newest one. */
int extent_expired(struct call *c, const struct extent *e, struct str start, struct err *err);
