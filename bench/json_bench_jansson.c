#include "json_bench.h"

#include <stdlib.h>
#include <jansson.h>

size_t json_bench_jansson(struct str text)
{
    json_t *v = json_loadb(text.p, text.n, 0, NULL);
    json_bench_check(v != NULL, "json_loadb");
    char *written = json_dumps(v, JSON_COMPACT);
    json_bench_check(written != NULL, "json_dumps");
    size_t n = strlen(written);
    free(written);
    json_decref(v);
    return n;
}
