#include "server/backup.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/http/suite_server.h"

static struct api api;
static struct suite_server server;
static struct fetcher *fetcher;
static char folder[40];

static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    backup_serve(&api, x);
}

static const char *path_of(const char *name)
{
    return str_cstr(&server.arena, arena_printf(&server.arena, "%s/%s", folder, name));
}

static void put(struct store *store, const char *key, const char *value)
{
    struct store_op op = { STORE_PUT, str_of(key), str_of(value), STORE_ANY };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(store, &txn, NULL), 0);
}

static int setup(void **state)
{
    const struct store_options opt = { .engine = STORE_MEMORY };
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/backup_test.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    api = (struct api){ .clock = &clock_system, .backup_workers = workers_new(1, 0) };
    assert_int_equal(store_open(&opt, &api.store, NULL), 0);
    suite_server_start(&server, on_request, NULL, NULL);
    api.scratch_dir = path_of("scratch");
    assert_int_equal(mkdir(api.scratch_dir, 0700), 0);
    fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    return 0;
}

static int remove_it(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int teardown(void **state)
{
    (void)state;
    fetcher_free(fetcher);
    suite_server_stop(&server);
    workers_free(api.backup_workers);
    suite_server_free(&server);
    store_close(api.store);
    return nftw(folder, remove_it, 8, FTW_DEPTH | FTW_PHYS);
}

/* A store that was made from the bytes of a backup. */
static struct store *restored(struct str bytes)
{
    struct err err = ERR_INIT(&server.arena);
    const char *file = path_of("file"), *dir = path_of("restored");
    const struct store_restore_options options = { .bump = STORE_BUMP };
    const struct store_options opt = { .engine = STORE_LMDB, .dir = dir };
    struct store *store;
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, bytes.p, bytes.n), (ssize_t)bytes.n);
    close(fd);
    if (store_restore(file, dir, &options, &err) < 0 || store_open(&opt, &store, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return store;
}

static size_t n_in(const char *dir)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* itself and its parent */
}

/* All that was there when it began, and nothing is left behind beside the store. */
static void a_backup_is_the_store(void **state)
{
    struct store_snap *snap;
    struct store_entry e;
    char *large = malloc(1 << 20);
    (void)state;
    memset(large, 'x', (1 << 20) - 1);
    large[(1 << 20) - 1] = '\0';
    put(api.store, "/a", "one");
    put(api.store, "/b", large); /* takes several pieces */
    struct fetch_reply reply = suite_server_ask(&server, fetcher, "GET", "/");
    put(api.store, "/c", "later");
    assert_int_equal(reply.status, 200);
    assert_string_equal(suite_server_header(&server, &reply, "content-type"),
                        "application/octet-stream");
    assert_string_equal(suite_server_header(&server, &reply, "warning"), "");
    struct store *copy = restored(reply.body);
    assert_int_equal(store_snap_begin(copy, 0, &snap, NULL), 0);
    assert_int_equal(store_snap_get(snap, STR("/a"), &e, NULL), 1);
    assert_string_equal(str_cstr(&server.arena, e.value), "one");
    assert_int_equal(store_snap_get(snap, STR("/b"), &e, NULL), 1);
    assert_int_equal(e.value.n, (1 << 20) - 1);
    assert_int_equal(store_snap_get(snap, STR("/c"), &e, NULL), 0);
    store_snap_end(snap);
    store_close(copy);
    assert_int_equal(n_in(api.scratch_dir), 0);
    free(large);
}

/* Where there is no place for the file, there is a Status that says so. */
static void without_a_place_there_is_none(void **state)
{
    (void)state;
    api.scratch_dir = "/dev/null";
    struct fetch_reply reply = suite_server_ask(&server, fetcher, "GET", "/");
    assert_int_equal(reply.status, 500);
    assert_non_null(memmem(reply.body.p, reply.body.n, "\"kind\":\"Status\"", 15));
}

struct blocker {
    struct work work;
    sem_t began, may_end;
};

static void block(struct work *w)
{
    struct blocker *b = (struct blocker *)w;
    sem_post(&b->began);
    while (sem_wait(&b->may_end) != 0)
        ;
}

static void there_are_so_many_at_once(void **state)
{
    struct blocker b = { .work.run = block };
    (void)state;
    sem_init(&b.began, 0, 0);
    sem_init(&b.may_end, 0, 0);
    assert_true(workers_submit(api.backup_workers, &b.work));
    while (sem_wait(&b.began) != 0)
        ;
    struct fetch_reply reply = suite_server_ask(&server, fetcher, "GET", "/");
    assert_int_equal(reply.status, 429);
    sem_post(&b.may_end);
    api.backup_workers = workers_free(api.backup_workers);
    sem_destroy(&b.began);
    sem_destroy(&b.may_end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_backup_is_the_store, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_place_there_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(there_are_so_many_at_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
