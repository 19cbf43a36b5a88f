#include "client/suite_folder.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int suite_folder_setup(void **state)
{
    struct suite_folder *f = calloc(1, sizeof(*f));
    f->arena = spn_arena_new();
    char *path = spn_arena_alloc(f->arena, 64);
    (void)snprintf(path, 64, "/tmp/sampan-client-XXXXXX");
    assert_non_null(mkdtemp(path));
    f->path = path;
    *state = f;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int suite_folder_teardown(void **state)
{
    struct suite_folder *f = *state;
    int r = nftw(f->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    spn_arena_free(f->arena);
    free(f);
    return r;
}

const char *suite_path(struct suite_folder *f, const char *name)
{
    return spn_arena_printf(f->arena, "%s/%s", f->path, name).p;
}

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

const char *suite_file(struct suite_folder *f, const char *name, const char *text)
{
    const char *path = suite_path(f, name);
    make_folders((char *)path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *suite_script(struct suite_folder *f, const char *name, const char *text)
{
    const char *path = suite_file(f, name, text);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}
