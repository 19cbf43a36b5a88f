/* crash.c - writers at full speed, killed at random; then everything that was acknowledged must be
 * there.
 *
 * A child process opens the store, several threads write as fast as they can and one watches. All
 * note what they know in memory that is shared with the parent and outlives the child: a writer
 * notes what it is about to do and then that it was acknowledged; the watcher notes each event.
 * The parent kills the child at a random moment, or the child ends at a failpoint between two
 * steps of a commit, a checkpoint, a compaction or a recovery. Then the store is opened again,
 * here or by the next child, and compared:
 *
 * - each key has its acknowledged state, or the one that was being written;
 * - the keys of one transaction agree with each other;
 * - the revision is not below anything that was acknowledged or watched;
 * - over all lives of the store together, the watch has seen every revision, each once, in order,
 *   and what an event says was there before is what the events before it left.
 *
 * usage: crash [--kills N] [--seed N] [--dir DIR] */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <ftw.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/failpoint.h"
#include "store/store.h"

#include "base/banned.h"

enum {
    N_WRITERS = 6,
    N_KEYS = 48,   /* of one writer, overwritten and deleted */
    N_SERIAL = 64, /* of one writer: each new one pushes the oldest out */
    MAX_EVENTS = 1 << 19,
    KEY_BYTES = 24,
    VALUE_BYTES = 900, /* at most */
};

/* A value is a number and filling; 0 means absent. */
struct key_state {
    uint64_t acked, tried; /* tried == acked: nothing is under way */
};

struct writer_state {
    struct key_state keys[N_KEYS];
    uint64_t serial_acked, serial_tried;
    uint64_t n_acked;
    uint64_t numbers; /* the last one that was used */
};

struct event_note {
    _Atomic uint64_t rev; /* a writer looks at it while the watcher goes back */
    uint64_t prev_rev;
    uint32_t type;
    char key[KEY_BYTES];
};

struct shared {
    struct writer_state writers[N_WRITERS];
    _Atomic uint64_t max_acked_rev;
    _Atomic uint64_t n_events;
    uint64_t watched_rev;         /* where the notes begin */
    _Atomic uint64_t resumed_rev; /* where the watch went on last */
    _Atomic int is_running;
    char trouble[512]; /* what a child found wrong */
    struct event_note events[MAX_EVENTS];
};

static struct shared *sh;
static char dir[256];
static const uint64_t history_bytes = 4 << 20; /* short segments */

static void trouble(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void trouble(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(sh->trouble, sizeof(sh->trouble), fmt, ap);
    va_end(ap);
    fprintf(stderr, "crash: %s\n", sh->trouble);
    _exit(3);
}

static uint64_t roll(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed >> 11;
}

/* ---- Comparing a store with what is known ---- */

static uint64_t number_at(struct store_snap *snap, const char *key, struct err *err)
{
    struct store_entry e;
    uint64_t number;
    int r = store_snap_get(snap, str_of(key), &e, err);
    if (r < 0)
        trouble("read %s: " STR_FMT, key, STR_ARG(err->msg));
    if (r == 0)
        return 0;
    struct str text = e.value;
    if (!str_to_u64(str_cut(&text, ' '), &number))
        trouble("%s has a value nobody wrote", key);
    return number;
}

/* Each key as acknowledged, or as it was being written; then that is its state. */
static void check_keys(struct store_snap *snap, unsigned w, struct err *err)
{
    struct writer_state *ws = &sh->writers[w];
    char key[KEY_BYTES];
    for (unsigned k = 0; k < N_KEYS; k++) {
        struct key_state *ks = &ws->keys[k];
        (void)snprintf(key, sizeof(key), "o/%u/%u", w, k);
        uint64_t found = number_at(snap, key, err);
        if (found != ks->acked && found != ks->tried)
            trouble("%s is %llu; acknowledged %llu, tried %llu", key, (unsigned long long)found,
                    (unsigned long long)ks->acked, (unsigned long long)ks->tried);
        ks->acked = ks->tried = found;
    }
}

/* Exactly the newest N_SERIAL of them, because putting one and deleting another is one
 * transaction. */
static void check_serial(struct store_snap *snap, unsigned w, struct err *err)
{
    struct writer_state *ws = &sh->writers[w];
    char prefix[KEY_BYTES];
    (void)snprintf(prefix, sizeof(prefix), "s/%u/", w);
    struct store_entry e;
    uint64_t n = 0, first = 0, last = 0;
    int r;
    store_range_begin(snap, str_of(prefix), STR(""));
    while ((r = store_range_next(snap, &e, err)) > 0) {
        uint64_t number;
        if (!str_to_u64(str_skip(e.key, strlen(prefix)), &number))
            trouble("a key nobody wrote");
        first = n++ ? first : number;
        last = number;
    }
    if (r < 0)
        trouble("range: " STR_FMT, STR_ARG(err->msg));
    if (last != ws->serial_acked && last != ws->serial_tried)
        trouble("writer %u: newest serial is %llu; acknowledged %llu, tried %llu", w,
                (unsigned long long)last, (unsigned long long)ws->serial_acked,
                (unsigned long long)ws->serial_tried);
    uint64_t expect = last < N_SERIAL ? last : N_SERIAL;
    if (n != expect || (n && first != last - n + 1))
        trouble("writer %u: %llu serials up to %llu, expected %llu", w, (unsigned long long)n,
                (unsigned long long)last, (unsigned long long)expect);
    ws->serial_acked = ws->serial_tried = last;
}

static void check_store(struct store *s)
{
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    struct store_snap *snap;
    if (store_snap_begin(s, 0, &snap, &err) < 0)
        trouble("snapshot: " STR_FMT, STR_ARG(err.msg));
    if (store_rev(s) < sh->max_acked_rev)
        trouble("the revision went back: %llu, but %llu was acknowledged",
                (unsigned long long)store_rev(s), (unsigned long long)sh->max_acked_rev);
    uint64_t n = sh->n_events;
    if (n && store_rev(s) < sh->events[n - 1].rev)
        trouble("the revision went back: %llu, but %llu was watched",
                (unsigned long long)store_rev(s), (unsigned long long)sh->events[n - 1].rev);
    for (unsigned w = 0; w < N_WRITERS; w++) {
        check_keys(snap, w, &err);
        check_serial(snap, w, &err);
    }
    store_snap_end(snap);
    arena_done(&arena);
}

static struct store *open_store(void)
{
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    struct store *s = NULL;
    struct store_options opt = { .dir = dir, .history_bytes = history_bytes };
    if (store_open(&opt, &s, &err) < 0)
        trouble(STR_FMT, STR_ARG(err.msg));
    arena_done(&arena);
    return s;
}

/* ---- Writers ---- */

struct writer {
    struct store *s;
    unsigned w;
    uint64_t seed;
};

static void note_acked_rev(uint64_t rev)
{
    uint64_t old = sh->max_acked_rev;
    while (old < rev && !atomic_compare_exchange_weak(&sh->max_acked_rev, &old, rev))
        ;
}

static struct str value_text(char text[static VALUE_BYTES + 32], uint64_t number, size_t filling)
{
    int n = snprintf(text, 32, "%llu ", (unsigned long long)number);
    memset(text + n, 'f', filling);
    return (struct str){ text, (size_t)n + filling };
}

/* True if it was acknowledged. An injected disk error is the only other answer allowed. */
static bool commit(struct writer *wr, struct store_op *ops, size_t n)
{
    struct store_txn t = { .ops = ops, .n_ops = n };
    int r = store_commit(wr->s, &t, NULL);
    if (r == 0) {
        note_acked_rev(t.rev);
        sh->writers[wr->w].n_acked++;
    } else if ((r != -ERR_IO && r != -ERR_NO_SPACE) || strstr(t.reason, "removed")) {
        trouble("commit: code %d, %s", r, t.reason);
    }
    return r == 0;
}

/* Overwrites or deletes one key. */
static void write_key(struct writer *wr)
{
    struct writer_state *ws = &sh->writers[wr->w];
    unsigned k = (unsigned)(roll(&wr->seed) % N_KEYS);
    struct key_state *ks = &ws->keys[k];
    char key[KEY_BYTES], text[VALUE_BYTES + 32];
    (void)snprintf(key, sizeof(key), "o/%u/%u", wr->w, k);
    bool is_delete = ks->acked && roll(&wr->seed) % 4 == 0;
    uint64_t number = is_delete ? 0 : ++ws->numbers;
    struct str value = value_text(text, number, roll(&wr->seed) % VALUE_BYTES);
    struct store_op op = { is_delete ? STORE_DELETE : STORE_PUT, str_of(key), value, STORE_ANY };
    ks->tried = number;
    atomic_thread_fence(memory_order_seq_cst);
    if (commit(wr, &op, 1))
        ks->acked = number;
}

/* Puts the next serial key, and deletes the one that falls out, in one transaction. */
static void write_serial(struct writer *wr)
{
    struct writer_state *ws = &sh->writers[wr->w];
    uint64_t number = ws->serial_acked + 1;
    char key[KEY_BYTES], old_key[KEY_BYTES], text[VALUE_BYTES + 32];
    (void)snprintf(key, sizeof(key), "s/%u/%010llu", wr->w, (unsigned long long)number);
    (void)snprintf(old_key, sizeof(old_key), "s/%u/%010llu", wr->w,
                   (unsigned long long)(number - N_SERIAL));
    struct store_op ops[2] = {
        { STORE_PUT, str_of(key), value_text(text, number, 100), STORE_ABSENT },
        { STORE_DELETE, str_of(old_key), STR(""), STORE_ANY },
    };
    ws->serial_tried = number;
    atomic_thread_fence(memory_order_seq_cst);
    if (commit(wr, ops, number > N_SERIAL ? 2 : 1))
        ws->serial_acked = number;
}

/* History is short here. A watcher that gets no processor for a while would fall behind it, which
 * is no fault of the store; so nobody runs far ahead. */
static void wait_for_watcher(void)
{
    enum { LEAD_MAX = 2000 }; /* revisions; about a quarter of the history */
    for (;;) {
        uint64_t n = atomic_load_explicit(&sh->n_events, memory_order_acquire);
        uint64_t noted = n ? sh->events[n - 1].rev : sh->resumed_rev;
        if (n == MAX_EVENTS || sh->max_acked_rev <= noted + LEAD_MAX)
            return;
        (void)usleep(200);
    }
}

static void *writer_main(void *arg)
{
    struct writer *wr = arg;
    for (;;) {
        wait_for_watcher();
        if (roll(&wr->seed) % 3)
            write_key(wr);
        else
            write_serial(wr);
    }
    return NULL;
}

/* ---- The watcher ---- */

static enum store_watch_verdict on_event(struct store_watch *w, const struct store_event *ev)
{
    (void)w;
    uint64_t n = sh->n_events;
    if (n == MAX_EVENTS)
        return STORE_WATCH_FULL;
    struct event_note *note = &sh->events[n];
    note->rev = ev->now.mod_rev;
    note->prev_rev = ev->prev.mod_rev;
    note->type = ev->type;
    (void)snprintf(note->key, sizeof(note->key), STR_FMT, STR_ARG(ev->now.key));
    atomic_store_explicit(&sh->n_events, n + 1, memory_order_release);
    return STORE_WATCH_ON;
}

static void on_expired(struct store_watch *w)
{
    trouble("the watch expired at revision %llu", (unsigned long long)store_watch_rev(w));
}

static void no_wake(void *arg)
{
    (void)arg;
}

/* Everything up to here was noted whole: the last revision in the notes may have more events. */
static uint64_t noted_rev(void)
{
    uint64_t n = sh->n_events, rev = n ? sh->events[n - 1].rev - 1 : 0;
    uint64_t known = sh->resumed_rev > sh->watched_rev ? sh->resumed_rev : sh->watched_rev;
    return rev > known ? rev : known;
}

/* Forgets the last revision's events, as a client does that resumes after the one before. */
static uint64_t resume_notes(void)
{
    uint64_t rev = noted_rev(), n = sh->n_events;
    while (n && sh->events[n - 1].rev > rev)
        n--;
    sh->n_events = n;
    sh->resumed_rev = rev; /* also if this life ends before it notes anything */
    return rev;
}

static void *watcher_main(void *arg)
{
    struct store *s = arg;
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    struct store_feed *feed = store_feed_new(s, no_wake, NULL);
    struct store_watch w = { .on_event = on_event, .on_expired = on_expired };
    if (store_watch_start(feed, &w, STR(""), resume_notes(), &err) < 0)
        trouble("watch: " STR_FMT, STR_ARG(err.msg));
    for (;;) {
        (void)store_feed_poll(feed);
        (void)usleep(500);
    }
    return NULL;
}

/* ---- The child ---- */

/* What is going to happen to the next child. */
struct fate {
    const char *name; /* of a failpoint; NULL: a kill at some moment */
    int errnum;
    unsigned nth;
    uint64_t life_us;
};

static struct fate roll_fate(uint64_t *seed)
{
    size_t n = 0;
    while (failpoint_name(n))
        n++;
    struct fate f = { .life_us = 2000 + roll(seed) % 60000 };
    if (roll(seed) % 2)
        return f;
    f.name = failpoint_name(roll(seed) % n);
    bool is_call = strncmp(f.name, "wal-", 4) == 0 || strncmp(f.name, "view-", 5) == 0 ||
                   strcmp(f.name, "replace-copy") == 0 || strcmp(f.name, "replace-now") == 0;
    f.errnum = !is_call ? FAILPOINT_KILL : roll(seed) % 2 ? EIO : ENOSPC;
    /* How often each is passed in one life: a start once, a commit all the time. */
    unsigned often = strncmp(f.name, "recover", 7) == 0  ? 1
                     : strncmp(f.name, "commit", 6) == 0 ? 300
                                                         : 4;
    f.nth = 1 + (unsigned)(roll(seed) % often);
    f.life_us = 60000;
    return f;
}

static void arm(const struct fate *f, bool is_open)
{
    /* A new file for the view is rare otherwise; here each checkpoint makes one, soon or at once.
     */
    if (is_open)
        failpoint_arm("replace-now", EAGAIN, 1 + f->nth % 3, UINT32_MAX);
    /* A call that fails while the store is being opened is a reason not to open it. */
    if (f->name && is_open == (f->errnum != FAILPOINT_KILL))
        failpoint_arm(f->name, f->errnum, f->nth, 1);
}

static void child_main(const struct fate *fate, uint64_t seed)
{
    arm(fate, false);
    struct store *s = open_store();
    arm(fate, true);
    check_store(s);
    struct writer writers[N_WRITERS];
    pthread_t thread;
    if (pthread_create(&thread, NULL, watcher_main, s))
        abort();
    for (unsigned w = 0; w < N_WRITERS; w++) {
        writers[w] = (struct writer){ s, w, seed * 31 + w + 1 };
        if (pthread_create(&thread, NULL, writer_main, &writers[w]))
            abort();
    }
    sh->is_running = 1;
    /* Compact all the time, to where the watch has been. A failed disk may answer here too. */
    for (;;) {
        (void)usleep(3000);
        (void)store_compact(s, noted_rev(), NULL);
    }
}

/* ---- The parent ---- */

static void sleep_us(uint64_t us)
{
    struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };
    (void)nanosleep(&t, NULL);
}

/* Waits until the child has ended by itself, at most so long. */
static bool has_ended(pid_t pid, uint64_t us, int *status)
{
    for (uint64_t waited = 0; waited < us; waited += 500) {
        if (waitpid(pid, status, WNOHANG) == pid)
            return true;
        sleep_us(500);
    }
    return false;
}

/* One life of the store. */
static void live_and_die(int kill_number, uint64_t *seed)
{
    uint64_t child_seed = roll(seed) | 1;
    struct fate fate = roll_fate(seed);
    uint64_t acked = sh->max_acked_rev;
    sh->is_running = 0;
    struct timespec begin, end;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0)
        child_main(&fate, child_seed);
    int status = 0;
    bool ended = false;
    for (int i = 0; i < 20000 && !sh->is_running && !ended; i++)
        ended = has_ended(pid, 500, &status);
    if (!ended)
        ended = has_ended(pid, fate.life_us, &status);
    bool at_failpoint = ended;
    if (!ended) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
    }
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        fprintf(stderr, "crash: the child ended by itself (status %x): %s\n", (unsigned)status,
                sh->trouble);
        exit(1);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    printf("kill %d: %s%s after %lld ms, %llu revisions acknowledged, %llu events noted\n",
           kill_number,
           at_failpoint ? "at "
           : fate.name  ? "by SIGKILL with "
                        : "by ",
           fate.name ? fate.name : "SIGKILL",
           (long long)(end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000,
           (unsigned long long)(sh->max_acked_rev - acked), (unsigned long long)sh->n_events);
}

/* ---- What the watch saw, over all lives ---- */

struct mirror_key {
    uint64_t mod_rev;
    size_t n;
    char key[KEY_BYTES];
};

static struct map mirror;
static uint64_t n_events_checked;

static void mirror_apply(const struct event_note *note, uint64_t last_rev)
{
    if (note->rev != last_rev && note->rev != last_rev + 1)
        trouble("the watch jumped from revision %llu to %llu", (unsigned long long)last_rev,
                (unsigned long long)note->rev);
    struct mirror_key *k = map_get(&mirror, str_of(note->key));
    uint64_t before = k ? k->mod_rev : 0;
    if (note->prev_rev != before || (k && k->mod_rev == note->rev))
        trouble("%s at revision %llu: before it was %llu, the event says %llu", note->key,
                (unsigned long long)note->rev, (unsigned long long)before,
                (unsigned long long)note->prev_rev);
    if (note->type == STORE_DELETE) {
        (void)map_remove(&mirror, str_of(note->key));
        free(k);
        return;
    }
    if (!k) {
        k = mem_new(struct mirror_key);
        k->n = strlen(note->key);
        memcpy(k->key, note->key, k->n);
        (void)map_set(&mirror, (struct str){ k->key, k->n }, k);
    }
    k->mod_rev = note->rev;
}

static void compare_mirror(struct store *s)
{
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    struct store_snap *snap;
    struct store_entry e;
    size_t n = 0;
    int r;
    if (store_snap_begin(s, 0, &snap, &err) < 0)
        trouble("snapshot: " STR_FMT, STR_ARG(err.msg));
    store_range_begin(snap, STR(""), STR(""));
    while ((r = store_range_next(snap, &e, &err)) > 0) {
        struct mirror_key *k = map_get(&mirror, e.key);
        if (!k || k->mod_rev != e.mod_rev)
            trouble(STR_FMT " is not what its events say", STR_ARG(e.key));
        n++;
    }
    if (r < 0 || n != mirror.n)
        trouble("%zu keys, but the events left %zu", n, mirror.n);
    store_snap_end(snap);
    arena_done(&arena);
}

/* Opens the store here, reads the watch to its end, and goes through all notes. */
static void verify(void)
{
    struct store *s = open_store();
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    check_store(s);
    struct store_feed *feed = store_feed_new(s, no_wake, NULL);
    struct store_watch w = { .on_event = on_event, .on_expired = on_expired };
    if (store_watch_start(feed, &w, STR(""), resume_notes(), &err) < 0)
        trouble("watch: " STR_FMT, STR_ARG(err.msg));
    while (store_watch_rev(&w) < store_rev(s))
        (void)store_feed_poll(feed);
    store_watch_stop(&w);
    store_feed_free(feed);

    uint64_t last_rev = sh->watched_rev;
    for (uint64_t i = 0; i < sh->n_events; i++) {
        mirror_apply(&sh->events[i], last_rev);
        last_rev = sh->events[i].rev;
    }
    if (last_rev != store_rev(s))
        trouble("the watch ended at revision %llu of %llu", (unsigned long long)last_rev,
                (unsigned long long)store_rev(s));
    n_events_checked += sh->n_events;
    sh->n_events = 0;
    sh->watched_rev = last_rev;
    compare_mirror(s);
    store_close(s);
    arena_done(&arena);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

static void make_dir(const char *given)
{
    const char *tmp = getenv("TMPDIR");
    if (given) {
        (void)snprintf(dir, sizeof(dir), "%s", given);
        return;
    }
    (void)snprintf(dir, sizeof(dir), "%s/crash-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        abort();
}

int main(int argc, char **argv)
{
    uint64_t kills = 20, seed = (uint64_t)time(NULL);
    const char *given_dir = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--kills") == 0)
            (void)str_to_u64(str_of(argv[i + 1]), &kills);
        else if (strcmp(argv[i], "--seed") == 0)
            (void)str_to_u64(str_of(argv[i + 1]), &seed);
        else if (strcmp(argv[i], "--dir") == 0)
            given_dir = argv[i + 1];
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    make_dir(given_dir);
    printf("crash: %llu kills, --seed %llu, in %s\n", (unsigned long long)kills,
           (unsigned long long)seed, dir);
    sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sh == MAP_FAILED)
        abort();
    sh->watched_rev = 1;
    uint64_t dice = seed * 0x9E3779B97F4A7C15u | 1;
    for (int i = 0; i < 4; i++)
        (void)roll(&dice);
    for (uint64_t i = 1; i <= kills; i++) {
        live_and_die((int)i, &dice);
        /* Often the next child has to recover from a crash that nobody tidied up after. */
        if (i == kills || roll(&dice) % 2 || sh->n_events > MAX_EVENTS / 2)
            verify();
    }
    uint64_t acked = 0;
    for (unsigned w = 0; w < N_WRITERS; w++)
        acked += sh->writers[w].n_acked;
    printf("crash: %llu kills survived: %llu writes acknowledged, none lost; %llu events watched, "
           "each once and in order; newest revision %llu\n",
           (unsigned long long)kills, (unsigned long long)acked,
           (unsigned long long)n_events_checked, (unsigned long long)sh->watched_rev);
    size_t at = 0;
    struct str key;
    void *k;
    while (map_next(&mirror, &at, &key, &k))
        free(k);
    map_done(&mirror);
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
