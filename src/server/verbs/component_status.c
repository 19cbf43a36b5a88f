/* componentstatuses: what this control plane consists of, and whether it is well. Scheduler and
 * controllers are parts of the same process, so that the store alone can be ill by itself; it goes
 * by the name under which people look for it. */
#include "api/columns/columns.h"
#include "server/object/encode.h"
#include "api/errors.h"
#include "server/http/reply.h"
#include "server/http/selection.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

static const struct str store_name = STR("etcd-0");

static struct value store_status(struct call *c)
{
    struct arena *a = c->arena;
    struct store_stats stats;
    store_stats(c->api->store, &stats);
    struct value obj = value_object(), condition = value_object(), conditions = value_array();
    value_put_new(a, &obj, STR("kind"), value_string(STR("ComponentStatus")));
    value_put_new(a, &obj, STR("apiVersion"), value_string(STR("v1")));
    struct value *meta = value_add(a, &obj, STR("metadata"), value_object());
    value_put_new(a, meta, STR("name"), value_string(store_name));
    value_put_new(a, &condition, STR("type"), value_string(STR("Healthy")));
    value_put_new(a, &condition, STR("status"),
                  value_string(stats.failing ? STR("False") : STR("True")));
    value_put_new(a, &condition, stats.failing ? STR("error") : STR("message"),
                  value_string(stats.failing ? STR("writes fail") : STR("ok")));
    value_put_item(a, &conditions, condition);
    value_put_new(a, &obj, STR("conditions"), conditions);
    return obj;
}

void verb_component_status(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj = store_status(c);
    if (str_eq(c->req.name, store_name)) {
        call_object(c, 200, c->stored->type, &obj);
        return;
    }
    struct kind_resource one = *c->req.resource;
    one.plural = STR("componentstatus");
    (void)error_not_found(&err, &one, c->req.name);
    call_fail(c, &err);
}

/* ---- The list ---- */

static struct value item_of(struct arena *a, const struct encoder *e, struct value *obj)
{
    struct value row = value_null();
    if (e->format.as == FORMAT_TABLE) {
        (void)encode_row(a, e, obj, &row, NULL); /* cannot fail: it is of one version only */
        return row;
    }
    if (e->format.as == FORMAT_PARTIAL_LIST)
        return encode_partial(a, e, obj);
    struct value item = value_share(obj);
    value_drop(a, &item, STR("kind"));
    value_drop(a, &item, STR("apiVersion"));
    return item;
}

static struct value head_of(struct arena *a, const struct encoder *e)
{
    struct value head = value_object();
    bool partial = e->format.as == FORMAT_PARTIAL_LIST;
    if (e->format.as == FORMAT_TABLE)
        return encode_table_head(a, e);
    value_put_new(
        a, &head, STR("kind"),
        value_string(partial ? STR("PartialObjectMetadataList") : STR("ComponentStatusList")));
    value_put_new(a, &head, STR("apiVersion"),
                  value_string(partial ? STR("meta.k8s.io/v1") : STR("v1")));
    return head;
}

static struct value list_of(struct arena *a, const struct encoder *e, struct value *obj,
                            bool selected)
{
    bool table = e->format.as == FORMAT_TABLE;
    struct value items = value_array(), list = head_of(a, e);
    if (selected)
        value_put_item(a, &items, item_of(a, e, obj));
    value_put_new(a, &list, STR("metadata"), value_object());
    if (table)
        value_put_new(a, &list, STR("columnDefinitions"), columns_definitions(a, e->resource));
    value_put_new(a, &list, table ? STR("rows") : STR("items"), items);
    return list;
}

static const struct kind_type *type_of(const struct encoder *e)
{
    if (e->format.as == FORMAT_TABLE)
        return NULL;
    if (e->format.as == FORMAT_PARTIAL_LIST)
        return kind_type_find(STR("meta"), STR("v1"), STR("PartialObjectMetadataList"));
    return kind_type_find(STR(""), STR("v1"), STR("ComponentStatusList"));
}

/* 1, 0, or an error. */
static int is_selected(struct call *c, struct encoder *e, struct selection_subject *subject,
                       struct err *err)
{
    struct selection sel;
    int r = selection_read(c->arena, &c->req, false, &sel, err);
    if (r < 0)
        return r;
    r = encode_include_parse(request_param(&c->req, STR("includeObject")), &e->include, err);
    return r < 0 ? r : selection_matches(&sel, subject, err);
}

void verb_component_statuses(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct encoder e = {
        .format = c->format,
        .resource = c->req.resource,
        .stored = c->stored,
        .now_ns = clock_wall_ns(c->api->clock),
    };
    struct selection_subject subject = {
        .arena = c->arena, .encoder = &e, .has_meta = true, .has_tree = true
    };
    subject.meta = subject.tree = store_status(c);
    int r = is_selected(c, &e, &subject, &err);
    if (r < 0) {
        call_fail(c, &err);
        return;
    }
    autobuf bytes = { 0 };
    const struct http_header *headers;
    struct value list = list_of(c->arena, &e, &subject.tree, r == 1);
    encode_tree(&bytes, c->arena, &c->format, type_of(&e), &list);
    size_t n = call_headers(c, format_content_type(c->format.media, false), &headers);
    reply_bytes(c->x, 200, headers, n, arena_str(c->arena, buf_str(&bytes)));
}
