/* reloads.c - see its header. */
#include "server/core/reloads.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

void reloads_init(struct reloads *r, const char *what, const char *file)
{
    *r = (struct reloads){ .what = what, .file = file };
    (void)pthread_mutex_init(&r->lock, NULL);
}

void reloads_done(struct reloads *r)
{
    (void)pthread_mutex_destroy(&r->lock);
}

void reloads_hash(struct str text, char ret[static RELOADS_HASH_TEXT])
{
    unsigned char digest[DIGEST_SHA256_BYTES];
    autobuf hex = { 0 };
    digest_sha256(text, digest);
    buf_str_add(&hex, STR("sha256:"));
    for (size_t i = 0; i < sizeof(digest); i++)
        buf_printf(&hex, "%02x", digest[i]);
    memcpy(ret, hex.p, hex.n);
    ret[hex.n] = '\0';
}

void reloads_server_id(char ret[static RELOADS_HASH_TEXT])
{
    char name[256] = { 0 };
    (void)gethostname(name, sizeof(name) - 1);
    reloads_hash(str_of(name), ret);
}

void reloads_use(struct reloads *r, const char hash[static RELOADS_HASH_TEXT])
{
    (void)pthread_mutex_lock(&r->lock);
    memcpy(r->hash, hash, sizeof(r->hash));
    (void)pthread_mutex_unlock(&r->lock);
}

void reloads_note(struct reloads *r, int result, const struct err *err)
{
    if (result == 0)
        return;
    int64_t sec = clock_wall_ns(&clock_system) / NS_PER_SEC;
    (void)pthread_mutex_lock(&r->lock);
    *(result > 0 ? &r->n_good : &r->n_bad) += 1;
    *(result > 0 ? &r->good_sec : &r->bad_sec) = sec;
    (void)pthread_mutex_unlock(&r->lock);
    char words[128];
    (void)snprintf(words, sizeof(words),
                   result > 0 ? "a new %s configuration is in use"
                              : "the %s configuration cannot be used; the old one stays in use",
                   r->what);
    if (result > 0)
        log_info(words, LOG_CSTR("file", r->file));
    else
        log_error(words, LOG_CSTR("file", r->file), LOG_ERR(err));
}

/* ---- Metrics ---- */

#define PREFIX "apiserver_%s_config_controller_"
#define LABELS "{apiserver_id_hash=\"%s\",status=\"%s\"} "

void reloads_write_counts(struct reloads *r, const char *id, struct buf *out)
{
    (void)pthread_mutex_lock(&r->lock);
    const struct {
        const char *status;
        uint64_t n;
        int64_t sec;
    } rows[] = { { "success", r->n_good, r->good_sec }, { "failure", r->n_bad, r->bad_sec } };
    (void)pthread_mutex_unlock(&r->lock);
    buf_printf(out,
               "# HELP " PREFIX "automatic_reloads_total Reloads of the %s configuration.\n"
               "# TYPE " PREFIX "automatic_reloads_total counter\n",
               r->what, r->what, r->what);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].n || !r->hides_none)
            buf_printf(out, PREFIX "automatic_reloads_total" LABELS "%" PRIu64 "\n", r->what, id,
                       rows[i].status, rows[i].n);
    buf_printf(out,
               "# HELP " PREFIX
               "automatic_reload_last_timestamp_seconds When it was reloaded last.\n"
               "# TYPE " PREFIX "automatic_reload_last_timestamp_seconds gauge\n",
               r->what, r->what);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].n)
            buf_printf(out, PREFIX "automatic_reload_last_timestamp_seconds" LABELS "%" PRId64 "\n",
                       r->what, id, rows[i].status, rows[i].sec);
}

void reloads_write_hash(struct reloads *r, const char *id, struct buf *out)
{
    char hash[RELOADS_HASH_TEXT];
    (void)pthread_mutex_lock(&r->lock);
    memcpy(hash, r->hash, sizeof(hash));
    (void)pthread_mutex_unlock(&r->lock);
    buf_printf(out,
               "# HELP " PREFIX "last_config_info The %s configuration in use.\n"
               "# TYPE " PREFIX "last_config_info gauge\n" PREFIX
               "last_config_info{apiserver_id_hash=\"%s\",hash=\"%s\"} 1\n",
               r->what, r->what, r->what, r->what, id, hash);
}
