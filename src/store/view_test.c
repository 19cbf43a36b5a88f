#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/failpoint.h"
#include "store/suite_fixture.h"
#include "store/view.h"

struct view_fixture {
    char dir[64], path[80];
    struct view *v;
    struct view_meta meta;
    struct arena arena;
    struct err err;
};

static int setup(void **state)
{
    struct view_fixture *f = mem_new(struct view_fixture);
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(f->dir, sizeof(f->dir), "%s/view-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(f->dir))
        return -1;
    (void)snprintf(f->path, sizeof(f->path), "%s/view.mdb", f->dir);
    arena_init(&f->arena);
    f->err = ERR_INIT(&f->arena);
    f->meta = (struct view_meta){ .store_id = 7, .rev = 1, .floor = 1 };
    struct view_options opt = { .path = f->path, .map_bytes = 256 << 10 };
    if (view_create(f->path, &f->meta, false, &f->err) < 0 || view_open(&opt, &f->v, &f->err) < 0)
        return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct view_fixture *f = *state;
    view_close(f->v);
    remove_tree(f->dir);
    arena_done(&f->arena);
    free(f);
    return 0;
}

/* One transaction that puts one key of `n` bytes. */
static int put_one(struct view_fixture *f, const char *key, size_t n, uint64_t room)
{
    struct view_write *w;
    int r = view_write_begin(f->v, room, &w, &f->err);
    if (r < 0)
        return r;
    autofree char *value = mem_alloc(n);
    memset(value, 'v', n);
    uint64_t rev = f->meta.rev + 1;
    struct view_entry e = { str_of(key), { value, n }, rev, rev, 0, 0 };
    e.crc = view_entry_sum(&e);
    r = view_write_put(w, &e, &f->err);
    if (r < 0) {
        view_write_abort(w);
        return r;
    }
    struct view_meta meta = f->meta;
    meta.rev = rev;
    meta.keys++;
    r = view_write_commit(w, &meta, &f->err);
    if (r == 0)
        f->meta = meta;
    return r;
}

static void the_map_grows_when_asked(void **state)
{
    struct view_fixture *f = *state;
    for (int i = 0; i < 10; i++) {
        char key[8];
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(put_one(f, key, 400000, 500000), 0);
    }
    assert_true(view_bytes(f->v) > 4000000);
}

static void a_full_map_grows_at_the_next_try(void **state)
{
    struct view_fixture *f = *state;
    int r = 0, n = 0;
    for (; n < 100 && r == 0; n++) {
        char key[8];
        (void)snprintf(key, sizeof(key), "k%d", n);
        r = put_one(f, key, 50000, 0);
    }
    assert_int_equal(r, -ERR_NO_SPACE);
    assert_true(view_is_full(f->v));
    assert_int_equal(put_one(f, "again", 50000, 0), 0);
    assert_false(view_is_full(f->v));
}

static void *hold_reader(void *arg)
{
    struct view_fixture *f = arg;
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    struct view_reader *reader;
    struct view_entry e;
    for (int i = 0; i < 2000; i++) {
        if (view_reader_begin(f->v, &reader, &err) < 0 ||
            view_get(reader, STR("first"), &e, &err) != 1 || view_entry_check(f->v, &e, &err) < 0)
            abort();
        view_reader_end(reader);
    }
    arena_done(&arena);
    return NULL;
}

static void readers_go_on_while_it_grows(void **state)
{
    struct view_fixture *f = *state;
    assert_int_equal(put_one(f, "first", 1000, 0), 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold_reader, f), 0);
    for (int i = 0; i < 8; i++) {
        char key[8];
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(put_one(f, key, 100000u << i, 200000u << i), 0);
    }
    for (int i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
}

/* ---- Nobody waits for a reader ---- */

static void expect_there(struct view_fixture *f, struct view_reader *reader, const char *key,
                         int there)
{
    struct view_entry e;
    assert_int_equal(view_get(reader, str_of(key), &e, &f->err), there);
    if (there)
        assert_int_equal(view_entry_check(f->v, &e, &f->err), 0);
}

/* Through everything that the writer does, a reader sees what it saw when it began. */
static void write_a_lot(struct view_fixture *f, struct view_reader *reader)
{
    for (int i = 0; i < 50; i++) {
        assert_int_equal(put_one(f, "a", 5000, 0), 0);
        expect_there(f, reader, "b", 0);
    }
}

static void a_reader_does_not_hold_up_growing(void **state)
{
    struct view_fixture *f = *state;
    struct view_reader *reader, *later;
    assert_int_equal(put_one(f, "a", 1000, 0), 0);
    assert_int_equal(view_reader_begin(f->v, &reader, &f->err), 0);
    assert_int_equal(put_one(f, "b", 1000, 10 << 20), 0);
    assert_int_equal(view_reader_begin(f->v, &later, &f->err), 0);
    expect_there(f, later, "b", 1);
    write_a_lot(f, reader);
    assert_int_equal(put_one(f, "c", 1000, 40 << 20), 0); /* and once more */
    expect_there(f, reader, "a", 1);
    expect_there(f, reader, "b", 0);
    expect_there(f, later, "c", 0);
    view_reader_end(reader);
    view_reader_end(later);
}

static void a_reader_does_not_hold_up_mending(void **state)
{
    struct view_fixture *f = *state;
    struct view_reader *reader, *later;
    assert_int_equal(put_one(f, "a", 100, 0), 0);
    assert_int_equal(view_reader_begin(f->v, &reader, &f->err), 0);
    failpoint_arm("view-panic", EIO, 1, 1);
    assert_int_equal(put_one(f, "b", 100, 0), -ERR_IO);
    assert_int_equal(view_reader_begin(f->v, &later, &f->err), 0);
    expect_there(f, later, "a", 1);
    assert_int_equal(put_one(f, "c", 100, 0), 0);
    write_a_lot(f, reader);
    expect_there(f, reader, "a", 1);
    expect_there(f, reader, "c", 0);
    view_reader_end(reader);
    view_reader_end(later);
    assert_int_equal(view_reader_begin(f->v, &reader, &f->err), 0);
    expect_there(f, reader, "b", 0);
    expect_there(f, reader, "c", 1);
    view_reader_end(reader);
}

static void a_failed_mending_is_tried_again(void **state)
{
    struct view_fixture *f = *state;
    struct view_reader *reader;
    assert_int_equal(put_one(f, "a", 100, 0), 0);
    failpoint_arm("view-panic", EIO, 1, 1);
    failpoint_arm("replace-copy", ENOSPC, 1, 2);
    assert_int_equal(put_one(f, "b", 100, 0), -ERR_IO);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(put_one(f, "b", 100, 0), -ERR_NO_SPACE);
        assert_int_equal(view_reader_begin(f->v, &reader, &f->err), 0); /* reading goes on */
        expect_there(f, reader, "a", 1);
        view_reader_end(reader);
    }
    assert_int_equal(put_one(f, "b", 100, 0), 0);
}

/* ---- Keeping it small ---- */

static void delete_all(struct view_fixture *f, int n)
{
    struct view_write *w;
    char key[16];
    assert_int_equal(view_write_begin(f->v, 1 << 20, &w, &f->err), 0);
    for (int i = 0; i < n; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(view_write_delete(w, str_of(key), &f->err), 0);
    }
    f->meta.rev++;
    f->meta.keys -= (uint64_t)n;
    assert_int_equal(view_write_commit(w, &f->meta, &f->err), 0);
}

static void an_empty_file_shrinks(void **state)
{
    struct view_fixture *f = *state;
    struct view_reader *reader;
    char key[16];
    for (int i = 0; i < 100; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(put_one(f, key, 100000, 200000), 0);
    }
    assert_int_equal(put_one(f, "stays", 1000, 0), 0);
    assert_int_equal(view_shrink(f->v, &f->err), 0); /* it is full */
    assert_int_equal(view_reader_begin(f->v, &reader, &f->err), 0);
    delete_all(f, 100);
    assert_true(view_bytes(f->v) > 10000000);
    failpoint_arm("replace-copy", EIO, 1, 1);
    assert_int_equal(view_shrink(f->v, &f->err), -ERR_IO);
    assert_true(view_bytes(f->v) > 10000000);
    assert_int_equal(view_shrink(f->v, &f->err), 1);
    assert_true(view_bytes(f->v) < 100000);
    assert_int_equal(view_shrink(f->v, &f->err), 0);
    expect_there(f, reader, "k99", 1); /* what was read stays readable */
    view_reader_end(reader);
    assert_int_equal(view_reader_begin(f->v, &reader, &f->err), 0);
    expect_there(f, reader, "k99", 0);
    expect_there(f, reader, "stays", 1);
    view_reader_end(reader);
    f->v = view_close(f->v);
    assert_int_equal(view_open(&(struct view_options){ .path = f->path }, &f->v, &f->err), 0);
    assert_int_equal(put_one(f, "again", 1000, 0), 0);
}

static void it_is_opened_anew_when_nobody_reads(void **state)
{
    struct view_fixture *f = *state;
    struct view_reader *reader;
    assert_int_equal(put_one(f, "a", 2000000, 3000000), 0);
    assert_int_equal(view_reader_begin(f->v, &reader, &f->err), 0);
    view_refresh(f->v);
    assert_int_equal(put_one(f, "b", 100, 0), 0);
    view_let_go(f->v, 0);
    expect_there(f, reader, "a", 1);
    expect_there(f, reader, "b", 0);
    view_reader_end(reader);
    view_refresh(f->v);
    assert_int_equal(put_one(f, "c", 100, 0), 0);
    assert_int_equal(view_reader_begin(f->v, &reader, &f->err), 0);
    expect_there(f, reader, "a", 1);
    expect_there(f, reader, "c", 1);
    view_reader_end(reader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_map_grows_when_asked),
        TEST(a_full_map_grows_at_the_next_try),
        TEST(readers_go_on_while_it_grows),
        TEST(a_reader_does_not_hold_up_growing),
        TEST(a_reader_does_not_hold_up_mending),
        TEST(a_failed_mending_is_tried_again),
        TEST(an_empty_file_shrinks),
        TEST(it_is_opened_anew_when_nobody_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
