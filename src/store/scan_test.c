/* Records in a file in memory: which of them are read, and what a bad one among them means. */
#include "store/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"

static const uint64_t seed = 42;
static struct arena arena;

/* Where each record of the log begins, and its end behind the last. */
struct log {
    struct buf bytes;
    size_t at[8], n;
};

static void add(struct log *log, uint64_t rev, uint64_t group_rev, size_t value_n)
{
    autofree char *value = mem_zalloc(value_n);
    log->at[log->n++] = log->bytes.n;
    size_t at = record_begin(&log->bytes, rev, group_rev, 1);
    record_add(&log->bytes, at,
               &(struct record_op){ STORE_PUT, STR("key"), { value, value_n }, rev, 0 });
    record_end(&log->bytes, at, seed);
    log->at[log->n] = log->bytes.n;
}

static int file_of(struct str bytes)
{
    int fd = memfd_create("scan", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, bytes, NULL), 0);
    return fd;
}

/* How many records are read from the front, and how reading ends. */
static size_t count(int fd, uint64_t own_seed, uint64_t end, size_t piece, int *ret_last)
{
    struct scan sc;
    struct record rec;
    size_t n = 0;
    scan_init(&sc, fd, own_seed, 0, end, piece);
    while ((*ret_last = scan_next(&sc, &rec, NULL)) > 0)
        assert_int_equal(rec.rev, 2 + n++);
    scan_done(&sc);
    return n;
}

static int later_group(const struct log *log, size_t from, uint64_t rev)
{
    struct scan sc;
    autoclose int fd = file_of(buf_str(&log->bytes));
    scan_init(&sc, fd, seed, from, log->bytes.n, SCAN_PIECE);
    int r = scan_finds_later_group(&sc, rev, NULL);
    scan_done(&sc);
    return r;
}

static void records_are_read_in_pieces_of_any_size(void **state)
{
    (void)state;
    static const size_t pieces[] = { 1, 8, RECORD_HEAD_BYTES, 100, 4096, SCAN_PIECE };
    struct log log = { 0 };
    add(&log, 2, 2, 0);
    add(&log, 3, 3, 10000); /* larger than most pieces */
    add(&log, 4, 3, 1);
    autoclose int fd = file_of(buf_str(&log.bytes));
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        int last;
        assert_int_equal(count(fd, seed, log.bytes.n, pieces[i], &last), 3);
        assert_int_equal(last, 0);
    }
    buf_done(&log.bytes);
}

/* Each byte at which the file, or what may be read of it, can end. */
static void what_is_not_whole_is_not_read(void **state)
{
    (void)state;
    struct log log = { 0 };
    int last;
    add(&log, 2, 2, 5);
    add(&log, 3, 3, 5);
    autoclose int whole = file_of(buf_str(&log.bytes));
    for (size_t n = 0; n <= log.bytes.n; n++) {
        size_t want = (n >= log.at[1]) + (n >= log.at[2]);
        assert_int_equal(count(whole, seed, n, SCAN_PIECE, &last), want);
        assert_int_equal(last, 0);
        autoclose int cut = file_of(str_take(buf_str(&log.bytes), n));
        assert_int_equal(count(cut, seed, log.bytes.n, SCAN_PIECE, &last), want);
        assert_int_equal(last, 0);
    }
    assert_int_equal(count(whole, seed + 1, log.bytes.n, SCAN_PIECE, &last), 0);
    buf_done(&log.bytes);
}

static void a_file_that_cannot_be_read_is_an_error(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct record rec;
    struct scan sc;
    autoclose int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    scan_init(&sc, fd, seed, 0, 100, SCAN_PIECE);
    assert_int_equal(scan_next(&sc, &rec, &err), -ERR_IO);
    assert_true(str_starts(err.msg, STR("read the log")));
    assert_int_equal(scan_finds_later_group(&sc, 1, NULL), -ERR_IO);
    scan_done(&sc);
}

/* A torn write leaves good records of its own group behind the bad one, and never of a later one.
 */
static void only_a_later_group_proves_damage(void **state)
{
    (void)state;
    struct log log = { 0 };
    add(&log, 2, 2, 5);
    add(&log, 3, 2, 5); /* the group of 2 to 4 */
    add(&log, 4, 2, 5);
    log.bytes.p[log.at[0] + 3] ^= 1;
    assert_int_equal(later_group(&log, 0, 2), 0);
    add(&log, 5, 5, 5);
    assert_int_equal(later_group(&log, 0, 2), 1);
    assert_int_equal(later_group(&log, log.at[3] + 8, 2), 0);
    assert_int_equal(later_group(&log, 0, 5), 0); /* it begins at 5, not after it */

    log.bytes.p[log.at[3] + 50] ^= 1; /* that one is bad as well */
    assert_int_equal(later_group(&log, 0, 2), 0);
    buf_done(&log.bytes);
}

/* Numbers that look like a record's, at each place: more sums than a log would ever take. */
static void a_file_made_to_be_summed_everywhere_is_damage(void **state)
{
    (void)state;
    enum { WORDS = 64 << 10 };
    struct log log = { 0 };
    for (size_t i = 0; i < WORDS; i++) {
        const char word[8] = { 9, 0, 0, 0, 0, 1, 0, 0 }; /* a length of 256, or 2^40 + 9 */
        buf_add(&log.bytes, word, sizeof(word));
    }
    struct scan sc;
    autoclose int fd = file_of(buf_str(&log.bytes));
    scan_init(&sc, fd, seed, 0, log.bytes.n, SCAN_PIECE);
    int r = scan_finds_later_group(&sc, 100, NULL);
    assert_int_equal(r, 1);
    assert_true(sc.off < 8 * 100); /* it gave up soon */
    scan_done(&sc);
    buf_done(&log.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_read_in_pieces_of_any_size),
        cmocka_unit_test(what_is_not_whole_is_not_read),
        cmocka_unit_test(a_file_that_cannot_be_read_is_an_error),
        cmocka_unit_test(only_a_later_group_proves_damage),
        cmocka_unit_test(a_file_made_to_be_summed_everywhere_is_damage),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
