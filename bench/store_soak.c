/* store_soak.c - what a rush of writes leaves behind: memory, and space on the disk.
 *
 * Writes N values of 1 KB in random order over a tenth as many keys, 64 in flight, then waits, then
 * deletes all and waits again. Prints; never fails because of a figure. usage: store_soak [N] */
#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/store.h"

#include "base/banned.h"

enum { IN_FLIGHT = 64, VALUE_BYTES = 1024, WAIT_SEC = 10 };

static char dir[128];
static uint64_t folder_bytes;

static int count_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)path, (void)flag, (void)at;
    folder_bytes += S_ISREG(st->st_mode) ? (uint64_t)st->st_blocks * 512 : 0;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

static double status_mb(const char *name)
{
    autobuf text = { 0 };
    if (file_read("/proc/self/status", 1 << 16, &text, NULL) < 0)
        return 0;
    buf_byte(&text, '\0');
    const char *at = strstr(text.p, name);
    return at ? (double)strtoull(at + strlen(name), NULL, 10) / 1024 : 0;
}

static void report(struct store *s, const char *when)
{
    struct store_stats st;
    store_stats(s, &st);
    folder_bytes = 0;
    (void)nftw(dir, count_one, 16, FTW_PHYS);
    printf("%-32s own %6.1f MB  resident %6.1f MB  folder %6.1f MB  view %6.1f MB  log %6.1f MB\n",
           when, status_mb("RssAnon:"), status_mb("VmRSS:"), (double)folder_bytes / 1e6,
           (double)st.view_bytes / 1e6, (double)st.log_bytes / 1e6);
    (void)fflush(stdout);
}

/* ---- Many at once ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `n_open` */
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static size_t n_open;
static char value[VALUE_BYTES];

struct slot {
    struct store_txn txn;
    struct store_op op;
    char key[32];
};

static void on_done(struct store_txn *t)
{
    if (t->result < 0)
        fprintf(stderr, "store_soak: %s\n", t->reason);
    free(t->owner);
    (void)pthread_mutex_lock(&lock);
    n_open--;
    (void)pthread_cond_signal(&moved);
    (void)pthread_mutex_unlock(&lock);
}

static void submit(struct store *s, enum store_op_type type, uint64_t number)
{
    (void)pthread_mutex_lock(&lock);
    while (n_open >= IN_FLIGHT)
        (void)pthread_cond_wait(&moved, &lock);
    n_open++;
    (void)pthread_mutex_unlock(&lock);
    struct slot *slot = mem_new(struct slot);
    int n = snprintf(slot->key, sizeof(slot->key), "/registry/soak/%010llu",
                     (unsigned long long)number);
    slot->op = (struct store_op){ .type = type,
                                  .key = { slot->key, (size_t)n },
                                  .value = { value, sizeof(value) },
                                  .expect_rev = STORE_ANY };
    slot->txn = (struct store_txn){ .ops = &slot->op, .n_ops = 1, .done = on_done, .owner = slot };
    store_submit(s, &slot->txn);
}

static void settle(void)
{
    (void)pthread_mutex_lock(&lock);
    while (n_open)
        (void)pthread_cond_wait(&moved, &lock);
    (void)pthread_mutex_unlock(&lock);
}

static void rush(struct store *s, uint64_t n)
{
    uint64_t dice = 1, n_keys = n / 10 + 1;
    for (uint64_t i = 0; i < n; i++) {
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        submit(s, STORE_PUT, (dice >> 33) % n_keys);
    }
    settle();
    report(s, "after the writes");
    (void)sleep(WAIT_SEC);
    report(s, "ten seconds later");
    for (uint64_t i = 0; i < n_keys; i++)
        submit(s, STORE_DELETE, i);
    settle();
    report(s, "after deleting all");
    (void)sleep(WAIT_SEC);
    report(s, "ten seconds later");
    (void)store_compact(s, store_rev(s), NULL);
    (void)sleep(WAIT_SEC);
    report(s, "and without the history");
}

int main(int argc, char **argv)
{
    uint64_t n = 1000000;
    if (argc > 1)
        (void)str_to_u64(str_of(argv[1]), &n);
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(dir, sizeof(dir), "%s/store-soak-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return 1;
    memset(value, 'v', sizeof(value));
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    struct store *s;
    if (store_open(&(struct store_options){ .dir = dir }, &s, &err) < 0)
        return 1;
    report(s, "at first");
    rush(s, n);
    store_close(s);
    arena_done(&arena);
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
