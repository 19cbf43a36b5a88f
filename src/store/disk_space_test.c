/* A disk that fails, and one that is full. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/failpoint.h"
#include "store/suite_files.h"

/* ---- A disk that fails ---- */

static void a_full_disk_is_survived(void **state)
{
    struct fixture *f = *state;
    struct store_stats stats;
    (void)put(f, "a", "1");
    failpoint_arm("wal-write", ENOSPC, 1, UINT32_MAX);
    for (int i = 0; i < 3; i++)
        assert_int_equal(put(f, "a", "2"), -ERR_NO_SPACE);
    assert_int_equal(del(f, "a"), -ERR_NO_SPACE); /* not even the reserve has room */
    store_stats(f->s, &stats);
    assert_true(stats.is_tight);
    assert_int_equal(stats.failing, -ERR_NO_SPACE);
    assert_string_equal(list(f, "", 0), "a=1");
    failpoint_disarm("wal-write");
    int64_t r = 0;
    for (int i = 0; i < 1000 && (r = put(f, "a", "3")) < 0; i++)
        (void)usleep(10000);
    assert_int_equal(r, 3);
    store_stats(f->s, &stats);
    assert_int_equal(stats.failing, 0);
    assert_false(stats.is_tight);
    fixture_reopen(f);
    assert_string_equal(list(f, "", 0), "a=3");
}

static void a_failed_sync_is_survived(void **state)
{
    struct fixture *f = *state;
    char dir[128];
    for (int round = 0; round < 3; round++) {
        char value[16], text[32];
        int64_t rev = put(f, "a", "acknowledged");
        assert_true(rev > 0);
        failpoint_arm("wal-sync", EIO, 1, round == 2 ? 4 : 1);
        for (int i = 0; i < (round == 2 ? 3 : 1); i++)
            assert_int_equal(put(f, "a", "failed"), -ERR_IO);
        failpoint_disarm("wal-sync");
        assert_string_equal(list(f, "", 0), "a=acknowledged");
        /* What was written but not acknowledged must not come back. */
        crash_copy(f, dir);
        struct store *first = f->s;
        if (round < 2) { /* in the last round even the mending failed: both are right */
            assert_int_equal(open_dir(f, dir, &f->s), 0);
            assert_string_equal(list(f, "", 0), "a=acknowledged");
            store_close(f->s);
            f->s = first;
        }
        (void)snprintf(value, sizeof(value), "%d", round);
        (void)snprintf(text, sizeof(text), "a=%d", round);
        assert_int_equal(put(f, "a", value), rev + 1);
        if (round == 1)
            fixture_reopen(f);
        assert_string_equal(list(f, "", 0), text);
        assert_string_equal(list(f, "", (uint64_t)rev), "a=acknowledged");
    }
    f->s = store_close(f->s);
    assert_int_equal(store_verify(f->dir, NULL, &f->err), 0);
    assert_int_equal(store_open(&f->opt, &f->s, &f->err), 0);
    remove_tree(dir);
}

/* Preparing the next segment is a favour: when it fails, it leaves nothing behind, and the log goes
 * on without. */
static void a_failed_preparation_is_survived(void **state)
{
    struct fixture *f = *state;
    char path[128], value[16384];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    failpoint_arm("wal-prepare", ENOSPC, 1, UINT32_MAX);
    for (int i = 0; i < 60; i++)
        assert_true(put(f, "a", value) > 0);
    for (int i = 0; i < 500 && failpoint_hits("wal-prepare") == 0; i++)
        (void)usleep(10000);
    fixture_checkpoint(f);
    assert_int_equal(failpoint_hits("wal-prepare"), 1);
    (void)snprintf(path, sizeof(path), "%s/log/prepared.tmp", f->dir);
    assert_int_equal(size_of(path), 0);
    for (int i = 0; i < 60; i++)
        assert_true(put(f, "a", value) > 0);
    failpoint_disarm("wal-prepare");
    fixture_reopen(f);
    assert_int_equal(store_rev(f->s), 121);
}

/* The view cannot be written: writers go on until memory is full, then they get the error; when
 * there is room again everything goes on. */
static void a_failed_checkpoint_is_survived(void **state)
{
    struct fixture *f = *state;
    f->s = store_close(f->s);
    f->opt.history_bytes = 1 << 20;
    assert_int_equal(store_open(&f->opt, &f->s, &f->err), 0);
    char value[4096];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    failpoint_arm("view-commit", EIO, 1, UINT32_MAX);
    int64_t r = 0, last = 0;
    for (int i = 0; i < 10000 && (r = put(f, "a", value)) > 0; i++)
        last = r;
    assert_int_equal(r, -ERR_IO);
    struct store_stats stats;
    store_stats(f->s, &stats);
    assert_true(stats.memory_bytes < 3 << 20);
    assert_int_equal(stats.failing, -ERR_IO);
    struct store_snap *snap; /* reading goes on */
    assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
    assert_int_equal(store_snap_rev(snap), last);
    store_snap_end(snap);
    failpoint_disarm("view-commit");
    for (int i = 0; i < 500 && (r = put(f, "a", "small")) < 0; i++)
        (void)usleep(10000);
    assert_int_equal(r, last + 1);
    fixture_checkpoint(f);
    fixture_reopen(f);
    assert_string_equal(list(f, "", 0), "a=small");
}

/* A real one: the largest file this process may write is smaller than what it wants to. */
static void a_file_size_limit_is_survived(void **state)
{
    struct fixture *f = *state;
    f->s = store_close(f->s);
    pid_t pid = fork();
    if (pid == 0) {
        char dir[128], value[65536];
        (void)snprintf(dir, sizeof(dir), "%s/limited", f->dir);
        memset(value, 'x', sizeof(value));
        value[sizeof(value) - 1] = '\0';
        (void)signal(SIGXFSZ, SIG_IGN);
        if (open_dir(f, dir, &f->s) < 0)
            _exit(1);
        int64_t r = put(f, "a", value);
        struct rlimit limit = { 200000, RLIM_INFINITY };
        if (r != 2 || setrlimit(RLIMIT_FSIZE, &limit) < 0)
            _exit(2);
        for (int i = 0; i < 10 && r > 0; i++)
            r = put(f, "b", value);
        if (r != -ERR_IO && r != -ERR_NO_SPACE)
            _exit(3);
        limit.rlim_cur = RLIM_INFINITY;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        if (put(f, "c", "1") < 0)
            _exit(4);
        uint64_t rev = store_rev(f->s);
        store_close(f->s);
        if (open_dir(f, dir, &f->s) < 0 || store_rev(f->s) != rev)
            _exit(5);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* A disk that is really full, for the log and for the view. Needs the right to mount. */
static int fill_a_disk(struct fixture *f)
{
    enum { DISK = 6 << 20 };
    char dir[128], filler[160], value[65536];
    (void)snprintf(dir, sizeof(dir), "%s/disk", f->dir);
    if (mkdir(dir, 0700) < 0 || unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", dir, "tmpfs", 0, "size=6m,mode=0700") < 0)
        return 77;
    f->opt.history_bytes = 1 << 20;
    if (open_dir(f, dir, &f->s) < 0)
        return 1;
    (void)snprintf(filler, sizeof(filler), "%s/filler", dir);
    int fd = open(filler, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 0) < 0 || posix_fallocate(fd, 0, 2 << 20) != 0)
        return 2;
    (void)close(fd);
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    int64_t r = 1, last = 0;
    char key[16];
    for (int i = 0; i < 2 * DISK / (int)sizeof(value) && r > 0; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        r = put(f, key, value);
        last = r > 0 ? r : last;
    }
    if (r != -ERR_NO_SPACE)
        return 3;
    (void)unlink(filler);
    for (int i = 0; i < 500 && (r = put(f, "after", "room")) < 0; i++)
        (void)usleep(10000);
    if (r != last + 1)
        return 4;
    store_close(f->s);
    if (store_verify(dir, NULL, &f->err) < 0)
        return 5;
    if (open_dir(f, dir, &f->s) < 0 || store_rev(f->s) != (uint64_t)last + 1)
        return 6;
    store_close(f->s);
    return 0;
}

static void a_full_file_system_is_survived(void **state)
{
    struct fixture *f = *state;
    f->s = store_close(f->s);
    pid_t pid = fork();
    if (pid == 0)
        _exit(fill_a_disk(f));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* ---- Deleting on a full disk ---- */

/* Runs `body` on a disk of its own; needs the right to mount. */
static void on_small_disk(struct fixture *f, int (*body)(struct fixture *f, const char *dir))
{
    f->s = store_close(f->s);
    pid_t pid = fork();
    if (pid == 0) {
        char dir[128];
        (void)snprintf(dir, sizeof(dir), "%s/disk", f->dir);
        if (mkdir(dir, 0700) < 0 || unshare(CLONE_NEWNS) < 0 ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("none", dir, "tmpfs", 0, "size=32m,mode=0700") < 0)
            _exit(77);
        _exit(body(f, dir));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* Puts large values until there is no room. How many there are. */
static int fill_store(struct fixture *f, char *value)
{
    int64_t r = 1;
    char key[16];
    int n = 0;
    for (; n < 5000 && r > 0; n++) {
        (void)snprintf(key, sizeof(key), "k%d", n);
        r = put(f, key, value);
    }
    return r == -ERR_NO_SPACE ? n - 1 : 0;
}

/* Somebody else takes what is left, to the last byte. */
static void take_the_rest(const char *dir)
{
    char filler[160], bytes[4096] = { 0 };
    (void)snprintf(filler, sizeof(filler), "%s/filler", dir);
    int fd = open(filler, O_WRONLY | O_CREAT | O_APPEND, 0600);
    while (fd >= 0 && write(fd, bytes, sizeof(bytes)) > 0)
        ;
    (void)close(fd);
}

/* A store that fills its disk with values like this one. How many there are, or 0. */
static int open_and_fill(struct fixture *f, const char *dir, char *value, size_t bytes)
{
    char reserve[160];
    memset(value, 'x', bytes);
    value[bytes - 1] = '\0';
    f->opt.history_bytes = 1 << 20;
    if (open_dir(f, dir, &f->s) < 0)
        return 0;
    (void)snprintf(reserve, sizeof(reserve), "%s/reserve", dir);
    for (int i = 0; i < 1000 && size_of(reserve) < 0; i++)
        (void)usleep(10000);
    return fill_store(f, value);
}

static bool delete_all(struct fixture *f, int n)
{
    char key[16];
    for (int i = 0; i < n; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        if (del(f, key) < 0) {
            print_error("%s was not deleted: " STR_FMT "\n", key, STR_ARG(f->err.msg));
            return false;
        }
    }
    return true;
}

static int delete_what_fills_the_disk(struct fixture *f, const char *dir)
{
    char value[16384];
    struct store_stats stats;
    int n = open_and_fill(f, dir, value, sizeof(value));
    if (n < 100)
        return 2;
    take_the_rest(dir);
    store_stats(f->s, &stats);
    if (!stats.is_tight || put(f, "more", value) != -ERR_NO_SPACE || !says(f, "nearly full"))
        return 3;
    struct store_op marks = { STORE_PUT, STR("k0"), STR("ending"), STORE_ANY, true };
    struct store_txn t = { .ops = &marks, .n_ops = 1 };
    if (store_commit(f->s, &t, &f->err) < 0)
        return 4;
    if (!delete_all(f, n))
        return 5;
    int64_t r = -1;
    for (int i = 0; i < 3000 && (r = put(f, "after", value)) < 0; i++)
        (void)usleep(10000);
    if (r < 0)
        return 6;
    store_close(f->s);
    return store_verify(dir, NULL, &f->err) < 0 ? 7 : 0;
}

static void a_full_disk_can_be_emptied(void **state)
{
    on_small_disk(*state, delete_what_fills_the_disk);
}

/* A start takes room, too. */
static int open_on_full_disk(struct fixture *f, const char *dir)
{
    char value[16384];
    struct store_stats stats;
    int n = open_and_fill(f, dir, value, sizeof(value));
    if (n < 100)
        return 2;
    store_close(f->s);
    take_the_rest(dir);
    if (open_dir(f, dir, &f->s) < 0)
        return 3;
    store_stats(f->s, &stats);
    if (!stats.is_tight || put(f, "more", value) != -ERR_NO_SPACE)
        return 4;
    return delete_all(f, n) ? 0 : 5;
}

static void a_store_opens_on_a_full_disk(void **state)
{
    on_small_disk(*state, open_on_full_disk);
}

/* The same where the disk does not say so before: a write fails, and what it was about decides. */
static void what_deletes_goes_through(void **state)
{
    struct fixture *f = *state;
    struct store_stats stats;
    (void)put(f, "a", "1");
    failpoint_arm("wal-write", ENOSPC, 1, 1);
    assert_true(del(f, "a") > 0);
    store_stats(f->s, &stats);
    assert_true(stats.is_tight);
    assert_int_equal(put(f, "b", "1"), -ERR_NO_SPACE);
    for (int i = 0; i < 1000 && put(f, "b", "1") < 0; i++)
        (void)usleep(10000); /* there is room, and that is seen soon */
    assert_string_equal(list(f, "", 0), "b=1");
}

/* Neither as it is nor in the reserve: the keeper must give up history first. */
static void a_delete_waits_for_room(void **state)
{
    struct fixture *f = *state;
    (void)put(f, "a", "1");
    (void)put(f, "b", "1");
    uint64_t rev = store_rev(f->s);
    failpoint_arm("wal-write", ENOSPC, 1, 2);
    assert_int_equal(del(f, "a"), rev + 1);
    assert_int_equal(failpoint_hits("wal-write"), 3);
    assert_int_equal(store_floor(f->s), rev);
    assert_string_equal(list(f, "", 0), "b=1");
    fixture_reopen(f);
    assert_string_equal(list(f, "", 0), "b=1");
}

/* Both tables are full and the view has no room. The keeper would try again in a while; somebody
 * who deletes has it try at once. */
static void a_delete_does_not_wait_for_a_retry(void **state)
{
    struct fixture *f = *state;
    f->s = store_close(f->s);
    f->opt.history_bytes = 1 << 20;
    assert_int_equal(store_open(&f->opt, &f->s, &f->err), 0);
    char value[4096];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    failpoint_arm("view-commit", ENOSPC, 1, UINT32_MAX);
    struct store_op marks = { STORE_PUT, STR("a"), str_of(value), STORE_ANY, true };
    struct store_txn t = { .ops = &marks, .n_ops = 1 };
    int64_t r = 0;
    for (int i = 0; i < 10000 && r >= 0; i++)
        r = run(f, &t);
    assert_int_equal(r, -ERR_NO_SPACE);
    assert_int_equal(del(f, "a"), -ERR_NO_SPACE);
    failpoint_disarm("view-commit");
    assert_true(del(f, "a") > 0);
    assert_string_equal(list(f, "", 0), "");
}

static _Atomic bool compaction_stops;

static void *compact_on_and_on(void *arg)
{
    struct fixture *f = arg;
    while (!compaction_stops)
        if (store_compact(f->s, store_rev(f->s), NULL) < 0)
            abort();
    return NULL;
}

/* The keeper waits for a table to be sealed, by a thread that waits for the keeper. */
static void room_is_made_while_others_compact(void **state)
{
    struct fixture *f = *state;
    struct store_op marks = { STORE_PUT, STR("a"), STR("1"), STORE_ANY, true };
    struct store_txn t = { .ops = &marks, .n_ops = 1 };
    pthread_t thread;
    compaction_stops = false;
    assert_int_equal(pthread_create(&thread, NULL, compact_on_and_on, f), 0);
    for (int i = 0; i < 200; i++) {
        assert_true(run(f, &t) > 0);
        failpoint_arm("wal-write", ENOSPC, 1, 2);
        assert_true(del(f, "a") > 0);
    }
    compaction_stops = true;
    (void)pthread_join(thread, NULL);
    failpoint_disarm("wal-write");
    assert_string_equal(list(f, "", 0), "");
}

static void the_reserve_is_for_deletes(void **state)
{
    struct fixture *f = *state;
    char reserve[160];
    (void)put(f, "a", "1");
    (void)snprintf(reserve, sizeof(reserve), "%s/reserve", f->dir);
    for (int i = 0; i < 1000 && size_of(reserve) < 0; i++)
        (void)usleep(10000);
    failpoint_arm("view-commit", ENOSPC, 1, UINT32_MAX);
    assert_int_equal(store_compact(f->s, store_rev(f->s), &f->err), -ERR_NO_SPACE);
    failpoint_arm("wal-write", ENOSPC, 1, 1);
    assert_int_equal(put(f, "b", "1"), -ERR_NO_SPACE);
    assert_true(size_of(reserve) > 0);
    failpoint_disarm("view-commit");
}

/* What was deleted gives its space back by itself, also while somebody reads. */
static void an_emptied_store_becomes_small(void **state)
{
    struct fixture *f = *state;
    struct store_stats stats;
    struct store_snap *snap;
    char key[16], value[16384];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 600; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        (void)put(f, key, value);
    }
    fixture_checkpoint(f);
    assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
    for (int i = 0; i < 600; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        (void)del(f, key);
    }
    (void)put(f, "stays", "here");
    assert_int_equal(store_compact(f->s, store_rev(f->s), &f->err), 0);
    store_stats(f->s, &stats);
    assert_true(stats.view_bytes > 10 << 20);
    for (int i = 0; i < 3000 && stats.view_bytes > 1 << 20; i++) {
        (void)usleep(10000);
        store_stats(f->s, &stats);
    }
    assert_true(stats.view_bytes < 1 << 20);
    struct store_entry e;
    assert_int_equal(store_snap_get(snap, STR("k17"), &e, &f->err), 1);
    store_snap_end(snap);
    assert_string_equal(list(f, "", 0), "stays=here");
    fixture_reopen(f);
    assert_string_equal(list(f, "", 0), "stays=here");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    suite_engine = STORE_LMDB;
    const struct CMUnitTest tests[] = {
        TEST(a_full_disk_is_survived),
        TEST(a_failed_sync_is_survived),
        TEST(a_failed_preparation_is_survived),
        TEST(a_failed_checkpoint_is_survived),
        TEST(a_file_size_limit_is_survived),
        TEST(a_full_file_system_is_survived),
        TEST(a_full_disk_can_be_emptied),
        TEST(a_delete_waits_for_room),
        TEST(a_delete_does_not_wait_for_a_retry),
        TEST(room_is_made_while_others_compact),
        TEST(the_reserve_is_for_deletes),
        TEST(a_store_opens_on_a_full_disk),
        TEST(what_deletes_goes_through),
        TEST(an_emptied_store_becomes_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
