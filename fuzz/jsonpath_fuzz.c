/* Paths over objects: the first line is a path, the rest an object; without one the path is tried
 * on an object that has a bit of everything. What is found is printable and bounded. */
#include "schema/jsonpath.h"

#include <assert.h>

#include "base/json.h"
#include "base/limits.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct str usual =
    STR("{\"a\":{\"b\":[1,2.5,\"c\",null,true,{\"a\":\"x\",\"b\":[]}],\"a\":{\"a\":\"\"}},"
        "\"b\":[[1],[{\"a\":1,\"c\":\"y\"},{\"a\":2}],[]],\"c\":\"text\",\"n\":null}");

static void try_path(struct arena *a, struct str text, const struct value *obj, bool may_miss)
{
    struct err err = ERR_INIT(a);
    struct jsonpath *path;
    struct jsonpath_results results;
    size_t budget = LIMIT_TABLE_ROW_VALUES;
    if (jsonpath_parse(a, text, &path, &err) < 0 ||
        jsonpath_find(a, path, obj, may_miss, &budget, &results, &err) < 0) {
        assert(err.code == ERR_INVALID && err.msg.n);
        return;
    }
    autobuf out = { 0 };
    for (size_t i = 0; i < results.n; i++) {
        assert(results.list[i].n <= LIMIT_TABLE_ROW_VALUES);
        if (out.n < LIMIT_BODY_BYTES)
            jsonpath_print(&out, &results.list[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct str rest = { (const char *)data, size }, text = str_cut(&rest, '\n');
    struct value obj;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    if (rest.n == 0 || json_read(&a, rest, NULL, &obj, &err) < 0)
        (void)json_read(&a, usual, NULL, &obj, NULL);
    try_path(&a, text, &obj, true);
    try_path(&a, text, &obj, false);
    arena_done(&a);
    return 0;
}
