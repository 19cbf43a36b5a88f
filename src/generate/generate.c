#include "generate/generate.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/yaml.h"
#include "generate/annotated.h"
#include "generate/kinds_file.h"
#include "generate/model.h"
#include "generate/names.h"
#include "generate/write_c.h"
#include "base/banned.h"

enum { FILE_MAX_BYTES = 8 << 20 };

enum source { SOURCE_CRD, SOURCE_KINDS, SOURCE_HEADER, SOURCE_UNKNOWN };

static enum source source_of(const struct generate_options *opt)
{
    struct str kind = str_of(opt->kind), from = str_of(opt->from);
    if (str_eq(kind, STR("crd")))
        return SOURCE_CRD;
    if (str_eq(kind, STR("kinds")))
        return SOURCE_KINDS;
    if (str_eq(kind, STR("header")))
        return SOURCE_HEADER;
    if (kind.n)
        return SOURCE_UNKNOWN;
    return str_ends(from, STR(".h"))       ? SOURCE_HEADER
           : str_ends(from, STR(".kinds")) ? SOURCE_KINDS
                                           : SOURCE_CRD;
}

static int read_text(struct arena *a, const char *path, struct str *ret, struct err *err)
{
    autobuf text = { 0 };
    int r = file_read(path, FILE_MAX_BYTES, &text, err);
    if (r < 0)
        return r;
    *ret = arena_str(a, buf_str(&text));
    return 0;
}

/* ---- Definitions ---- */

static bool is_definition(const struct value *v)
{
    return str_eq(value_text(v, "kind"), STR("CustomResourceDefinition"));
}

static void free_stream(struct yaml_stream **s)
{
    (void)yaml_stream_free(*s);
}

/* All definitions of a stream; other objects in it are left alone. */
static int read_definitions(struct arena *a, const char *path, struct value *ret, struct err *err)
{
    struct str text;
    int r = read_text(a, path, &text, err);
    if (r < 0)
        return r;
    __attribute__((cleanup(free_stream))) struct yaml_stream *s = yaml_stream_new(a, text, NULL);
    struct value doc;
    *ret = value_array();
    while ((r = yaml_stream_next(s, &doc, err)) > 0)
        if (is_definition(&doc))
            value_put_item(a, ret, doc);
    if (r < 0)
        return err_wrap(err, "%s", path);
    if (!ret->n)
        return err_set(err, ERR_INVALID, "%s: there is no CustomResourceDefinition in it", path);
    return 0;
}

static int read_header(struct arena *a, const char *path, struct value *ret, struct err *err)
{
    struct str text;
    int r = read_text(a, path, &text, err);
    if (r < 0)
        return r;
    struct annotated in;
    r = annotated_read(a, path, text, &in, err);
    if (r < 0)
        return r;
    return annotated_definitions(&in, ret, err);
}

static int write_definitions(const char *path, const struct value *definitions, struct err *err)
{
    autobuf out = { 0 };
    value_each_item (d, definitions) {
        if (out.n)
            buf_str_add(&out, STR("---\n"));
        yaml_write(&out, d);
    }
    return file_write_atomic(path, buf_str(&out), 0644, FILE_CHEAP, err);
}

static int model_definitions(struct model *m, const struct generate_options *opt,
                             const struct value *definitions, struct err *err)
{
    /* With more than one kind, a prefix only names the files. */
    struct str prefix = definitions->n == 1 ? str_of(opt->prefix) : STR("");
    value_each_item (d, definitions) {
        int r = model_from_crd(m, d, str_of(opt->version), prefix, err);
        if (r < 0)
            return err_wrap(err, "%s: " STR_FMT, opt->from,
                            STR_ARG(value_str(value_dig(d, "metadata", "name"))));
    }
    return 0;
}

/* ---- C ---- */

static int write_c(struct model *m, const char *dir, struct err *err)
{
    autobuf header = { 0 }, source = { 0 };
    write_header(&header, m);
    write_source(&source, m);
    struct str path = arena_printf(m->arena, "%s/gen_" STR_FMT ".h", dir, STR_ARG(m->file));
    int r = file_write_atomic(str_cstr(m->arena, path), buf_str(&header), 0644, FILE_CHEAP, err);
    if (r < 0)
        return r;
    path = arena_printf(m->arena, "%s/gen_" STR_FMT ".c", dir, STR_ARG(m->file));
    return file_write_atomic(str_cstr(m->arena, path), buf_str(&source), 0644, FILE_CHEAP, err);
}

static int generate_from_definitions(struct arena *a, const struct generate_options *opt,
                                     const struct value *definitions, struct err *err)
{
    int r = opt->crd ? write_definitions(opt->crd, definitions, err) : 0;
    if (r < 0 || !opt->c)
        return r;
    struct model m;
    model_init(&m, a);
    m.file = str_of(opt->prefix);
    r = model_definitions(&m, opt, definitions, err);
    if (r < 0)
        return r;
    return write_c(&m, opt->c, err);
}

/* ---- Files of kinds/ ---- */

/* The group and version that its first lines name. */
static int kinds_version(struct arena *a, const char *path, struct str *ret_group,
                         struct str *ret_version, struct err *err)
{
    struct str text;
    int r = read_text(a, path, &text, err);
    if (r < 0)
        return r;
    struct str group = str_cut(&text, '\n'), version = str_cut(&text, '\n');
    if (!str_starts(group, STR("group ")) || !str_starts(version, STR("version ")))
        return err_set(err, ERR_INVALID, "%s:1: `group NAME` and `version NAME` come first", path);
    group = str_trim(str_skip(group, 6));
    *ret_group = str_cut(&group, '.');
    *ret_version = str_trim(str_skip(version, 8));
    return 0;
}

static int generate_from_kinds(struct arena *a, const struct generate_options *opt, struct err *err)
{
    struct str group, version;
    if (opt->crd)
        return err_set(err, ERR_INVALID, "--crd: a file of kinds/ has no definition");
    int r = kinds_version(a, opt->from, &group, &version, err);
    if (r < 0)
        return r;
    char **paths = arena_array(a, char *, (size_t)opt->n_with + 1);
    paths[0] = arena_dup(a, opt->from, strlen(opt->from) + 1);
    for (int i = 0; i < opt->n_with; i++)
        paths[i + 1] = opt->with[i];
    kinds_read(opt->n_with + 1, paths);
    struct model m;
    model_init(&m, a);
    r = model_from_kinds(&m, group, version, err);
    if (r < 0)
        return r;
    if (opt->prefix)
        m.file = str_of(opt->prefix);
    r = write_c(&m, opt->c, err);
    kinds_done();
    return r;
}

int generate(struct arena *a, const struct generate_options *opt, struct err *err)
{
    struct value definitions;
    int r = 0;
    if (opt->prefix && !names_is_identifier(str_of(opt->prefix)))
        return err_set(err, ERR_INVALID, "--prefix: \"%s\" cannot begin a name in C", opt->prefix);
    switch (source_of(opt)) {
    case SOURCE_CRD:
        r = read_definitions(a, opt->from, &definitions, err);
        break;
    case SOURCE_HEADER:
        r = read_header(a, opt->from, &definitions, err);
        break;
    case SOURCE_KINDS:
        return generate_from_kinds(a, opt, err);
    case SOURCE_UNKNOWN:
        return err_set(err, ERR_INVALID, "--kind is crd, kinds or header, not \"%s\"", opt->kind);
    }
    if (r < 0)
        return r;
    return generate_from_definitions(a, opt, &definitions, err);
}
