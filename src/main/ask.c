#include "main/ask.h"

#include "base/clock.h"
#include "main/credentials.h"
#include "net/tls.h"
#include "base/banned.h"

int ask_running(struct arena *a, const char *dir, struct str address,
                const struct fetch_request *req, struct fetch_reply *ret, struct err *err)
{
    struct credentials c;
    int64_t now_sec = clock_wall_ns(&clock_system) / NS_PER_SEC;
    const struct credentials_options opt = { .dir = dir, .host = STR("127.0.0.1") };
    int r = credentials_load(a, &opt, now_sec, &c, err);
    if (r < 0)
        return r;
    struct fetcher *fetcher = fetcher_new(&(struct fetcher_options){
        .ca_pem = c.ca.cert_pem, .cert_pem = c.admin.cert_pem, .key_pem = c.admin.key_pem });
    struct fetch_request there = *req;
    there.server_name =
        STR(TLS_LOOPBACK_NAME); /* the address may show somebody else's certificate */
    there.url = arena_printf(a, "https://" STR_FMT STR_FMT, STR_ARG(address), STR_ARG(req->url));
    r = fetch(fetcher, &there, a, ret, err);
    fetcher_free(fetcher);
    return r;
}
