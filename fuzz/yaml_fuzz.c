/* YAML that is accepted can be written, as YAML and as JSON, and read again as the same tree. */
#include <stdlib.h>

#include "base/json.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check(struct arena *a, const struct value *v)
{
    autobuf yaml = { 0 };
    autobuf json = { 0 };
    struct value again;
    yaml_write(&yaml, v);
    must(yaml_read(a, buf_str(&yaml), NULL, &again, NULL) == 0);
    must(value_eq(v, &again));
    json_write(&json, v);
    must(json_read(a, buf_str(&json), NULL, &again, NULL) == 0);
    must(value_eq(v, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value v;
    struct yaml_stream *s = yaml_stream_new(&a, (struct str){ (const char *)bytes, n }, NULL);
    while (yaml_stream_next(s, &v, &err) > 0)
        check(&a, &v);
    s = yaml_stream_free(s);
    arena_done(&a);
    return 0;
}
