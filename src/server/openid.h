/* openid.h - how others verify tokens of our service accounts: the issuer's configuration and its
 * keys, as OpenID Connect has them. */
#pragma once

#include "net/http/http.h"
#include "server/guard/identity.h"

/* /openid/v1/jwks */
void openid_serve_keys(const struct identity *i, struct http_exchange *x);
/* /.well-known/openid-configuration; `address` is where others reach the keys. */
void openid_serve_configuration(const struct identity *i, struct http_exchange *x,
                                struct str address);
