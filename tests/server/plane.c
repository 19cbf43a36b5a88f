#include "plane.h"

#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/json.h"
#include "server/bootstrap.h"
#include "server/guard/guard.h"
#include "server/guard/identity.h"

void plane_start(struct plane *p, const char *cidrs, const char *ports)
{
    const struct store_options opt = { .engine = STORE_MEMORY };
    *p = (struct plane){ .api.clock = &clock_system };
    arena_init(&p->arena);
    struct err err = ERR_INIT(&p->arena);
    if (service_ranges_parse(str_of(cidrs ? cidrs : "10.0.0.0/16"),
                             str_of(ports ? ports : "30000-32767"), &p->api.services, &err) < 0 ||
        store_open(&opt, &p->api.store, &err) < 0 || bootstrap(&p->api, &err) < 0 ||
        identity_new(&(struct identity_options){ 0 }, p->api.store, p->api.clock, &p->api.identity,
                     &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    p->api.guard = guard_new(p->api.store, &(struct guard_modes){ { GUARD_ALWAYS_ALLOW }, 1 });
}

void plane_stop(struct plane *p)
{
    guard_free(p->api.guard);
    identity_free(p->api.identity);
    store_close(p->api.store);
    arena_done(&p->arena);
}

struct call plane_call(struct plane *p, struct arena *a, const char *group, const char *plural)
{
    struct call c = { .api = &p->api, .arena = a };
    c.req.resource = c.stored = kind_stored_named(str_of(group), str_of(plural));
    if (!c.stored)
        fail_msg("there is no %s", plural);
    c.req.ns = c.stored->namespaced ? STR("default") : STR("");
    return c;
}

static struct str quoted(struct arena *a, const char *text)
{
    size_t n = strlen(text);
    char *copy = arena_dup(a, text, n);
    for (size_t i = 0; i < n; i++)
        if (copy[i] == '\'')
            copy[i] = '"';
    return (struct str){ copy, n };
}

struct value plane_object(const struct call *c, const char *text)
{
    struct arena *a = c->arena;
    struct err err = ERR_INIT(a);
    const struct kind_type *type = c->stored->type;
    struct value given, obj;
    if (json_read(a, quoted(a, text), NULL, &given, &err) < 0 ||
        typed_read_sent(a, type, &given, NULL, &obj, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    value_put(a, &obj, STR("kind"), value_string(type->name));
    value_put(a, &obj, STR("apiVersion"), value_string(convert_api_version(a, type)));
    defaults_apply(a, type, &obj);
    return obj;
}

static struct str said(int r, const struct err *err, const struct call_warnings *warnings)
{
    if (r < 0)
        return err->msg;
    return warnings->first ? warnings->first->text : STR("");
}

struct str plane_create(struct plane *p, const char *group, const char *plural, const char *text,
                        struct value *ret)
{
    struct err err = ERR_INIT(&p->arena);
    struct call c = plane_call(p, &p->arena, group, plural);
    struct call_warnings warnings = { 0 };
    c.warnings = &warnings;
    struct value obj = plane_object(&c, text);
    int r = registry_create(&c, false, &obj, &err);
    if (r == 0 && ret)
        *ret = obj;
    return said(r, &err, &warnings);
}

static int take_arg(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                    struct err *err)
{
    (void)now;
    (void)err;
    *ret = value_borrow(u->arg);
    return 0;
}

struct str plane_update(struct plane *p, const char *group, const char *plural, const char *name,
                        const char *sub, const char *text, struct value *ret)
{
    struct err err = ERR_INIT(&p->arena);
    struct call c = plane_call(p, &p->arena, group, plural);
    struct call_warnings warnings = { 0 };
    c.warnings = &warnings;
    struct value given = plane_object(&c, text), obj;
    struct registry_update u = { .change = take_arg, .arg = &given, .sub = str_of(sub) };
    int r = registry_update(&c, str_of(name), &u, &obj, &err);
    if (r == 0 && ret)
        *ret = obj;
    return said(r, &err, &warnings);
}

void plane_expect(struct str got, const char *want)
{
    if (!*want ? got.n != 0 : !memmem(got.p, got.n, want, strlen(want)))
        fail_msg("want \"%s\", got \"" STR_FMT "\"", want, STR_ARG(got));
}

const char *plane_shown(struct plane *p, const struct value *v)
{
    autobuf out = { 0 };
    if (!v)
        return "";
    json_write(&out, v);
    for (size_t i = 0; i < out.n; i++)
        if (out.p[i] == '"')
            out.p[i] = '\'';
    return str_cstr(&p->arena, buf_str(&out));
}
