/* mdb_fuzz.c - bytes as the view's file: the checker says yes or no, and reads nothing outside. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/mdbcheck.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    autofree char *bytes = mem_dup(p, n); /* exactly as long as it is, for the sanitizer */
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    (void)mdbcheck_bytes((struct str){ bytes, n }, "fuzz", &err);
    arena_done(&arena);
    return 0;
}
