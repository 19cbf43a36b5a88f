#!/bin/sh
# packaging_test.sh SAMPAN BUILD - what is made for those who install it: the unit, Debian packages, the container image, and the
# dashboard, whose metrics are all there.
set -u
sampan=$(realpath "$1")
build=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
. "$here/common.sh"
needs python3 curl

# ---- The unit ----
if command -v systemd-analyze >/dev/null 2>&1; then
    mkdir "$dir/unit"
    sed "s|^ExecStart=[^ ]*|ExecStart=$sampan|" "$build/packaging/sampan.service" >"$dir/unit/sampan.service"
    check "systemd finds nothing wrong" "" "$(systemd-analyze verify --man=no "$dir/unit/sampan.service" 2>&1 | grep sampan)"
else
    skip "the unit: there is no systemd-analyze"
fi

# ---- Metrics ----
serve
check "a scrape" 200 "$(code admin "$server/readyz")"
admin "$server/metrics" >"$dir/metrics"
cat >"$dir/names.py" <<'EOF_NAMES'
import json, re, sys
known = set()
for line in open(sys.argv[2]):
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split()
        known |= {name + part for part in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
board = json.load(open(sys.argv[1]))
texts = [t["expr"] for p in board["panels"] for t in p["targets"]] + [v["query"] for v in board["templating"]["list"]]
used = {n for text in texts for n in re.findall(r"\b(?:apiserver|sampan|process)_\w+", text)}
print(len(board["panels"]) > 5, len(used) > 15, sorted(used - known))
EOF_NAMES
check "every metric of the dashboard is there" "True True []" "$(python3 "$dir/names.py" "$here/../packaging/grafana.json" "$dir/metrics")"

# ---- The image ----
check "an image" 0 "$("$here/../tools/image" "$sampan" "$dir/image.tar" >"$dir/out" 2>&1; echo $?)"
mkdir "$dir/image" "$dir/root"
tar -xf "$dir/image.tar" -C "$dir/image"
check "each blob has the digest that it is named by" "" \
    "$(for f in "$dir"/image/blobs/sha256/*; do [ "$(sha256sum <"$f" | cut -d ' ' -f 1)" = "${f##*/}" ] || echo "$f"; done)"
cat >"$dir/walk.py" <<'EOF_WALK'
import gzip, hashlib, json, sys
blob = lambda d: open(sys.argv[1] + "/blobs/" + d["digest"].replace(":", "/"), "rb").read()
manifest = json.loads(blob(json.load(open(sys.argv[1] + "/index.json"))["manifests"][0]))
config = json.loads(blob(manifest["config"]))
layer = gzip.decompress(blob(manifest["layers"][0]))
assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
open(sys.argv[2], "wb").write(layer)
print(*config["config"]["Entrypoint"], config["config"]["User"])
EOF_WALK
check "its manifest leads to its files" "/usr/bin/sampan 65532:65532" "$(python3 "$dir/walk.py" "$dir/image" "$dir/layer.tar")"
tar -xf "$dir/layer.tar" -C "$dir/root" --no-same-owner
if unshare -r chroot "$dir/root" /usr/bin/sampan version >"$dir/version" 2>&1; then
    check "the program runs with nothing else" "$("$sampan" version)" "$(cat "$dir/version")"
    mkdir -p "$dir/root/proc"
    check "and serves" 3 "$(unshare -rmpf sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" /usr/bin/sampan test --api-only -- /usr/bin/sampan status --data-dir /nowhere' sh "$dir/root" >"$dir/out" 2>&1; echo $?)"
else
    skip "the image's program: $(cat "$dir/version")"
fi

# ---- Debian packages ----
if command -v dpkg-deb >/dev/null 2>&1 && command -v dpkg-shlibdeps >/dev/null 2>&1; then
    check "packages" 0 "$("$here/../tools/deb" "$build" "$dir/packages" >"$dir/out" 2>&1 || cat "$dir/out"; echo $?)"
    program=$(ls "$dir"/packages/sampan_*.deb) library=$(ls "$dir"/packages/libsampan-dev_*.deb)
    dpkg-deb -x "$program" "$dir/installed"
    check "the program" "$("$sampan" version)" "$("$(find "$dir/installed" -path '*/bin/sampan')" version)"
    has "what it needs" "libssl3" "$(dpkg-deb -f "$program" Depends)"
    check "the unit" 1 "$(dpkg-deb -c "$program" | grep -c 'lib/systemd/system/sampan.service$')"
    check "the manual" 1 "$(dpkg-deb -c "$program" | grep -c 'man1/sampan.1.gz$')"
    check "the library is another package" "0 1" "$(dpkg-deb -c "$program" | grep -c 'libsampan') $(dpkg-deb -c "$library" | grep -c 'libsampan.a$')"
    check "no file is in both" "" "$({ dpkg-deb -c "$program"; dpkg-deb -c "$library"; } | grep -v '/$' | awk '{ print $6 }' | sort | uniq -d)"
    mkdir -p "$dir/admin/var/lib/dpkg"
    touch "$dir/admin/var/lib/dpkg/status"
    check "dpkg takes it" 0 "$(fakeroot_dpkg() { dpkg --root="$dir/admin" --force-not-root --force-depends --force-script-chrootless --unpack "$program"; }; fakeroot_dpkg >"$dir/out" 2>&1 || cat "$dir/out"; echo $?)"
else
    skip "Debian packages: there is no dpkg-dev"
fi
finish
