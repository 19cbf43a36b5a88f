#include "server/http/extent.h"

#include "server/object/token.h"
#include "base/banned.h"

static int take_token(struct call *c, struct extent *e, struct err *err)
{
    struct token token;
    int r = token_read(c->arena, e->sel.token, e->prefix, &token, err);
    if (r < 0)
        return r;
    if (e->sel.version.n && !str_eq(e->sel.version, STR("0")))
        return err_set(err, ERR_BAD_REQUEST,
                       "specifying resource version is not allowed when using continue");
    e->rev = token.rev > 0 ? (uint64_t)token.rev : 0;
    e->start = token.start;
    e->goes_on = true;
    int64_t ttl_ns = c->api->continue_ttl_ns;
    if (ttl_ns && token_is_old(&token, clock_wall_ns(c->api->clock), ttl_ns))
        return extent_expired(c, e, e->start, err);
    if (e->rev)
        e->began_ms = token.began_ms;
    return 0;
}

/* Which revision is to be read, by the table in upstream's documentation. */
static int choose_revision(struct call *c, struct extent *e, struct err *err)
{
    struct selection *sel = &e->sel;
    if (sel->token.n && !sel->is_single && e->prefix.n)
        return take_token(c, e, err);
    uint64_t rev = 0;
    if (sel->version.n && selection_version(sel->version, &rev, err) < 0) {
        (void)err_wrap(err, "invalid resource version");
        err->code = ERR_BAD_REQUEST;
        return -ERR_BAD_REQUEST;
    }
    /* With a limit, a revision has meant itself since before it could be said. */
    if (sel->match == SELECTION_EXACT || (sel->match == SELECTION_ANY && sel->limit))
        e->rev = rev;
    e->wait_rev = rev;
    /* resourceVersion=0 returns the whole list: upstream answers it from a cache without pages. */
    if (str_eq(sel->version, STR("0")))
        sel->limit = 0;
    return 0;
}

static int refuse_partial(const struct kind_resource *r, struct err *err)
{
    struct str package = encode_package(r->group), name = r->list->name;
    if (r->type->custom) {
        package = STR("unstructured");
        name = STR("UnstructuredList");
    }
    return err_set(err, ERR_NOT_ACCEPTABLE,
                   "you requested PartialObjectMetadata, but the requested object is a list "
                   "(*" STR_FMT "." STR_FMT ")",
                   STR_ARG(package), STR_ARG(name));
}

int extent_read(struct call *c, struct extent *ret, struct err *err)
{
    *ret = (struct extent){ .began_ms = clock_wall_ns(c->api->clock) / NS_PER_MS };
    int r = selection_read(c->arena, &c->req, false, &ret->sel, err);
    if (r < 0)
        return r;
    selection_hide(&ret->sel, &c->req, c->api->uninitialized, c->stored);
    if (c->format.as == FORMAT_TABLE) {
        r = encode_include_parse(request_param(&c->req, STR("includeObject")), &ret->include, err);
        if (r < 0)
            return r;
    }
    if (c->format.as == FORMAT_PARTIAL)
        return refuse_partial(c->req.resource, err);
    ret->prefix = selection_prefix(c->arena, c->stored, &ret->sel);
    return choose_revision(c, ret, err);
}

int extent_expired(struct call *c, const struct extent *e, struct str start, struct err *err)
{
    if (!e->goes_on)
        return err_set(err, ERR_EXPIRED, "The resourceVersion for the provided list is too old.");
    int r = err_set(err, ERR_EXPIRED,
                    "The provided continue parameter is too old to display a consistent list "
                    "result. You can start a new list without the continue parameter, or use the "
                    "continue token in this response to retrieve the remainder of the results. "
                    "Continuing with the provided token results in an inconsistent list - objects "
                    "that were created, modified, or deleted between the time the first chunk was "
                    "returned and now may show up in the list.");
    const struct token next = { .rev = TOKEN_NEWEST, .start = start };
    err->about.resume = token_write(c->arena, &next, e->prefix);
    return r;
}
