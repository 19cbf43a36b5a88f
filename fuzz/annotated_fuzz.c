/* A header that is accepted becomes definitions that become C; the same definitions, written as
 * YAML and read again, become the same C. One that is refused says where. The bytes are also taken
 * for a definition that somebody else wrote. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/yaml.h"
#include "generate/annotated.h"
#include "generate/write_c.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

/* False: the definitions make no code, and why says so. */
static bool code_of(struct arena *a, const struct value *definitions, struct buf *out)
{
    struct err why = ERR_INIT(a);
    struct model m;
    model_init(&m, a);
    value_each_item (d, definitions) {
        if (model_from_crd(&m, d, STR(""), STR(""), &why) < 0) {
            must(why.msg.n);
            return false;
        }
    }
    write_header(out, &m);
    write_source(out, &m);
    return true;
}

static struct value read_again(struct arena *a, const struct value *definitions)
{
    struct value all = value_array();
    value_each_item (d, definitions) {
        autobuf text = { 0 };
        struct value v;
        yaml_write(&text, d);
        must(yaml_read(a, arena_str(a, buf_str(&text)), NULL, &v, NULL) == 0);
        value_put_item(a, &all, v);
    }
    return all;
}

static void check(struct arena *a, struct str text)
{
    struct err err = ERR_INIT(a);
    struct annotated in;
    struct value definitions;
    if (annotated_read(a, "f.h", text, &in, &err) < 0 ||
        annotated_definitions(&in, &definitions, &err) < 0) {
        must(str_starts(err.msg, STR("f.h:")));
        return;
    }
    autobuf one = { 0 }, other = { 0 };
    if (!code_of(a, &definitions, &one))
        return;
    struct value again = read_again(a, &definitions);
    must(code_of(a, &again, &other));
    must(str_eq(buf_str(&one), buf_str(&other)));
}

static void check_definition(struct arena *a, struct str text)
{
    struct value crd, all = value_array();
    autobuf code = { 0 };
    if (yaml_read(a, text, NULL, &crd, NULL) < 0)
        return;
    value_put_item(a, &all, crd);
    (void)code_of(a, &all, &code);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct str text = { (const char *)bytes, n };
    check(&a, text);
    check_definition(&a, text);
    arena_done(&a);
    return 0;
}
