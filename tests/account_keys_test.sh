#!/bin/sh
# account_keys_test.sh SAMPAN - the keys of service account tokens: made once and kept, replaced while old tokens are
# still believed, of two kinds, and published for others who verify tokens. So are issuers.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs jq openssl

down() { "$sampan" down --data-dir "$dir/a" >/dev/null; }
hup() { kill -HUP "$(head -n 1 "$dir/a/sampan.pid")"; }
robots=api/v1/namespaces/default/serviceaccounts
new_token() { admin -H 'Content-Type: application/json' -d '{}' "$server/$robots/robot/token" | jq -r .status.token; }
# part TOKEN N FILTER - of its head (1) or its claims (2)
part() { printf %s "$1" | cut -d. -f"$2" | tr -- '-_' '+/' | base64 -d 2>/dev/null | jq -r "$3"; }
is_known() { [ "$(use "$1")" = 200 ]; }
use() { code anonymous -H "Authorization: Bearer $1" "$server/apis"; }
published() { admin "$server/openid/v1/jwks" | jq -r "$1"; }
as_url() { openssl base64 -A | tr '+/' '-_' | tr -d =; }

# ---- Made once
serve
admin -H 'Content-Type: application/json' -d '{"metadata":{"name":"robot"}}' "$server/$robots" >/dev/null
check "its key is its owner's alone" 600 "$(stat -c %a "$dir/a/pki/sa.key")"
first=$(new_token)
check "what signs" ES256 "$(part "$first" 1 .alg)"
check "for whom" https://kubernetes.default.svc "$(part "$first" 2 '.aud | join(" ")')"
check "it is published" "$(part "$first" 1 .kid)" "$(published '.keys | map(.kid) | join(" ")')"
check "only its public half" "alg crv kid kty use x y" "$(published '.keys[0] | keys | join(" ")')"
check "it is good" 200 "$(use "$first")"
down
serve
check "the key is kept" 200 "$(use "$first")"
down

# ---- Another key, while tokens of the old one are about
mv "$dir/a/pki/sa.key" "$dir/first.key"
openssl pkey -in "$dir/first.key" -pubout >"$dir/first.pub"
serve
check "without the old key its tokens end" 401 "$(use "$first")"
second=$(new_token)
check "another one signs" no "$([ "$(part "$first" 1 .kid)" = "$(part "$second" 1 .kid)" ] && echo yes || echo no)"
down
serve --service-account-key-file "$dir/first.pub"
check "with it they are believed" 200 "$(use "$first")"
check "and new ones" 200 "$(use "$second")"
check "both are published" "$(printf '%s\n' "$(part "$first" 1 .kid)" "$(part "$second" 1 .kid)" | sort)" "$(published '.keys[].kid' | sort)"
check "the new one signs" "$(part "$second" 1 .kid)" "$(part "$(new_token)" 1 .kid)"

# The file has another key, and nothing is restarted.
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 2>/dev/null | openssl pkey -pubout >"$dir/first.pub"
hup
is_refused() { [ "$(use "$1")" = 401 ]; }
waits is_refused "$first"
check "the others stay" 200 "$(use "$second")"
{ cat "$dir/first.pub"; openssl pkey -in "$dir/first.key" -pubout; } >"$dir/both.pub"
mv "$dir/both.pub" "$dir/first.pub"
hup
waits is_known "$first"
check "a file may have several" 3 "$(published '.keys | length')"
down

# ---- A key of another kind, of another issuer
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$dir/rsa.key" 2>/dev/null
serve --service-account-signing-key-file "$dir/rsa.key" --service-account-key-file "$dir/a/pki/sa.key" \
    --service-account-issuer https://harbour.example --service-account-issuer https://kubernetes.default.svc
third=$(new_token)
check "what signs now" "RS256 https://harbour.example" "$(part "$third" 1 .alg) $(part "$third" 2 .iss)"
check "for whom, now" "https://harbour.example https://kubernetes.default.svc" "$(part "$third" 2 '.aud | join(" ")')"
check "it is good" 200 "$(use "$third")"
check "so are those of the issuer before" 200 "$(use "$second")"
check "the issuer is told" "https://harbour.example RS256 ES256" \
    "$(admin "$server/.well-known/openid-configuration" | jq -r '[.issuer] + .id_token_signing_alg_values_supported | join(" ")')"
# Who knows nothing but what is published believes it.
modulus=$(openssl rsa -in "$dir/rsa.key" -noout -modulus | sed 's/.*=//')
check "the key that is published is that key" "$(printf %s "$modulus" | sed 's/../\\x&/g' | xargs -0 printf %b | as_url)" \
    "$(published '.keys[] | select(.kty == "RSA") | .n')"
printf %s "${third%.*}" >"$dir/signed"
printf '%s===' "${third##*.}" | tr -- '-_' '+/' | base64 -d 2>/dev/null >"$dir/signature"
openssl pkey -in "$dir/rsa.key" -pubout >"$dir/rsa.pub"
check "openssl believes it" "Verified OK" "$(openssl dgst -sha256 -verify "$dir/rsa.pub" -signature "$dir/signature" "$dir/signed" 2>&1)"
down
serve --service-account-signing-key-file "$dir/rsa.key" --service-account-key-file "$dir/a/pki/sa.key" \
    --service-account-issuer https://harbour.example --service-account-jwks-uri https://harbour.example/keys \
    --service-account-max-token-expiration 2h --service-account-extend-token-expiration false
check "an issuer that is gone" 401 "$(use "$second")"
check "keys are elsewhere" https://harbour.example/keys "$(admin "$server/.well-known/openid-configuration" | jq -r .jwks_uri)"

# ---- How long tokens last
# grant SECONDS [MORE] - the answer, with its headers
grant() { admin -i -H 'Content-Type: application/json' -d "{\"spec\":{\"expirationSeconds\":$1${2:-}}}" "$server/$robots/robot/token"; }
granted() { grant "$@" | sed '1,/^\r$/d' | jq -r .status.token; }
lasts() { part "$1" 2 '"\(.exp - .iat) \(."kubernetes.io".warnafter != null)"'; }
check "as is asked for" "7200 false" "$(lasts "$(granted 7200)")"
check "but no longer than it may" "7200 false" "$(lasts "$(granted 7201)")"
has "which is told" '299 - "requested expiration of 7201 seconds shortened to 7200 seconds"' "$(grant 7201)"
has "and said in the answer" '"expirationSeconds":7200' "$(grant 86400 | tr -d ' \n')"
admin -H 'Content-Type: application/json' -o /dev/null "$server/api/v1/namespaces/default/pods" \
    -d '{"metadata":{"name":"p"},"spec":{"serviceAccountName":"robot","containers":[{"name":"c","image":"i"}]}}'
of_pod=',"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}'
check "a pod's too" "3607 false" "$(lasts "$(granted 3607 "$of_pod")")"

# What is wrong with a token is told by its signature first, and only in the log (CVE-2024-51744).
forged=$(printf '{"iss":"https://harbour.example","exp":1,"kubernetes.io":{}}' | as_url)
check "forged, and late" 401 "$(use "${third%%.*}.$forged.${third##*.}")"
has "a review says no more than that" "invalid bearer token" "$(admin -H 'Content-Type: application/json' \
    -d "{\"spec\":{\"token\":\"${third%%.*}.$forged.${third##*.}\"}}" "$server/apis/authentication.k8s.io/v1/tokenreviews")"
down
serve --service-account-signing-key-file "$dir/rsa.key"
check "unless it may be extended" "31536000 true" "$(lasts "$(granted 3607 "$of_pod")")"
has "a time that is too short" "must be between 1 hour and 2^32 seconds" \
    "$("$sampan" up --data-dir "$dir/b" --service-account-max-token-expiration 59m 2>&1)"
has "keys without TLS" "service-account-jwks-uri requires https scheme, parsed as: http://x" \
    "$("$sampan" up --data-dir "$dir/b" --service-account-jwks-uri http://x 2>&1)"
for file in "$dir/none.key" "$dir/signed"; do
    check "a key that is none" 1 "$("$sampan" up --data-dir "$dir/b" --listen 127.0.0.1:0 --store memory \
        --service-account-signing-key-file "$file" >/dev/null 2>&1; echo $?)"
done
finish
