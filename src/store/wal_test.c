/* The log alone, without the threads of a store: what two of them could do to each other at the
 * worst moment is done here by a hook. */
#include "store/wal.h"

#include <errno.h>
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

static void ignore_record(const struct record *rec, void *arg)
{
    (void)rec, (void)arg;
}

static int try_append(uint64_t rev, int64_t now_ns, struct err *err)
{
    uint64_t seed;
    autobuf group = { 0 };
    int r = wal_reserve(&wal, rev, now_ns, &seed, err);
    if (r < 0)
        return r;
    size_t at = record_begin(&group, rev, rev, now_ns);
    record_end(&group, at, seed);
    return wal_append(&wal, rev, buf_str(&group), err);
}

/* What a new process makes of the files. */
static uint64_t last_rev_of_a_copy(void)
{
    struct err err = ERR_INIT(&arena);
    struct wal again;
    struct wal_replay replay = { .applied_rev = 1, .floor = 1, .on_record = ignore_record };
    wal_init(&again, &(struct wal_options){ &medium_disk, dir, 7, 1, NS_PER_SEC });
    int r = wal_check(&again, &replay, &err);
    if (r < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    wal_done(&again);
    return replay.last_rev;
}

/* The place of a write that fell short is cleared, and the next group goes there. */
static void a_write_that_fails_leaves_nothing(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(wal_create(&wal, 2, 0, &err), 0);
    append(2, 10, 0);
    uint64_t bytes = wal_bytes(&wal);
    failpoint_arm("wal-write", ENOSPC, 1, 1);
    assert_int_equal(try_append(3, 0, &err), -ERR_NO_SPACE);
    assert_int_equal(wal_bytes(&wal), bytes);
    assert_false(wal.tail_is_broken);
    assert_int_equal(last_rev_of_a_copy(), 2);
    append(3, 10, 0);
    assert_int_equal(wal.n_segments, 1);
    read_all(2, 3);
    assert_int_equal(last_rev_of_a_copy(), 3);
}

/* Nobody knows what a disk holds after a failed sync: the log goes on elsewhere, and what the old
 * segment may have of that revision is void. */
static void a_sync_that_fails_ends_the_segment(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(wal_create(&wal, 2, 0, &err), 0);
    append(2, 10, 0);
    failpoint_arm("wal-sync", EIO, 1, 1);
    assert_int_equal(try_append(3, 0, &err), -ERR_IO);
    assert_true(wal.tail_is_broken);
    assert_true(wal_has_its_name(&wal));

    failpoint_arm("wal-make", ENOSPC, 1, 1); /* no segment: nothing may be written */
    assert_int_equal(try_append(3, 0, &err), -ERR_NO_SPACE);
    append(3, 10, 0);
    assert_false(wal.tail_is_broken);
    assert_int_equal(wal.n_segments, 2);
    assert_int_equal(wal.tail->head.first_rev, 3);
    assert_int_equal(wal.tail->head.prev_first_rev, 2);
    read_all(2, 3);
    assert_int_equal(last_rev_of_a_copy(), 3);
}

/* A whole tail that is only old goes on growing while no new segment can be made. */
static void a_full_disk_keeps_the_old_segment(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(wal_create(&wal, 2, 0, &err), 0);
    append(2, 10, 0);
    failpoint_arm("wal-make", ENOSPC, 1, 1);
    append(3, 10, 3600 * NS_PER_SEC);
    assert_int_equal(wal.n_segments, 1);
    append(4, 10, 3600 * NS_PER_SEC);
    assert_int_equal(wal.n_segments, 2);
    read_all(2, 4);
}

static void what_cannot_be_prepared_is_not_tried_for_ever(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(wal_create(&wal, 2, 0, &err), 0);
    failpoint_arm("wal-prepare", ENOSPC, 1, 1);
    assert_int_equal(wal_prepare_next(&wal, &err), -ERR_NO_SPACE);
    assert_int_equal(wal.prepared_fd, -1);
    assert_false(wal_wants_next(&wal));
    assert_int_equal(wal_prepare_next(&wal, &err), 0); /* asked again: nothing is done */
    assert_int_equal(wal.prepared_fd, -1);
    append(2, 10, 0);
    append(3, 10, 3600 * NS_PER_SEC); /* the next segment: now it may be tried */
    assert_int_equal(wal_prepare_next(&wal, &err), 0);
    assert_true(wal.prepared_fd >= 0);
}

/* Segments of revisions 2 and 3, 4, 5; each a while after the one before. */
static void make_three_segments(void)
{
    struct err err = ERR_INIT(&arena);
    assert_int_equal(wal_create(&wal, 2, 0, &err), 0);
    append(2, 10, 0);
    append(3, 10, 0);
    append(4, 10, 10 * NS_PER_SEC);
    append(5, 10, 20 * NS_PER_SEC);
    assert_int_equal(wal.n_segments, 3);
}

static void whole_segments_are_surplus(void **state)
{
    (void)state;
    make_three_segments();
    uint64_t all = wal_bytes(&wal);
    const struct {
        uint64_t applied_rev, max_bytes;
        int64_t oldest_ns;
        uint64_t floor;
    } rows[] = {
        { 5, all, 0, 0 },                   /* all of it may stay */
        { 5, all - 1, 0, 3 },               /* the first must go */
        { 5, 0, 0, 4 },                     /* never the one that is written */
        { 5, all, 10 * NS_PER_SEC, 0 },     /* the second began just then */
        { 5, all, 10 * NS_PER_SEC + 1, 3 }, /* what is older than the second is too old */
        { 5, all, 100 * NS_PER_SEC, 4 },    /* even if all is too old */
        { 3, 0, 100 * NS_PER_SEC, 3 },      /* what the view lacks stays */
        { 2, 0, 100 * NS_PER_SEC, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(
            wal_surplus(&wal, rows[i].applied_rev, rows[i].max_bytes, rows[i].oldest_ns),
            rows[i].floor);
}

static int refuse(void *arg, struct err *err)
{
    (void)arg;
    return err_set(err, ERR_IO, "not now");
}

static void dropped_history_is_expired(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct wal_reader early, reader;
    struct record rec;
    make_three_segments();
    assert_int_equal(wal_reader_init(&early, &wal, 2, &err), 0);

    wal.may_touch = refuse;
    assert_int_equal(wal_drop(&wal, 3, &err), -ERR_IO);
    assert_int_equal(wal.n_segments, 3);
    wal.may_touch = NULL;
    assert_int_equal(wal_drop(&wal, 2, &err), 0); /* 3 is in that segment, too */
    assert_int_equal(wal.n_segments, 3);
    assert_int_equal(wal_drop(&wal, 3, &err), 0);
    assert_int_equal(wal.n_segments, 2);
    assert_int_equal(access(medium_path(&arena, dir, 2), F_OK), -1);

    assert_int_equal(wal_reader_init(&reader, &wal, 3, &err), -ERR_EXPIRED);
    assert_non_null(strstr(err.msg.p, "revision 3 is no longer in the log"));
    read_all(4, 5);
    for (uint64_t rev = 2; rev <= 5; rev++) { /* who has begun before reads on */
        assert_int_equal(wal_reader_next(&early, &rec, &err), 0);
        assert_int_equal(rec.rev, rev);
    }
    wal_reader_done(&early);

    assert_int_equal(wal_drop(&wal, 100, &err), 0);
    assert_int_equal(wal.n_segments, 1); /* the last one stays */
    read_all(5, 5);
}

/* What can be read goes up to the first gap, whatever lies behind it. */
static void a_salvage_ends_at_the_first_gap(void **state)
{
    (void)state;
    static const struct {
        uint64_t missing, applied_rev, last_rev;
    } rows[] = { { 0, 1, 5 }, { 4, 1, 3 }, { 2, 1, 1 }, { 2, 3, 5 }, { 5, 1, 4 } };
    struct err err = ERR_INIT(&arena);
    make_three_segments();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *path = medium_path(&arena, dir, rows[i].missing);
        const char *aside = arena_printf(&arena, "%s/aside", dir).p;
        if (rows[i].missing)
            assert_int_equal(rename(path, aside), 0);
        struct wal again;
        struct wal_replay replay = { .applied_rev = rows[i].applied_rev,
                                     .on_record = ignore_record };
        wal_init(&again, &(struct wal_options){ &medium_disk, dir, 7, 1, NS_PER_SEC });
        assert_int_equal(wal_salvage(&again, &replay, &err), 0);
        assert_int_equal(replay.last_rev, rows[i].last_rev);
        wal_done(&again);
        if (rows[i].missing)
            assert_int_equal(rename(aside, path), 0);
    }
}

static void a_log_of_another_store_is_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    make_three_segments();
    struct wal other;
    struct wal_replay replay = { .applied_rev = 1, .floor = 1, .on_record = ignore_record };
    wal_init(&other, &(struct wal_options){ &medium_disk, dir, 8, 1, NS_PER_SEC });
    assert_int_equal(wal_check(&other, &replay, &err), -ERR_DAMAGED);
    assert_non_null(strstr(err.msg.p, "belongs to another store"));
    wal_done(&other);
}

#define WITH_LOG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LOG(a_write_that_fails_leaves_nothing),
        WITH_LOG(a_sync_that_fails_ends_the_segment),
        WITH_LOG(a_full_disk_keeps_the_old_segment),
        WITH_LOG(what_cannot_be_prepared_is_not_tried_for_ever),
        WITH_LOG(whole_segments_are_surplus),
        WITH_LOG(dropped_history_is_expired),
        WITH_LOG(a_salvage_ends_at_the_first_gap),
        WITH_LOG(a_log_of_another_store_is_refused),
        cmocka_unit_test_setup_teardown(a_prepared_segment_is_left_alone_while_it_is_placed, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
