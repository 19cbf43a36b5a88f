/* Feeds each file of the folders given to a fuzz target, so that what fuzzing once found stays
 * found in every `make test`. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { FILE_MAX = 16 << 20 };

static size_t run_folder(const char *folder)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    DIR *dir = opendir(folder);
    if (!dir) {
        fprintf(stderr, "run_corpus: no folder %s\n", folder);
        exit(1);
    }
    size_t files = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        autobuf bytes = { 0 };
        const char *path = str_cstr(&a, arena_printf(&a, "%s/%s", folder, entry->d_name));
        if (file_read(path, FILE_MAX, &bytes, &err) < 0) {
            fprintf(stderr, STR_FMT "\n", STR_ARG(err.msg));
            exit(1);
        }
        (void)LLVMFuzzerTestOneInput((const uint8_t *)bytes.p, bytes.n);
        files++;
    }
    (void)closedir(dir);
    arena_done(&a);
    return files;
}

int main(int argc, char **argv)
{
    size_t files = 0;
    for (int i = 1; i < argc; i++)
        files += run_folder(argv[i]);
    printf("%zu files\n", files);
    return files ? 0 : 1;
}
