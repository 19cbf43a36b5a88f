/* vectors_test.h - what the tests over external vectors share: where the vectors are, the files of
 * a folder, and counted suites. The folder is $SAMPAN_VECTORS, else ../shared/vectors beside the
 * source tree; a test without it says so and is skipped (exit code 77). */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

enum { VECTORS_SKIPPED = 77, VECTORS_MAX_BYTES = 64 << 20 };

static inline const char *vectors_path(struct arena *a, const char *folder, const char *name)
{
    const char *root = getenv("SAMPAN_VECTORS");
    if (!root || !*root)
        root = SOURCE_ROOT "/../shared/vectors";
    return str_cstr(a, arena_printf(a, "%s/%s%s%s", root, folder, *name ? "/" : "", name));
}

static inline bool vectors_are_there(struct arena *a, const char *folder)
{
    const char *path = vectors_path(a, folder, "");
    if (access(path, R_OK) == 0)
        return true;
    printf("skipped: there is no folder %s\n", path);
    return false;
}

static inline struct str vectors_read(struct arena *a, const char *path)
{
    autobuf bytes = { 0 };
    struct err err = ERR_INIT(a);
    if (file_read(path, VECTORS_MAX_BYTES, &bytes, &err) < 0) {
        printf(STR_FMT "\n", STR_ARG(err.msg));
        exit(1);
    }
    return arena_str(a, buf_str(&bytes));
}

static inline int vectors_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The names in a folder, sorted; the caller frees each and the array. */
static inline size_t vectors_list(const char *path, struct dirent ***ret)
{
    int n = scandir(path, ret, vectors_visible, alphasort);
    if (n < 0) {
        printf("cannot list %s\n", path);
        exit(1);
    }
    return (size_t)n;
}

struct vectors_count {
    const char *name;
    size_t passed, total;
};

static inline void vectors_score(struct vectors_count *c, bool passed, const char *file)
{
    c->total++;
    c->passed += passed;
    if (!passed)
        printf("FAILED %s: %s\n", c->name, file);
}

/* Prints the counts and returns whether all passed and none was empty. */
static inline bool vectors_report(const struct vectors_count *counts, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        printf("%s: %zu/%zu\n", counts[i].name, counts[i].passed, counts[i].total);
        good = good && counts[i].passed == counts[i].total && counts[i].total;
    }
    return good;
}
