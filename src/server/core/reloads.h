/* reloads.h - a configuration file that is read again while the server runs: how often that went
 * well or not, and which text is in use. Whoever follows the file notes each try; metrics are
 * upstream's, apiserver_WHAT_config_controller_*. Any thread may ask for metrics. */
#pragma once

#include <pthread.h>

#include "base/buf.h"
#include "base/err.h"

enum { RELOADS_HASH_TEXT = sizeof("sha256:") + 64 };

struct reloads {
    const char *what, *file; /* "encryption"; borrowed */
    bool hides_none;         /* no row for what never happened */
    pthread_mutex_t lock;    /* guards what follows */
    uint64_t n_good, n_bad;
    int64_t good_sec, bad_sec; /* when, of the last */
    char hash[RELOADS_HASH_TEXT];
};

void reloads_init(struct reloads *r, const char *what, const char *file);
void reloads_done(struct reloads *r);

/* "sha256:" and digits, ended by NUL. */
void reloads_hash(struct str text, char ret[static RELOADS_HASH_TEXT]);
/* The text of this hash is in use now. */
void reloads_use(struct reloads *r, const char hash[static RELOADS_HASH_TEXT]);
/* Counts and logs a try: positive if a new text is in use, 0 if there was none, negative if `err`
 * says why it cannot be used. */
void reloads_note(struct reloads *r, int result, const struct err *err);

/* `id` names this server, see reloads_server_id(). */
void reloads_write_counts(struct reloads *r, const char *id, struct buf *out);
void reloads_write_hash(struct reloads *r, const char *id, struct buf *out);
void reloads_server_id(char ret[static RELOADS_HASH_TEXT]);
