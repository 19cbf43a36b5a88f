/* faulty.h - a proxy that treats reads badly: it drops connections, cuts answers off, delays and
 * repeats data, and answers 410, 429 and 500 by itself. Writes go through untouched.
 *
 * What it repeats is one event right after itself, which a client must be able to bear; it invents
 * nothing. */
#pragma once

#include <stdatomic.h>

#include "net/http/http.h"

struct faulty;

struct faulty_counts {
    _Atomic unsigned passed, refused, dropped, cut, ended, delayed, repeated;
};

/* In front of the server at that URL (http://). `seed` makes a run repeatable, as far as threads
 * are. With TLS clients speak HTTP/2 to it, and must not mind who has signed its certificate. */
struct faulty *faulty_start(const char *url, unsigned seed, bool tls);
void faulty_stop(struct faulty *f);
const char *faulty_url(const struct faulty *f);
/* How many of a hundred reads go wrong. 0 at first. */
void faulty_set_rate(struct faulty *f, unsigned percent);
/* Ends all that is under way. */
void faulty_cut_all(struct faulty *f);
const struct faulty_counts *faulty_counts(const struct faulty *f);
