#include "server/verbs/subresource.h"

#include "server/object/encode.h"
#include "server/registry/registry.h"
#include "server/http/reply.h"
#include "base/banned.h"

struct call subresource_call(struct call *c, struct str group, struct str plural)
{
    struct call other = *c;
    other.req.resource = other.stored = kind_stored_named(group, plural);
    return other;
}

int subresource_check_namespace(struct call *c, struct value *obj, struct err *err)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    struct str ns = value_text(meta, "namespace");
    if (!ns.n)
        value_put(c->arena, meta, STR("namespace"), value_string(c->req.ns));
    if (!ns.n || str_eq(ns, c->req.ns))
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "the namespace of the provided object does not match the namespace sent on the "
                   "request");
}

void subresource_success(struct call *c)
{
    subresource_success_with(c, 201, STR(""));
}

void subresource_success_with(struct call *c, int code, struct str message)
{
    const struct http_header *headers;
    struct value status = value_object();
    autobuf bytes = { 0 };
    value_put_new(c->arena, &status, STR("kind"), value_string(STR("Status")));
    value_put_new(c->arena, &status, STR("apiVersion"), value_string(STR("v1")));
    value_put_new(c->arena, &status, STR("metadata"), value_object());
    value_put_new(c->arena, &status, STR("status"), value_string(STR("Success")));
    if (message.n)
        value_put_new(c->arena, &status, STR("message"), value_string(message));
    value_put_new(c->arena, &status, STR("code"), value_int(code));
    encode_tree(&bytes, c->arena, &c->format, kind_type_find(STR("meta"), STR("v1"), STR("Status")),
                &status);
    size_t n = call_headers(c, format_content_type(c->format.media, false), &headers);
    reply_bytes(c->x, 201, headers, n, arena_str(c->arena, buf_str(&bytes)));
}

static struct value *find_condition(struct arena *a, struct value *status, struct str type)
{
    struct value *list = value_edit(a, status, STR("conditions"));
    if (!value_is(list, VALUE_ARRAY))
        list = value_set(a, status, STR("conditions"), value_array());
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(value_text(value_at(list, i), "type"), type))
            return value_edit_at(a, list, i);
    struct value *condition = value_push(a, list, value_object());
    value_put(a, condition, STR("type"), value_string(type));
    return condition;
}

static void set_text(struct arena *a, struct value *obj, struct str field, struct str text)
{
    if (text.n)
        value_put(a, obj, field, value_string(text));
    else
        value_drop(a, obj, field);
}

void subresource_set_condition(struct call *c, struct value *status,
                               const struct subresource_condition *condition)
{
    struct arena *a = c->arena;
    struct value *edited = find_condition(a, status, condition->type);
    bool same = str_eq(value_text(edited, "status"), condition->status);
    if (!same || !value_text(edited, "lastTransitionTime").n)
        value_put(a, edited, STR("lastTransitionTime"), value_string(registry_now(c)));
    set_text(a, edited, STR("status"), condition->status);
    set_text(a, edited, STR("reason"), condition->reason);
    set_text(a, edited, STR("message"), condition->message);
    if (condition->observed_generation)
        value_put(a, edited, STR("observedGeneration"), value_int(condition->observed_generation));
    else
        value_drop(a, edited, STR("observedGeneration")); /* that of the condition before */
}
