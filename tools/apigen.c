/* apigen DIR VERSION... -- FILE... - writes the typed API of built-in kinds, sampan/api/VERSION.h
 * and VERSION.c, from the files of kinds/. A version is called as its file: core_v1. */
#include <stdio.h>

#include "base/buf.h"
#include "base/file.h"
#include "generate/kinds_file.h"
#include "generate/write_c.h"
#include "base/banned.h"

static int write_version(struct arena *a, const char *dir, const char *name, struct err *err)
{
    struct str version = str_of(name);
    struct str group = str_cut(&version, '_');
    struct model m;
    model_init(&m, a);
    m.is_library = true;
    int r = model_from_kinds(&m, group, version, err);
    if (r < 0)
        return r;
    autobuf header = { 0 }, source = { 0 };
    write_header(&header, &m);
    write_source(&source, &m);
    const char *path = arena_printf(a, "%s/%s.h", dir, name).p;
    r = file_write_atomic(path, buf_str(&header), 0644, FILE_CHEAP, err);
    if (r < 0)
        return r;
    path = arena_printf(a, "%s/%s.c", dir, name).p;
    return file_write_atomic(path, buf_str(&source), 0644, FILE_CHEAP, err);
}

int main(int argc, char **argv)
{
    int split = 2;
    while (split < argc && strcmp(argv[split], "--") != 0)
        split++;
    if (split + 1 >= argc) {
        fputs("Usage: apigen DIR VERSION... -- FILE...\n", stderr);
        return 2;
    }
    kinds_read(argc - split - 1, argv + split + 1);
    struct err err = ERR_INIT(&kinds.arena);
    int r = 0;
    for (int i = 2; i < split && r == 0; i++)
        r = write_version(&kinds.arena, argv[1], argv[i], &err);
    if (r < 0)
        fprintf(stderr, "apigen: " STR_FMT "\n", STR_ARG(err.msg));
    kinds_done();
    return r < 0 ? 1 : 0;
}
