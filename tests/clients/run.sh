#!/bin/sh
# run.sh SAMPAN LANGUAGE... - runs the program of each language (go, js, python, java, rust) against a
# server of its own, and the one that docs/testing.md shows, as it is written there. `envtest` is an operator's test suite
# in Go that starts our programs itself. A language whose toolchain or packages are not to be had is named and skipped:
# the result is then 77, if nothing failed. Packages are downloaded only with SAMPAN_CLIENTS=all; they
# are kept in the language's own cache or in SAMPAN_CLIENTS_CACHE, and programs are built beside
# SAMPAN, never in the source folder.
set -u
sampan=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
work=$(dirname "$sampan")/clients
. "$here/../common.sh"
cache=${SAMPAN_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sampan-clients}
offline=yes
[ "${SAMPAN_CLIENTS:-}" != all ] || offline=
# A program waits 20 s at most for what it expects; this is a guard against hanging.
seconds=180

# Each language has up to five steps, run in its copy below $work:
#   tools_*  says which tool is missing, or nothing
#   fetch_*  has the packages, from the network unless $offline; else it fails
#   build_*  builds without the network
#   run_*    runs the program
#   shown_*  runs what docs/testing.md shows, if it shows something in that language
has_tools() {
    for tool; do
        command -v "$tool" >/dev/null 2>&1 || { echo "no $tool"; return 1; }
    done
}
# at_least WANTED VERSION TOOL
at_least() {
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ] ||
        echo "needs $3 $1 or newer, and this is ${2:-of no version}"
}

tools_go() {
    has_tools go && at_least "$(sed -n 's/^go //p' go.mod)" "$(go env GOVERSION | sed 's/^go//')" go
}
fetch_go() { if [ "$offline" ]; then GOPROXY=off go mod download; else go mod download; fi; }
build_go() { GOPROXY=off go build -trimpath -o clients .; }
# client-go looks at one path only, so the program gets a mount namespace in which it may write there.
in_pod='mount -t tmpfs tmpfs /run && mkdir -p /var/run/secrets/kubernetes.io/serviceaccount && exec "$@"'
# The dynamic client speaks JSON in the first run and CBOR in the second.
run_go() {
    timeout $seconds ./clients || return
    KUBE_FEATURE_ClientsAllowCBOR=true KUBE_FEATURE_ClientsPreferCBOR=true timeout $seconds ./clients || return
    if unshare -rm mount -t tmpfs tmpfs /run 2>/dev/null; then
        unshare -rm sh -c "$in_pod" sh timeout $seconds ./clients in-cluster
    else
        skip "go: in a cluster (no mount namespace is allowed here)"
    fi
}

tools_envtest() { tools_go; }
fetch_envtest() { fetch_go; }
build_envtest() { GOPROXY=off go test -c -o suite.test .; }
run_envtest() {
    "$sampan" assets bin >/dev/null && KUBEBUILDER_ASSETS=$PWD/bin timeout $seconds ./suite.test -test.v >"$dir/log" 2>&1
    status=$?
    grep -E '^(---|PASS|FAIL)' "$dir/log"
    [ $status -eq 0 ] || tail -n 40 "$dir/log"
    return $status
}
shown_envtest() { extract go && GOPROXY=off KUBEBUILDER_ASSETS=$PWD/bin go test ./documented; }

tools_js() { has_tools node npm && at_least 18 "$(node --version | sed 's/^v//')" node; }
fetch_js() {
    mkdir -p "$cache/js" && cp package.json "$cache/js" &&
        npm install --prefix "$cache/js" --no-package-lock --no-audit --no-fund ${offline:+--offline}
}
build_js() { ln -sfn "$cache/js/node_modules" node_modules; }
run_js() { timeout $seconds node main.js; }
shown_js() { extract js && tested node --test cups.test.js; }

tools_python() {
    has_tools python3 || return
    python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "no venv in python3"; return; }
    at_least 3.10 "$(python3 -c 'import platform; print(platform.python_version())')" python3
}
python_home() { echo "$cache/python-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"; }
fetch_python() {
    home=$(python_home)
    [ -x "$home/bin/pip" ] || { [ -z "$offline" ] && python3 -m venv "$home"; } || return
    "$home/bin/pip" install -q -r requirements.txt ${offline:+--no-index}
}
build_python() { :; }
run_python() {
    for program in main.py in_cluster.py; do
        timeout $seconds "$(python_home)/bin/python" $program || return
    done
}
shown_python() { extract python && tested "$(python_home)/bin/python" -m unittest cups_test.py; }

tools_java() { has_tools javac mvn && at_least 17 "$(javac -version 2>&1 | sed 's/^javac //')" javac; }
fetch_java() { mvn -B -q ${offline:+-o} dependency:go-offline dependency:copy-dependencies; }
build_java() { mvn -B -q -o compile dependency:copy-dependencies; }
run_java() { timeout $seconds java -cp 'target/classes:target/dependency/*' Main 2>/dev/null; }
shown_java() { extract java && tested java -ea -cp 'target/dependency/*' CupsTest.java; }

tools_rust() {
    has_tools cargo && at_least "$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)" \
        "$(cargo --version | cut -d ' ' -f 2)" cargo
}
fetch_rust() { cargo fetch -q --locked ${offline:+--offline}; }
build_rust() {
    cargo build -q --locked --offline --target-dir "$cache/rust" && cp "$cache/rust/debug/clients" clients
}
run_rust() { timeout $seconds ./clients; }
shown_rust() { extract rust && tested cargo test -q --locked --offline --target-dir "$cache/rust" --test cups; }

# extract LANGUAGE - the file that docs/testing.md shows, into the current folder
extract() {
    file=$(sed -n "s/^<!-- $1: \(.*\) -->$/\1/p" "$here/../../docs/testing.md")
    mkdir -p "$(dirname "$file")"
    sed -n "/^<!-- $1: /,/^\`\`\`\$/p" "$here/../../docs/testing.md" | sed '1,2d;$d' >"$file"
    [ -s "$file" ]
}
# tested COMMAND... - as that page has it
tested() {
    "$sampan" test -- timeout 600 "$@" >"$dir/log" 2>&1 || { echo "docs/testing.md:"; tail -n 40 "$dir/log"; return 1; }
}

# 0, 77 with the reason in $why, or 1.
run() {
    mkdir -p "$cache" "$work/$1" && cp -R "$here/$1/." "$work/$1" && cd "$work/$1" || return 1
    why=$(tools_"$1")
    [ -z "$why" ] || return 77
    # Two build folders may run at once; they share the cache.
    exec 9>"$cache/$1.lock"
    flock 9
    if ! fetch_"$1" >"$dir/log" 2>&1; then
        why="its packages are not in the cache (SAMPAN_CLIENTS=all downloads them)"
        [ "$offline" ] || why="its packages cannot be had: $(tail -n 3 "$dir/log")"
        return 77
    fi
    build_"$1" >"$dir/log" 2>&1 || { echo "$1: it does not build"; tail -n 40 "$dir/log"; return 1; }
    exec 9>&-
    KUBECONFIG="$dir/a/admin.kubeconfig" run_"$1" || return
    if grep -q "^shown_$1()" "$here/run.sh"; then shown_"$1"; fi
}

up >/dev/null || { echo "it does not start"; cat "$dir/a/sampan.log"; exit 1; }
succeeded=0
skipped=0
for language; do
    echo "$language:"
    run "$language"
    case $? in
    0) succeeded=$((succeeded + 1)) ;;
    77) skipped=$((skipped + 1)); skip "$language: $why" ;;
    *) failed=$((failed + 1)); echo "FAILED $language"; tail -n 20 "$dir/a/sampan.log" ;;
    esac
done
check "the server is still there" 0 "$("$sampan" status --data-dir "$dir/a" >/dev/null; echo $?)"
"$sampan" down --data-dir "$dir/a" >/dev/null
check "no sanitizer complains" "" "$(grep -A 20 Sanitizer: "$dir/a/sampan.log")"
echo "$succeeded passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] || exit 1
[ $skipped -eq 0 ] || exit 77
