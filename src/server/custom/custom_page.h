/* custom_page.h - stored objects on their way through a conversion webhook, for loops that cannot
 * wait.
 *
 * A loop collects objects in a page and sends it off; a worker asks the webhook for all of them at
 * once, and back on the loop they are entries in the wanted version, as if stored in it, so
 * readers treat them alike. Objects that are in that version already go along
 * and are left as they are. A page belongs to its loop; it is bounded by LIMIT_CONVERSION_OBJECTS
 * and LIMIT_CONVERSION_SENT. */
#pragma once

#include "server/core/api.h"
#include "server/custom/custom.h"

struct custom_page;

struct custom_page_options {
    struct api *api;
    struct loop *loop;
    const struct custom_version *to; /* the page keeps its definition */
    /* Where the webhook refuses them together, it is asked for each; else all of them fail. */
    bool one_by_one;
    /* On the loop, when the page is back. Not called for one that was dropped. */
    void (*done)(void *arg, struct custom_page *p);
    void *arg;
};

struct custom_page *custom_page_new(const struct custom_page_options *opt);
/* At any time, also while it is away. Returns NULL. */
struct custom_page *custom_page_drop(struct custom_page *p);

/* Copies the entry. */
void custom_page_add(struct custom_page *p, const struct store_entry *e);
bool custom_page_is_full(const struct custom_page *p);
/* Adds what a range has from `start` on, but no more than `max` objects (0: any number); or, where
 * the prefix is the key of a single object, that one, if there is no start. Remembers whether that
 * was all. */
int custom_page_fill(struct custom_page *p, struct store_snap *snap, struct str prefix,
                     bool is_single, struct str start, size_t max, struct err *err);

/* True if the page is on its way, and done() will be called; false if it is ready as it is. If the
 * workers have too much to do already, its entries fail. */
bool custom_page_send(struct custom_page *p);

/* The same in linear code, on a worker; such a page needs neither a loop nor done(). */
void custom_page_convert(struct custom_page *p);

/* 1 and the next object of a page that is ready, 0 if there is none; or why it could not be
 * converted. Entries live as long as the page. */
int custom_page_next(struct custom_page *p, struct store_entry *ret, struct err *err);
/* Whether nothing of the range is left behind the page. */
bool custom_page_is_last(const struct custom_page *p);

/* Whether an object has to go through a page to be shown in that version. */
bool custom_page_wanted(const struct custom_version *v, const struct store_entry *e);
