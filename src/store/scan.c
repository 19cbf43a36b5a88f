#include "store/scan.h"

#include <endian.h>
#include <errno.h>
#include <unistd.h>

#include "base/banned.h"

void scan_init(struct scan *sc, int fd, uint64_t seed, uint64_t off, uint64_t end, size_t piece)
{
    *sc = (struct scan){ .fd = fd, .seed = seed, .off = off, .end = end, .piece = piece };
}

void scan_done(struct scan *sc)
{
    buf_done(&sc->bytes);
}

/* The bytes at sc->off: all that are there, if fewer than `need`. */
static int window(struct scan *sc, size_t need, struct str *ret, struct err *err)
{
    uint64_t have_end = sc->bytes_off + sc->bytes.n;
    if (sc->off < sc->bytes_off || sc->off > have_end) {
        buf_reset(&sc->bytes);
        sc->bytes_off = have_end = sc->off;
    }
    if (have_end - sc->off < need) {
        buf_drop(&sc->bytes, (size_t)(sc->off - sc->bytes_off));
        sc->bytes_off = sc->off;
        size_t want = need > sc->piece ? need : sc->piece;
        uint64_t left = sc->end > sc->off ? sc->end - sc->off : 0;
        if (want > left)
            want = (size_t)left;
        if (want > sc->bytes.n)
            buf_reserve(&sc->bytes, want - sc->bytes.n);
        while (sc->bytes.n < want) {
            ssize_t n = pread(sc->fd, sc->bytes.p + sc->bytes.n, want - sc->bytes.n,
                              (off_t)(sc->off + sc->bytes.n));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                return err_errno(err, errno, "read the log");
            if (n == 0)
                break;
            sc->bytes.n += (size_t)n;
        }
    }
    *ret = str_skip(buf_str(&sc->bytes), (size_t)(sc->off - sc->bytes_off));
    return 0;
}

static int read_here(struct scan *sc, struct record *ret, struct err *err)
{
    size_t need = RECORD_HEAD_BYTES;
    for (;;) {
        struct str bytes = { 0 };
        int r = window(sc, need, &bytes, err);
        if (r < 0)
            return r;
        if (bytes.n < need)
            return 0;
        enum record_verdict verdict = record_read(bytes, sc->seed, ret, &need);
        if (verdict != RECORD_MORE)
            return verdict == RECORD_GOOD;
    }
}

int scan_next(struct scan *sc, struct record *ret, struct err *err)
{
    int r = read_here(sc, ret, err);
    if (r > 0)
        sc->off += ret->bytes;
    return r;
}

/* Could a record of a group after `rev` start here? Cheap, so that only a few places are summed. */
static bool looks_later(struct str bytes, uint64_t rev, uint64_t left)
{
    uint32_t length;
    uint64_t own_rev, group_rev;
    memcpy(&length, bytes.p + 4, sizeof(length));
    memcpy(&own_rev, bytes.p + 8, sizeof(own_rev));
    memcpy(&group_rev, bytes.p + 16, sizeof(group_rev));
    return le32toh(length) <= left && le64toh(group_rev) > rev &&
           le64toh(own_rev) >= le64toh(group_rev) && le64toh(own_rev) - rev < (UINT64_C(1) << 40);
}

int scan_finds_later_group(struct scan *sc, uint64_t rev, struct err *err)
{
    /* A file made to be summed at every place would take for ever: past this it is not a log. */
    uint64_t budget = 64 * (sc->end - sc->off);
    for (;; sc->off += 8) {
        struct str bytes = { 0 };
        int r = window(sc, RECORD_HEAD_BYTES, &bytes, err);
        if (r < 0)
            return r;
        if (bytes.n < RECORD_HEAD_BYTES)
            return 0;
        uint64_t left = sc->end - sc->off;
        if (!looks_later(bytes, rev, left))
            continue;
        struct record rec;
        r = read_here(sc, &rec, err);
        if (r != 0)
            return r;
        if (left > budget)
            return 1;
        budget -= left;
    }
}
