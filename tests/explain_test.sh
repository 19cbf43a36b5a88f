#!/bin/sh
# explain_test.sh SAMPAN - what kubectl makes of the OpenAPI documents, and how they are cached. Own
# folder, own port.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs kubectl
tab=$(printf '\t')
serve

# Before 1.27 kubectl read the second version of OpenAPI only, and named no types.
if kubectl explain --help | grep -q plaintext-openapiv2; then
    struct=RollingUpdateDeployment item=Container amount=Quantity either=IntOrString strict=strict
else
    struct=Object item=Object amount=string either=string strict=true
fi

said=$(k explain deployment.spec.strategy)
has "the kind" "Deployment" "$said"
has "the group" "apps" "$said"
has "a struct" "rollingUpdate${tab}<$struct>" "$said"
has "a string" "type${tab}<string>" "$said"

said=$(k explain pod --recursive)
has "the version" "VERSION:" "$said"
has "a list of structs" "containers${tab}<[]$item>" "$said"
has "a list of strings" "args${tab}<[]string>" "$said"
has "a number" "containerPort${tab}<integer>" "$said"
has "a flag" "hostNetwork${tab}<boolean>" "$said"
has "a quantity" "limits${tab}<map[string]$amount>" "$said"
has "either of two" "targetPort${tab}<$either>" "$(k explain service.spec.ports)"
has "a map" "<map[string]string>" "$(k explain configmap.data)"
has "a field that is not there" "field \"nothing\" does not exist" "$(k explain pod.spec.nothing)"
[ $strict = true ] || has "the older form" "strategy${tab}<Object>" \
    "$(k explain deployment.spec --output=plaintext-openapiv2)"

# Before it sends anything, kubectl looks whether the operation takes fieldValidation.
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' >"$dir/object.yaml"
has "validation is offered" "configmap/a created (dry run)" \
    "$(k create --dry-run=client --validate=$strict -f "$dir/object.yaml")"

if command -v curl >/dev/null 2>&1; then
    path=$(admin "$server/openapi/v3" |
        sed -n 's|.*"\(/openapi/v3/apis/apps/v1?hash=[0-9A-F]*\)".*|\1|p')
    head=$(admin -I "$server$path")
    has "an address with its tag is for good" "public, immutable" "$head"
    etag=$(printf '%s\n' "$head" | sed -n 's/^etag: \("[0-9A-F]*"\).*/\1/Ip')
    has "known to the client" 304 "$(admin -o /dev/null -w '%{http_code}' \
        -H "If-None-Match: $etag" "$server/openapi/v3/apis/apps/v1")"
    has "an old tag leads to the new one" "$path" \
        "$(admin -o /dev/null -w '%{http_code} %{redirect_url}' "${server}${path%=*}=0")"
    has "a form that is not made" 406 "$(admin -o /dev/null -w '%{http_code}' \
        -H 'Accept: application/xml' "$server/openapi/v2")"
    has "a version that is not there" 404 \
        "$(admin -o /dev/null -w '%{http_code}' "$server/openapi/v3/apis/apps/v9")"
    has "a wrong method" 405 "$(admin -o /dev/null -w '%{http_code}' -X POST "$server/openapi/v2")"
fi
finish
