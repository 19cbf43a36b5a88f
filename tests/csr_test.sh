#!/bin/sh
# csr_test.sh SAMPAN - requests for certificates, by kubectl and openssl: approved, signed, used, refused.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs kubectl openssl
serve_everything --store memory
request() { # NAME SUBJECT SIGNER USAGES [MORE]
    openssl req -new -newkey rsa:2048 -nodes -keyout "$dir/$1.key" -subj "$2" -out "$dir/$1.csr" ${5:+-addext "$5"} 2>/dev/null
    k create -f - <<EOF
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: $1}
spec: {request: $(base64 -w0 "$dir/$1.csr"), signerName: kubernetes.io/$3, usages: [$4], expirationSeconds: 3600}
EOF
}
state() { k get csr "$1" --no-headers | awk '{ print $NF }'; }
is() { [ "$(state "$1")" = "$2" ]; }
certificate() { k get csr "$1" -o 'jsonpath={.status.certificate}' | base64 -d >"$dir/$1.crt"; }

# ---- A user
has "a user asks" created "$(request jane /O=devs/CN=jane kube-apiserver-client 'client auth')"
sleep 0.3
check "nobody approves by himself" Pending "$(state jane)"
check "approved" "certificatesigningrequest.certificates.k8s.io/jane approved" "$(k certificate approve jane)"
waits is jane Approved,Issued
certificate jane
check "he is who he said" "jane" "$(kubectl --kubeconfig /dev/null --server "$server" --certificate-authority "$dir/ca.crt" \
    --client-certificate "$dir/jane.crt" --client-key "$dir/jane.key" auth whoami -o 'jsonpath={.status.userInfo.username}' 2>&1)"
check "for an hour" "0 1" "$(openssl x509 -in "$dir/jane.crt" -noout -checkend 3500 >/dev/null; echo $?) $(openssl x509 -in "$dir/jane.crt" -noout -checkend 3700 >/dev/null; echo $?)"

# ---- A kubelet
request node /O=system:nodes/CN=system:node:n kube-apiserver-client-kubelet 'client auth, digital signature' >/dev/null
waits is node Approved,Issued
has "a kubelet need not wait" "Auto approving kubelet client certificate after SubjectAccessReview." "$(k get csr node -o yaml)"
request serving /O=system:nodes/CN=system:node:n kubelet-serving 'server auth, digital signature' subjectAltName=DNS:n,IP:10.0.0.1 >/dev/null
k certificate approve serving >/dev/null
waits is serving Approved,Issued
certificate serving
has "its names are there" "DNS:n, IP Address:10.0.0.1" "$(openssl x509 -in "$dir/serving.crt" -noout -ext subjectAltName)"
check "and our CA stands for it" "$dir/serving.crt: OK" "$(openssl verify -CAfile "$dir/ca.crt" -purpose sslserver "$dir/serving.crt" 2>&1)"

# ---- What pods believe is for all of them
bundle() { k get clustertrustbundles --field-selector spec.signerName=kubernetes.io/kube-apiserver-serving -o "jsonpath=$1"; }
bundles() { [ "$(bundle '{.items[*].metadata.name}' | wc -w)" = 1 ]; }
waits bundles
check "a ClusterTrustBundle has our CA" "$(cat "$dir/ca.crt")" "$(bundle '{.items[0].spec.trustBundle}')"
check "its name says which" "kubernetes.io:kube-apiserver-serving:$(sha256sum <"$dir/ca.crt" | cut -c1-24)" "$(bundle '{.items[0].metadata.name}')"

# ---- What signers refuse
request bad /O=devs/CN=jane kube-apiserver-client-kubelet 'client auth, digital signature' >/dev/null
k certificate approve bad >/dev/null
waits is bad Approved,Failed
has "with the reason" "subject organization is not system:nodes" "$(k get csr bad -o yaml)"
request joe /O=devs/CN=joe kube-apiserver-client 'client auth' >/dev/null
k certificate deny joe >/dev/null
request mine /O=devs/CN=joe other 'client auth' >/dev/null
k certificate approve mine >/dev/null
sleep 0.5
check "denied" Denied "$(state joe)"
check "of another signer" Approved "$(state mine)"
finish
