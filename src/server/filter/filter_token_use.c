/* filter_token_use.c - tokens that their owners should give up: the audit log has them, some come
 * with a warning, and Secrets that hold one are labelled with the day. */
#include "server/audit/audit_token.h"
#include "server/filter/filter.h"
#include "base/banned.h"

/* As upstream, nothing is said of a token that is refused. */
static void tell(struct filter_request *r, const struct account_use *use)
{
    struct arena *a = http_arena(r->x);
    struct str warning = audit_token_warning(use);
    r->notes = audit_token_notes(a, use);
    if (warning.n)
        http_add_header(r->x, STR("warning"),
                        arena_printf(a, "299 - \"" STR_FMT "\"", STR_ARG(warning)));
}

void filter_token_use(struct filter_request *r, bool is_believed)
{
    const struct account_use *use = r->user ? r->user->use : NULL;
    if (is_believed)
        tell(r, use);
    if (use && use->secret.n && r->api->on_legacy_token)
        r->api->on_legacy_token(r->api, use);
}
