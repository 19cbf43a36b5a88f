#!/bin/sh
# oidc_test.sh SAMPAN - users of OpenID issuers, with a real issuer on loopback: whose tokens are
# believed, whom they make, keys that change, an issuer that is down, and a configuration that
# changes while we serve.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null && command -v openssl >/dev/null || { skip "no python3 or no openssl"; exit 77; }
issuer_py=$(dirname "$0")/webhooks/issuer.py
issuer() { what=$1; shift; python3 "$issuer_py" "$what" "$dir/issuer" "$@"; }
pid=
at_end='[ -z "$pid" ] || kill $pid'

as() { who=$1; shift; anonymous -H "Authorization: Bearer $who" "$@"; }
status() { code as "$1" "$server/api/v1/namespaces/default/pods"; } # 403: he is known
is_status() { [ "$(status "$2")" = "$1" ]; }
logged() { grep -q -- "$1" "$dir/a/sampan.log"; }
whoami() { # TOKEN
    as "$1" -H 'Content-Type: application/json' "$server/apis/authentication.k8s.io/v1/selfsubjectreviews" \
        -d '{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}' |
        python3 -c 'import json,sys
u = json.load(sys.stdin).get("status", {}).get("userInfo", {})
extra = " ".join(k + "=" + ",".join(v) for k, v in sorted(u.get("extra", {}).items()))
print(u.get("username"), u.get("uid", "-"), ",".join(u.get("groups", [])), extra)'
}
review() { # TOKEN [AUDIENCE]
    admin -H 'Content-Type: application/json' "$server/apis/authentication.k8s.io/v1/tokenreviews" \
        -d "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\",\"spec\":{\"token\":\"$1\"${2:+,\"audiences\":[\"$2\"]}}}"
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
listens() { curl -sS -o /dev/null --cacert "$dir/issuer/tls.crt" "$url/keys" 2>/dev/null; }

mkdir -p "$dir/issuer"
port=$(free_port)
url=https://127.0.0.1:$port
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=issuer -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$dir/issuer/tls.key" -out "$dir/issuer/tls.crt" 2>/dev/null
issuer key one rsa
issuer key two ec
issuer key three rsa
issuer key four rsa
issuer publish "$url" one
start_issuer() { python3 "$issuer_py" serve "$dir/issuer" "$port" & pid=$!; waits listens; }
stop_issuer() { kill $pid; wait $pid 2>/dev/null; pid=; }

claims() { # MORE [AUDIENCE] [EXPIRY] - as JSON
    echo "{\"iss\":\"$url\",\"sub\":\"jane\",\"aud\":\"${2:-cluster}\",\"exp\":${3:-600}$1}"
}
good=$(issuer token one RS256 "$(claims ',"groups":["dev"],"jti":"j1"')")

# ---- Flags that do not go together
refused() { # NAME WORDS FLAG...
    name=$1 words=$2
    shift 2
    has "$name" "$words" "$("$sampan" up --data-dir "$dir/b" --listen 127.0.0.1:0 "$@" 2>&1)"
}
refused "an issuer without a client" "must be specified together" --oidc-issuer-url "$url"
refused "an issuer without TLS" "URL scheme must be https" --oidc-issuer-url http://x --oidc-client-id c
refused "our own issuer" "must not overlap with disallowed issuers" \
    --oidc-issuer-url https://kubernetes.default.svc --oidc-client-id c
refused "an algorithm that nobody knows" 'unsupported signing alg: "HS256"' \
    --oidc-issuer-url "$url" --oidc-client-id c --oidc-signing-algs HS256
echo >"$dir/config"
refused "a file and flags" "mutually exclusive" --authentication-config "$dir/config" --oidc-client-id c
refused "a file that is none" "failed to load authentication configuration" --authentication-config "$dir/config"
cat >"$dir/config" <<EOF
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous: {enabled: true}
EOF
refused "anonymous twice" "flag cannot be set when anonymous field is configured" \
    --authentication-config "$dir/config" --anonymous-auth true

# ---- Flags; the issuer is down at the start
up --verbose --oidc-issuer-url "$url" --oidc-client-id cluster --oidc-ca-file "$dir/issuer/tls.crt" \
    --oidc-groups-claim groups --oidc-groups-prefix g: --oidc-required-claim tier=gold >/dev/null ||
    { cat "$dir/a/sampan.log"; exit 1; }
connect
gold=$(issuer token one RS256 "$(claims ',"groups":["dev"],"tier":"gold"')")
check "nobody is believed while the issuer is down (CVE-2026-31837)" 401 "$(status "$gold")"
check "which does not matter for readiness" ok "$(admin "$server/readyz")"
has "the log says why" "an OpenID issuer cannot be used yet" "$(cat "$dir/a/sampan.log")"
has "of the token, too" "authenticator not initialized" "$(cat "$dir/a/sampan.log")"
start_issuer
waits is_status 403 "$gold"
check "the user by flags" "$url#jane - g:dev,system:authenticated " "$(whoami "$gold")"
check "what must be claimed" 401 "$(status "$good")"
check "one algorithm is allowed" 401 "$(status "$(issuer token one RS512 "$(claims ',"tier":"gold"')")")"
"$sampan" down --data-dir "$dir/a" >/dev/null

# ---- A configuration
cat >"$dir/config" <<EOF
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous:
  enabled: true
  conditions: [{path: /healthz}]
jwt:
- issuer:
    url: $url
    certificateAuthority: |
$(sed 's/^/      /' "$dir/issuer/tls.crt")
    audiences: [cluster, other]
    audienceMatchPolicy: MatchAny
  claimValidationRules:
  - expression: 'claims.?banned.orValue(false) == false'
    message: banned
  claimMappings:
    username: {claim: sub, prefix: 'oidc:'}
    groups: {claim: groups, prefix: 'oidc:'}
    uid: {expression: 'claims.?id.orValue("")'}
    extra: [{key: example.org/team, valueExpression: 'claims.?team.orValue("")'}]
  userValidationRules:
  - expression: '!user.groups.exists(g, g == "oidc:root")'
    message: no roots
EOF
cp "$dir/config" "$dir/config.first"
serve --verbose --authentication-config "$dir/config"
waits is_status 403 "$good"
check "the right user" \
    "oidc:jane - oidc:dev,system:authenticated authentication.kubernetes.io/credential-id=JTI=j1" "$(whoami "$good")"
check "all that can be mapped" "oidc:jane u1 oidc:ops,system:authenticated example.org/team=red" \
    "$(whoami "$(issuer token one RS256 "$(claims ',"groups":"ops","id":"u1","team":"red"')")")"
check "another audience" 403 "$(status "$(issuer token one RS256 "$(claims '' other)")")"
for alg in RS384 RS512 PS256 PS384 PS512; do
    check "$alg" 403 "$(status "$(issuer token one $alg "$(claims '')")")"
done
not() { check "$1" 401 "$(status "$2")"; }
not "a wrong audience" "$(issuer token one RS256 "$(claims '' nobody)")"
not "an expired token" "$(issuer token one RS256 "$(claims '' cluster -1)")"
not "one that never ends" "$(issuer token one RS256 "{\"iss\":\"$url\",\"sub\":\"jane\",\"aud\":\"cluster\"}")"
not "one that is not good yet" "$(issuer token one RS256 "$(claims ',"nbf":120')")"
not "a wrong issuer" "$(issuer token one RS256 '{"iss":"https://nowhere","sub":"jane","aud":"cluster","exp":600}')"
not "a wrong key" "$(issuer token three RS256 "$(claims '')")"
not "no name" "$(issuer token one RS256 "{\"iss\":\"$url\",\"aud\":\"cluster\",\"exp\":600}")"
not "who is banned" "$(issuer token one RS256 "$(claims ',"banned":true')")"
not "who has a group that must not be" "$(issuer token one RS256 "$(claims ',"groups":["root"]')")"
not "half a token" "${good%%.*}.${good#*.}x"
head64() { printf %s "$1" | base64 -w0 | tr '+/' '-_' | tr -d =; }
body=${good#*.}
body=${body%%.*}
not "an unsigned token" "$(head64 '{"alg":"none"}').$body."
not "a public key taken for a secret" "$(head64 '{"alg":"HS256","kid":"one"}').$body.${good##*.}"
has "the answer says nothing" '"message":"Unauthorized"' "$(as "$(issuer token one RS256 "$(claims '' cluster -1)")" "$server/api" | tr -d ' \n')"
for words in 'expected audience' 'token is expired' 'failed to verify id token signature' 'failed: banned' \
    'failed: no roots' 'before the nbf'; do
    check "the log says: $words" 0 "$(logged "$words"; echo $?)"
done

# ---- Reviews
has "a review knows him" '"username":"oidc:jane"' "$(review "$good" | tr -d ' \n')"
has "for this server" '"audiences":["https://kubernetes.default.svc"]' "$(review "$good" | tr -d ' \n')"
check "not for another audience" "" "$(review "$good" cluster | grep '"authenticated": *true')"
has "a review says why not" "oidc: verify token: oidc: token is expired" \
    "$(review "$(issuer token one RS256 "$(claims '' cluster -1)")")"
has "service accounts are not disturbed" 'serviceaccount' "$(admin -X POST -H 'Content-Type: application/json' \
    "$server/api/v1/namespaces/default/serviceaccounts" -d '{"metadata":{"name":"bot"}}' >/dev/null
bot=$(admin -X POST -H 'Content-Type: application/json' "$server/api/v1/namespaces/default/serviceaccounts/bot/token" \
    -d '{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{}}' | sed -n 's/.*"token": *"\([^"]*\)".*/\1/p')
whoami "$bot")"

# ---- Who shows nothing
check "nobody, where it is allowed" 200 "$(code anonymous "$server/healthz")"
check "nobody, elsewhere" 401 "$(code anonymous "$server/readyz")"
check "nobody, below it" 401 "$(code anonymous "$server/healthz/ping")"
check "a bad token is not nobody" 401 "$(code as x "$server/healthz")"

# ---- Rights by group
admin -X POST -H 'Content-Type: application/json' "$server/apis/rbac.authorization.k8s.io/v1/clusterrolebindings" \
    -d '{"metadata":{"name":"dev"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"oidc:dev"}]}' >/dev/null
check "his group may" 200 "$(status "$good")"
check "others may not" 403 "$(status "$(issuer token one RS256 "$(claims ',"groups":["ops"]')")")"
if command -v kubectl >/dev/null; then
    kube() { kubectl --kubeconfig /dev/null --server "$server" --certificate-authority "$dir/ca.crt" --token "$good" "$@"; }
    has "kubectl auth whoami" "oidc:jane" "$(kube auth whoami 2>&1)"
    check "kubectl auth can-i" yes "$(kube auth can-i list pods 2>&1)"
else
    skip "no kubectl"
fi

# ---- Keys that change
issuer publish "$url" two
new=$(issuer token two ES256 "$(claims ',"groups":["dev"]')")
waits is_status 200 "$new"
old=$(issuer token one RS256 "$(claims ',"groups":["dev"],"n":1')")
check "what the old key signs is not believed any more" 401 "$(status "$old")"
issuer publish "$url" two one
waits is_status 200 "$old"
# Many at once that nobody knows: the issuer is not asked for each.
before=$(grep -c '^/keys' "$dir/issuer/calls")
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    strange=$(issuer token three RS256 "$(claims ",\"n\":$i")")
    code as "$strange" "$server/api" >/dev/null &
    jobs="${jobs:-} $!"
done
wait $jobs
after=$(grep -c '^/keys' "$dir/issuer/calls")
check "keys are not fetched for each" yes "$([ $((after - before)) -lt 12 ] && echo yes || echo "$((after - before)) times")"

# ---- An issuer that hangs holds up only those that need it
sleep 1.1 # keys are fetched once a second
issuer publish "$url" one two three
slow=$(issuer token three RS256 "$(claims ',"groups":["dev"]')")
touch "$dir/issuer/hang"
before=$(wc -l <"$dir/issuer/calls")
status "$slow" >"$dir/slow" &
waiting=$!
is_asked() { [ "$(wc -l <"$dir/issuer/calls")" -gt "$before" ]; }
waits is_asked
check "whose key is known is served meanwhile" 200 "$(status "$(issuer token one RS256 "$(claims ',"groups":["dev"],"n":9')")")"
check "so are others" 200 "$(code admin "$server/api/v1/namespaces")"
check "who needs it waits" "" "$(cat "$dir/slow")"
rm "$dir/issuer/hang"
wait $waiting
check "and is served then" 200 "$(cat "$dir/slow")"
sleep 1.1
issuer publish "$url" two one
not "a key that nobody has makes the others be looked at" "$(issuer token four RS256 "$(claims '')")"
not "so one that was withdrawn is gone" "$(issuer token three RS256 "$(claims ',"n":10')")"

# ---- Groups that are kept elsewhere
echo s3cret >"$dir/issuer/access"
issuer token one RS256 "$(claims ',"groups":["far"]')" >"$dir/issuer/www/groups"
far() { # ACCESS NONCE - no two tokens are the same: one that was believed is remembered for a while
    issuer token one RS256 "$(claims ",\"n\":\"$2\",\"_claim_names\":{\"groups\":\"s\"},\"_claim_sources\":{\"s\":{\"endpoint\":\"$url/groups\",\"access_token\":\"$1\"}}")"
}
check "groups from elsewhere" "oidc:jane - oidc:far,system:authenticated " "$(whoami "$(far s3cret far1)")"
not "which are not given to everybody" "$(far wrong far2)"
issuer token three RS256 "$(claims ',"groups":["far"]')" >"$dir/issuer/www/groups"
not "which somebody else has signed" "$(far s3cret far3)"

# ---- The issuer goes away: what is known stays known
stop_issuer
check "known keys are still good" 200 "$(status "$(issuer token one RS256 "$(claims ',"groups":["dev"],"n":2')")")"
not "unknown ones are not" "$(issuer token three RS256 "$(claims '')")"
start_issuer

# ---- The configuration changes while we serve
hup() { kill -HUP "$(head -n 1 "$dir/a/sampan.pid")"; }
known=$(issuer token one RS256 "$(claims ',"groups":["dev"],"n":3')")
check "before the change" 200 "$(status "$known")"
sed "s/prefix: 'oidc:'/prefix: 'new:'/" "$dir/config.first" >"$dir/config.next"
cp "$dir/config.next" "$dir/config"
hup
waits logged "a new authentication configuration is in use"
check "a new prefix counts at once" "new:jane" "$(whoami "$known" | cut -d' ' -f1)"
check "and the old group is gone" 403 "$(status "$known")"
before=$(grep -c "cannot be used; the old one stays" "$dir/a/sampan.log")
refuses() { [ "$(grep -c "cannot be used; the old one stays" "$dir/a/sampan.log")" -gt "$before" ]; }
sed "s/prefix: 'new:'/prefx: 'x:'/" "$dir/config.next" >"$dir/config"
hup
waits refuses
has "an unknown field" 'unknown field' "$(grep "cannot be used; the old one" "$dir/a/sampan.log")"
check "the old one stays" "new:jane" "$(whoami "$known" | cut -d' ' -f1)"
before=$(grep -c "cannot be used; the old one stays" "$dir/a/sampan.log")
sed "s,path: /healthz,path: /livez," "$dir/config.next" >"$dir/config"
hup
waits refuses
has "who shows nothing cannot change" "anonymous: Forbidden: changed from initial configuration file" \
    "$(cat "$dir/a/sampan.log")"
check "as before" 200 "$(code anonymous "$server/healthz")"
metrics=$(admin "$server/metrics")
has "reloads are counted" 'automatic_reloads_total{apiserver_id_hash="sha256:' "$metrics"
has "good ones" 'status="success"} 1' "$(echo "$metrics" | grep authentication_config_controller_automatic_reloads_total)"
has "bad ones" 'status="failure"} 2' "$(echo "$metrics" | grep authentication_config_controller_automatic_reloads_total)"
has "what is in use" "hash=\"sha256:$(sha256sum <"$dir/config.next" | cut -d' ' -f1)\"" \
    "$(echo "$metrics" | grep authentication_config_controller_last_config_info)"
has "when keys were fetched" 'result="success"' "$(echo "$metrics" | grep jwks_fetch_last_timestamp)"

# ---- An issuer that is found elsewhere
mkdir -p "$dir/issuer/www/in"
echo "{\"issuer\":\"https://issuer.example.org\",\"jwks_uri\":\"$url/keys\"}" >"$dir/issuer/www/in/discovery"
sed "s,url: $url\$,url: https://issuer.example.org\n    discoveryURL: $url/in/discovery," "$dir/config.first" >"$dir/config"
hup
elsewhere=$(issuer token one RS256 '{"iss":"https://issuer.example.org","sub":"joe","aud":"cluster","exp":600}')
waits is_status 403 "$elsewhere"
check "its users" "oidc:joe" "$(whoami "$elsewhere" | cut -d' ' -f1)"
check "the other issuer is gone" 401 "$(status "$known")"

# ---- A stop does not wait for an issuer
sleep 1.1 # keys are fetched once a second
touch "$dir/issuer/hang"
before=$(wc -l <"$dir/issuer/calls")
status "$(issuer token three RS256 '{"iss":"https://issuer.example.org","sub":"joe","aud":"cluster","exp":600}')" >/dev/null 2>&1 &
waiting=$!
waits is_asked
check "it stops" 0 "$("$sampan" down --data-dir "$dir/a" >/dev/null 2>&1; echo $?)"
wait $waiting
rm "$dir/issuer/hang"
check "and nothing was left behind" "" "$(grep 'did not end in time' "$dir/a/sampan.log")"

# ---- Secrets
check "no token is in the log" "" "$(for t in "$good" "$new" "$old" "$known" "$gold" "$elsewhere"; do
    grep -F -- "${t##*.}" "$dir/a/sampan.log"
    grep -F -- "$(echo "$t" | cut -d. -f2)" "$dir/a/sampan.log"
done
grep -F s3cret "$dir/a/sampan.log")"
finish
