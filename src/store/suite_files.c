#include "store/suite_files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/record.h"

/* ---- Files ---- */

void copy_file(const char *from, const char *to)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    autobuf bytes = { 0 };
    assert_int_equal(file_read(from, SIZE_MAX, &bytes, &err), 0);
    autoclose int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, buf_str(&bytes), &err), 0);
    arena_done(&a);
}

static const char *copy_to;
static size_t copy_skip;

static int copy_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)at;
    char to[256];
    (void)snprintf(to, sizeof(to), "%s%s", copy_to, path + copy_skip);
    if (flag == FTW_D)
        return mkdir(to, 0700) < 0 && errno != EEXIST;
    if (S_ISREG(st->st_mode))
        copy_file(path, to);
    return 0;
}

void copy_tree(const char *from, const char *to)
{
    remove_tree(to);
    copy_to = to;
    copy_skip = strlen(from);
    assert_int_equal(nftw(from, copy_one, 16, FTW_PHYS), 0);
}

/* The path of the last segment. */
void last_segment(const char *dir, char ret[static 256])
{
    char pattern[256];
    glob_t found;
    (void)snprintf(pattern, sizeof(pattern), "%s/log/*.log", dir);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    (void)snprintf(ret, 256, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
}

off_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) < 0 ? -1 : st.st_size;
}

/* Where the good records of a segment end. */
off_t end_of(const char *path)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    autobuf bytes = { 0 };
    struct record_segment head;
    struct record rec;
    size_t need;
    assert_int_equal(file_read(path, SIZE_MAX, &bytes, &err), 0);
    assert_true(record_segment_read(buf_str(&bytes), &head));
    struct str rest = str_skip(buf_str(&bytes), RECORD_SEGMENT_BYTES);
    while (record_read(rest, head.seed, &rec, &need) == RECORD_GOOD)
        rest = str_skip(rest, rec.bytes);
    arena_done(&a);
    return (off_t)(bytes.n - rest.n);
}

/* Zeros from `at` on, as long as the file is: what a crash leaves of a write that it cut short. */
void tear(const char *path, off_t at)
{
    off_t size = size_of(path);
    assert_int_equal(truncate(path, at), 0);
    assert_int_equal(truncate(path, size), 0);
}

void flip(const char *path, off_t at, unsigned char bits)
{
    autoclose int fd = open(path, O_RDWR);
    unsigned char c;
    assert_int_equal(pread(fd, &c, 1, at), 1);
    c ^= bits;
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
}

/* ---- Stores ---- */

int open_dir(struct fixture *f, const char *dir, struct store **ret)
{
    arena_reset(&f->arena);
    f->err = ERR_INIT(&f->arena);
    struct store_options opt = f->opt;
    opt.dir = dir;
    return store_open(&opt, ret, &f->err);
}

bool says(struct fixture *f, const char *word)
{
    return memmem(f->err.msg.p, f->err.msg.n, word, strlen(word)) != NULL;
}

/* Copies the folder as it is: what a crash at this moment would leave. */
void crash_copy(struct fixture *f, char to[static 128])
{
    (void)snprintf(to, 128, "%s-copy", f->dir);
    copy_tree(f->dir, to);
}

uint64_t rev_of(struct fixture *f, const char *dir)
{
    struct store *s;
    int r = open_dir(f, dir, &s);
    if (r < 0)
        fail_msg("open: " STR_FMT, STR_ARG(f->err.msg));
    uint64_t rev = store_rev(s);
    store_close(s);
    return rev;
}

/* ---- Damage ---- */

/* Flips a bit wherever `text` stands in the file, also on pages that are free by now. */
bool flip_text(struct fixture *f, const char *path, const char *text)
{
    autobuf bytes = { 0 };
    assert_int_equal(file_read(path, SIZE_MAX, &bytes, &f->err), 0);
    bool any = false;
    for (char *at = bytes.p;
         (at = memmem(at, (size_t)(bytes.p + bytes.n - at), text, strlen(text))); at++) {
        flip(path, at - bytes.p, 1);
        any = true;
    }
    return any;
}

void note_damaged(void *arg, struct str key, struct str what)
{
    assert_true(what.n > 0);
    buf_printf(arg, STR_FMT " ", STR_ARG(key));
}

void fill_words(struct fixture *f)
{
    (void)put(f, "one", "the first value");
    (void)put(f, "three", "the third value");
    (void)put(f, "two", "the second value");
    fixture_checkpoint(f);
}
