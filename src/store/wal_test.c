/* The log alone, without the threads of a store: what two of them could do to each other at the
 * worst moment is done here by a hook. */
#include "store/wal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "store/failpoint.h"

static struct arena arena;
static struct wal wal;
static char dir[64];

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    (void)snprintf(dir, sizeof(dir), "/tmp/sampan-wal-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    wal_init(&wal, &(struct wal_options){ .medium = &medium_disk,
                                          .dir = dir,
                                          .store_id = 7,
                                          .history_bytes = 1,
                                          .history_ns = NS_PER_SEC });
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    wal_done(&wal);
    const char *clear = arena_printf(&arena, "%s", dir).p;
    for (uint64_t rev = 0; rev < 100; rev++)
        (void)unlink(medium_path(&arena, clear, rev));
    (void)unlink(arena_printf(&arena, "%s/prepared.tmp", dir).p);
    (void)unlink(arena_printf(&arena, "%s/new.tmp", dir).p);
    int r = rmdir(dir);
    arena_done(&arena);
    return r;
}

/* One record of so many bytes, as a group of its own. */
static void append(uint64_t rev, size_t value_n, int64_t now_ns)
{
    struct err err = ERR_INIT(&arena);
    uint64_t seed;
    autobuf group = { 0 };
    autofree char *value = mem_zalloc(value_n);
    assert_int_equal(wal_reserve(&wal, rev, now_ns, &seed, &err), 0);
    size_t at = record_begin(&group, rev, rev, now_ns);
    record_add(
        &group, at,
        &(struct record_op){
            .type = STORE_PUT, .key = STR("key"), .value = { value, value_n }, .create_rev = rev });
    record_end(&group, at, seed);
    assert_int_equal(wal_append(&wal, rev, buf_str(&group), &err), 0);
}

static void read_all(uint64_t first, uint64_t last)
{
    struct err err = ERR_INIT(&arena);
    struct wal_reader reader;
    assert_int_equal(wal_reader_init(&reader, &wal, first, &err), 0);
    for (uint64_t rev = first; rev <= last; rev++) {
        struct record rec;
        assert_int_equal(wal_reader_next(&reader, &rec, &err), 0);
        assert_int_equal(rec.rev, rev);
    }
    wal_reader_done(&reader);
}

static void prepare_another(void *arg)
{
    struct err err = ERR_INIT(&arena);
    unsigned *calls = arg;
    if ((*calls)++ == 0)
        assert_int_equal(wal_prepare_next(&wal, &err), 0);
}

/* The keeper is asked for the next segment once more while the commit thread has taken the prepared
 * one but not given it its place: it must not touch that file. */
static void a_prepared_segment_is_left_alone_while_it_is_placed(void **state)
{
    (void)state;
    static const char *const moments[] = { "rotate-made", "rotate-headed", "rotate-synced",
                                           "rotate-named", "rotate-done" };
    struct err err = ERR_INIT(&arena);
    int64_t now_ns = 0;
    uint64_t rev = 2;
    assert_int_equal(wal_create(&wal, rev, now_ns, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(moments); i++) {
        unsigned calls = 0;
        append(rev++, 100, now_ns);
        assert_int_equal(wal_prepare_next(&wal, &err), 0);
        now_ns += 3600 * NS_PER_SEC; /* the tail is old: the next group begins a segment */
        failpoint_hook(moments[i], prepare_another, &calls);
        append(rev++, 100, now_ns);
        failpoint_hook(moments[i], NULL, NULL);
        assert_true(calls > 0);

        struct stat named, open;
        assert_int_equal(stat(medium_path(&arena, dir, rev - 1), &named), 0);
        assert_int_equal(fstat(wal.tail->fd, &open), 0);
        assert_int_equal(named.st_ino, open.st_ino);
        read_all(2, rev - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_prepared_segment_is_left_alone_while_it_is_placed, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
