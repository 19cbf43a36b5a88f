#include "server/guard/bearer.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/utf8.h"
#include "base/banned.h"

/* What is behind the scheme; empty if it is another one. */
static struct str behind_scheme(const struct http_request *http)
{
    struct str rest = str_trim(http_header_get(http, STR("authorization")));
    struct str scheme = str_cut(&rest, ' ');
    return str_eq_nocase(scheme, STR("bearer")) ? rest : STR("");
}

bool bearer_is_misspelt(const struct http_request *http)
{
    return str_starts(behind_scheme(http), STR(" "));
}

/* ---- WebSockets ---- */

struct offer {
    struct str token; /* as it is sent */
    size_t n_tokens, n_others;
};

static bool is_upgrade(const struct http_request *http)
{
    struct str connection = http_header_get(http, STR("connection"));
    if (!str_eq_nocase(http_header_get(http, STR("upgrade")), STR("websocket")))
        return false;
    while (connection.n)
        if (str_eq_nocase(str_trim(str_cut(&connection, ',')), STR("upgrade")))
            return true;
    return false;
}

static void read_offer(struct str protocols, struct offer *ret)
{
    static const struct str prefix = STR("base64url.bearer.authorization.k8s.io.");
    while (protocols.n) {
        struct str one = str_trim(str_cut(&protocols, ','));
        if (!str_starts(one, prefix)) {
            ret->n_others++;
            continue;
        }
        ret->token = str_skip(one, prefix.n);
        ret->n_tokens++;
    }
}

static int find_offered(struct arena *a, const struct http_request *http, struct str *ret,
                        struct err *err)
{
    struct offer offer = { 0 };
    autobuf token = { 0 };
    for (size_t i = 0; i < http->n_headers; i++)
        if (str_eq(http->headers[i].name, STR("sec-websocket-protocol")))
            read_offer(http->headers[i].value, &offer);
    if (offer.n_tokens > 1)
        return err_set(err, ERR_UNAUTHORIZED, "the WebSocket offers several tokens");
    if (!base64url_decode(&token, offer.token) || !utf8_valid(buf_str(&token)))
        return err_set(err, ERR_UNAUTHORIZED, "the WebSocket's token is not encoded as it must be");
    if (token.n && !offer.n_others)
        return err_set(err, ERR_UNAUTHORIZED, "the WebSocket offers no protocol beside its token");
    *ret = arena_str(a, buf_str(&token));
    return 0;
}

int bearer_find(struct arena *a, const struct http_request *http, struct str *ret, struct err *err)
{
    struct str rest = behind_scheme(http);
    *ret = str_cut(&rest, ' ');
    return ret->n || !is_upgrade(http) ? 0 : find_offered(a, http, ret, err);
}
