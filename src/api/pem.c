#include "api/pem.h"

#include "base/base64.h"
#include "base/banned.h"

static struct str find(struct str text, struct str what)
{
    const char *at = text.n ? memmem(text.p, text.n, what.p, what.n) : NULL;
    return at ? str_skip(text, (size_t)(at - text.p)) : (struct str){ 0 };
}

/* The last "-----BEGIN " there; it has to stand at the start of a line. */
static struct str find_begin(struct str text)
{
    struct str begin = STR("-----BEGIN "), last = { 0 };
    for (struct str at = find(text, begin); at.p; at = find(str_skip(at, begin.n), begin))
        last = at;
    bool starts_line = last.p && (last.p == text.p || last.p[-1] == '\n');
    return starts_line ? last : (struct str){ 0 };
}

/* Headers are lines with a colon in front of the base64. */
static bool skip_headers(struct str *body)
{
    bool found = false;
    for (;;) {
        struct str rest = *body, line = str_cut(&rest, '\n');
        if (!rest.p || str_find(line, ':') < 0)
            return found;
        found = true;
        *body = rest;
    }
}

static bool decode_body(struct str body, struct buf *ret)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < body.n; i++)
        if (!strchr("\n\r \t", body.p[i]))
            buf_byte(&text, body.p[i]);
    return base64_decode(ret, buf_str(&text));
}

/* A block from its "-----BEGIN " up to its "-----END ", and what follows that. */
static bool read_block(struct str block, struct str *after, struct pem_block *ret)
{
    struct str body = block, line = str_trim(str_cut(&body, '\n'));
    struct str type = str_skip(line, STR("-----BEGIN ").n), dashes = STR("-----");
    if (!body.p || !str_ends(type, dashes))
        return false;
    type = str_take(type, type.n - dashes.n);
    struct str rest = *after, last_line = str_trim(str_cut(&rest, '\n'));
    if (last_line.n != type.n + dashes.n || !str_starts(last_line, type) ||
        !str_ends(last_line, dashes))
        return false;
    ret->type = type;
    ret->has_headers = skip_headers(&body);
    buf_reset(&ret->bytes);
    if (!decode_body(body, &ret->bytes))
        return false;
    *after = rest;
    return true;
}

/* Each end is looked at once, with the beginning that is nearest in front of it: texts of many
 * beginnings cost no more than others. */
bool pem_next(struct str *text, struct pem_block *ret)
{
    struct str mark = STR("-----END "), rest = *text;
    for (struct str end = find(rest, mark); end.p; end = find(rest, mark)) {
        struct str before = str_take(rest, rest.n - end.n), begin = { 0 };
        bool starts_line = before.n && end.p[-1] == '\n';
        rest = str_skip(end, mark.n);
        begin = starts_line ? find_begin(before) : begin;
        if (begin.p && read_block(begin, &rest, ret)) {
            *text = rest;
            return true;
        }
    }
    return false;
}

void pem_block_done(struct pem_block *block)
{
    buf_done(&block->bytes);
}
