/* folder_test.h - a temporary folder for one test program; gone at its end. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"

static struct arena arena;
static const char *folder;

static const char *path_of(const char *name)
{
    return arena_printf(&arena, "%s/%s", folder, name).p;
}

static int make_folder(void **state)
{
    (void)state;
    arena_init(&arena);
    const char *tmp = getenv("TMPDIR");
    folder = mkdtemp((char *)arena_printf(&arena, "%s/main_test.XXXXXX", tmp ? tmp : "/tmp").p);
    return folder ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *place)
{
    (void)st;
    (void)type;
    (void)place;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    int r = nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    arena_done(&arena);
    return r;
}

static inline unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static inline void assert_says(const struct err *err, const char *part)
{
    if (!memmem(err->msg.p, err->msg.n, part, strlen(part)))
        fail_msg("no '%s' in '" STR_FMT "'", part, STR_ARG(err->msg));
}
