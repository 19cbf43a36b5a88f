/* wal_fuzz.c - bytes as a segment of the store's log: the reader never crashes, never reads past
 * the end, and what it accepts can be taken apart.
 *
 * If the last byte is odd, checksums are put right first, so that the checks behind them are
 * reached too. */
#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "store/scan.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* Walks records by their own lengths and gives each the checksum it should have. */
static void mend(char *bytes, size_t n, uint64_t seed)
{
    for (size_t at = RECORD_SEGMENT_BYTES; n - at >= RECORD_HEAD_BYTES;) {
        uint32_t length;
        memcpy(&length, bytes + at + 4, sizeof(length));
        if (length < RECORD_HEAD_BYTES || length > n - at)
            return;
        uint32_t crc = crc32c(crc32c(0, &seed, sizeof(seed)), bytes + at + 4, length - 4);
        memcpy(bytes + at, &crc, sizeof(crc));
        at += length;
    }
}

static void read_records(int fd, uint64_t seed, size_t n, struct err *err)
{
    struct scan scan;
    struct record rec;
    scan_init(&scan, fd, seed, RECORD_SEGMENT_BYTES, n, 4096);
    while (scan_next(&scan, &rec, err) > 0) {
        struct record_op op;
        uint32_t n_ops = 0;
        assert(scan.off <= n && rec.bytes <= n);
        while (record_op_next(&rec.ops, &op))
            n_ops++;
        assert(n_ops == rec.n_ops && rec.ops.n == 0);
    }
    (void)scan_finds_later_group(&scan, 1, err);
    scan_done(&scan);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct record_segment head = { .seed = 1 };
    (void)record_segment_read((struct str){ (const char *)p, n }, &head);
    if (n < RECORD_SEGMENT_BYTES)
        return 0;
    autofree char *bytes = mem_dup(p, n);
    if (p[n - 1] & 1)
        mend(bytes, n, head.seed);
    autoclose int fd = memfd_create("segment", MFD_CLOEXEC);
    if (fd < 0 || pwrite(fd, bytes, n, 0) != (ssize_t)n)
        abort();
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    read_records(fd, head.seed, n, &err);
    arena_done(&arena);
    return 0;
}
