#include "json_bench.h"

#include <json-c/json.h>

size_t json_bench_json_c(struct str text)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *v = json_tokener_parse_ex(tokener, text.p, (int)text.n);
    json_bench_check(v != NULL, "json_tokener_parse_ex");
    size_t n = 0;
    (void)json_object_to_json_string_length(
        v, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
    json_object_put(v);
    json_tokener_free(tokener);
    return n;
}
