#!/bin/sh
# package_test.sh SAMPAN BUILD - the library as strangers get it: installed into a folder, found by pkg-config, and
# used by programs that have nothing else, against a real control plane: in C and C++, shared and static, the guide's
# word by word, and the examples by their own Makefiles.
set -u
sampan=$(realpath "$1")
build=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

stage=$dir/stage
# `make uninstall` goes by Meson's note of the last installation, which is not to be this one.
note=$build/meson-logs/install-log.txt
cp "$note" "$dir/note" 2>/dev/null
meson install -C "$build" --no-rebuild --destdir "$stage" >"$dir/install.log" 2>&1
installed=$?
check "what is installed can be taken away" "$(find "$stage" -type f -o -type l | grep -c .)" \
    "$(grep -v '^#' "$note" | while read -r file; do test -d "$file" || echo "$file"; done | grep -c .)"
if test -f "$dir/note"; then cp "$dir/note" "$note"; else rm -f "$note"; fi
if [ $installed -ne 0 ]; then
    cat "$dir/install.log"
    exit 1
fi
pc=$(find "$stage" -name sampan.pc)
lib=$(dirname "$(dirname "$pc")")
check "a pkg-config file" 1 "$(echo "$pc" | grep -c .)"
export PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$stage"

# What is installed
for file in libsampan.so libsampan.so.0 libsampan.a libsampan-api.a; do
    check "$file" yes "$(test -f "$lib/$file" && echo yes)"
done
check "headers" "$(ls "$here/../include/sampan")" "$(ls "$stage"/*/*/include/sampan 2>/dev/null || ls "$stage"/*/include/sampan)"
check "a page for each part" "$(ls "$here/../man" | grep '\.3$')" \
    "$(find "$stage" -path '*/man3/*' -type f -printf '%f\n' | sort)"
check "a page by the name of a function" spn_client.3 "$(readlink "$(find "$stage" -name spn_client_get.3)")"
check "the soname" libsampan.so.0 "$(objdump -p "$lib/libsampan.so" | awk '/SONAME/ { print $2 }')"
check "only spn_* is exported" "" "$(nm -D --defined-only "$lib/libsampan.so" | awk '$2 != "A" { print $3 }' | grep -v '^spn_')"
check "no other name in the archive" "" "$(nm -g --defined-only "$lib/libsampan.a" | awk 'NF == 3 { print $3 }' | grep -v '^spn_')"
check "both export the same" "$(nm -D --defined-only "$lib/libsampan.so" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort)" \
    "$(nm -g --defined-only "$lib/libsampan.a" | awk 'NF == 3 { print $3 }' | sort)"

# The list of what is promised, and that a change of it is seen
check "as lib/libsampan.abi has it" "" "$("$here/../tools/abi" "$lib/libsampan.so" 2>&1)"
mkdir -p "$dir/tree/tools" "$dir/tree/lib"
cp "$here/../tools/abi" "$dir/tree/tools/"
cp "$here/../lib/libsampan.abi" "$dir/tree/lib/"
cp -r "$here/../include" "$dir/tree/"
changed() { # EDIT FILE: what the tool says of a tree with a change
    sed -i "$1" "$dir/tree/include/sampan/$2"
    "$dir/tree/tools/abi" "$lib/libsampan.so" 2>&1
    cp "$here/../include/sampan/$2" "$dir/tree/include/sampan/$2"
}
has "a struct that grows" "+struct spn_text size 24" "$(changed 's/^    size_t n;/    size_t n, more;/' base.h)"
has "a constant in the middle" "+       1 SPN_NEW" "$(changed 's/^    SPN_OK,/&SPN_NEW,/' err.h)"
has "another type" "-spn_queue_add: void" "$(changed 's/API void spn_queue_add(/API int spn_queue_add(/' queue.h)"
has "a function that is not there" "spn_queue_new2 is in a header" \
    "$(changed 's/^struct spn_queue;/&SPN_API void spn_queue_new2(void);/' queue.h)"
check "and without a change nothing" "" "$("$dir/tree/tools/abi" 2>&1)"

# A program from an empty folder
mkdir "$dir/program"
cp "$here/package/program.c" "$dir/program/program.c"
cp "$here/package/program.c" "$dir/program/program.cc"
cd "$dir/program" || exit 1
flags="-Wall -Wextra -Werror $(pkg-config --cflags sampan)"
shared=$(pkg-config --libs sampan)
static=$(pkg-config --static --libs sampan | sed 's/-lsampan/-l:libsampan.a/')
check "C11, shared" "" "$(cc -std=c11 $flags program.c $shared -o c-shared 2>&1)"
check "C11, static" "" "$(cc -std=c11 $flags program.c $static -o c-static 2>&1)"
if command -v c++ >/dev/null; then
    check "C++11, shared" "" "$(c++ -std=c++11 $flags program.cc $shared -o cc-shared 2>&1)"
    check "C++20, static" "" "$(c++ -std=c++20 $flags program.cc $static -o cc-static 2>&1)"
else
    skip "no C++ compiler"
fi
"$sampan" generate --from "$here/generate/golden/types.h" --c .
cp "$here/package/typed.c" "$dir/program/typed.c"
check "generated code, shared" "" "$(cc -std=c11 -pedantic $flags typed.c gen_network.c $shared -o typed-shared 2>&1)"
check "generated code, static" "" "$(cc -std=c11 $flags typed.c gen_network.c $static -o typed-static 2>&1)"
check "the static program needs no libsampan" "" "$(objdump -p c-static | grep NEEDED.*sampan)"
for header in "$here"/../include/sampan/*.h; do
    echo "#include <sampan/$(basename "$header")>" >alone.c
    check "$(basename "$header") alone" "" "$(cc -std=c11 -pedantic $flags -fsyntax-only alone.c 2>&1)"
done

up >/dev/null || exit 1
names=
for program in c-shared c-static cc-shared cc-static; do
    test -x $program || continue
    got=$(LD_LIBRARY_PATH=$lib ./$program "$dir/a/admin.kubeconfig" $program 2>&1)
    has "$program makes an object" "/ " "$got"
    has "$program sees what it made" "$program " "${got#*/}"
    has "$program sees what was there" "$names" "$got"
    names="$names$program "
done

for program in typed-shared typed-static; do
    has "$program sees a namespace" "default is Active" \
        "$(LD_LIBRARY_PATH=$lib ./$program "$dir/a/admin.kubeconfig" 2>&1)"
done

# `make install` as a user does it, where that can be done without a trace. A layer cannot lie on another of its sort.
mkdir "$dir/layers" "$dir/layers/u" "$dir/layers/w"
if unshare -m mount -t overlay overlay -o "lowerdir=/usr/local,upperdir=$dir/layers/u,workdir=$dir/layers/w" /usr/local 2>/dev/null &&
    [ "$lib" != "${lib#"$stage"/usr/local/}" ]; then
    has "a program finds what make install put there" "installed " \
        "$(unshare -m sh "$here/package/installed.sh" "$(realpath "$here/..")" "$build" "$dir/layers" "$dir/a/admin.kubeconfig" 2>&1)"
else
    skip "no layer over /usr/local can be made here, or that is not where it is installed"
fi

# The examples, by their own Makefiles and with the `sampan` that was installed
export PATH="$(dirname "$(find "$stage" -path '*/bin/sampan')"):$PATH" LD_LIBRARY_PATH="$lib"
check "sampan is installed" "$(find "$stage" -path '*/bin/sampan' -type f)" "$(command -v sampan)"
# lacks PROGRAM DOCKERFILE - libraries of Debian that the program needs and the image does not have
lacks() {
    for name in $(objdump -p "$1" "$lib/libsampan.so.0" | awk '/NEEDED/ && !/sampan/ { print $2 }' | sort -u); do
        for package in $(dpkg -S "*/$name" | sed 's/:.*//' | sort -u); do
            [ "$package" = libc6 ] || grep -qw -e "$package" "$2" && continue 2
        done
        echo "$name"
    done
}
for example in hello-controller network-controller; do
    if [ $example = network-controller ] && ! pkg-config --exists libmnl libnftnl; then
        skip "libmnl-dev and libnftnl-dev are not installed"
        continue
    fi
    cp -r "$here/../examples/$example" "$dir/$example"
    CFLAGS='-O1 -Wall -Wextra -Werror' make -C "$dir/$example" >"$dir/make.log" 2>&1 || cat "$dir/make.log"
    check "$example is made" yes "$(test -x "$dir/$example/$example" && echo yes)"
    if command -v dpkg >/dev/null; then
        check "its image has what it needs" "" "$(lacks "$dir/$example/$example" "$dir/$example/Dockerfile")"
    fi
done

# docs/controllers.md, from an empty folder. What it has to say about the server was done above.
guide=$here/../docs/controllers.md
block() { # LANGUAGE N - the N-th one
    awk -v fence="\`\`\`$1" -v n="$2" '$0 == fence { on = ++seen == n; next } /^```$/ { on = 0 } on' "$guide"
}
says() { # TEXT COMMAND... - until it does; a reader is slower than the controller
    waits sh -c 'text=$1; shift; [ "$("$@" 2>&1)" = "$text" ]' sh "$@"
    check "the guide: $*" "$1" "$(shift; "$@" 2>&1)"
}
if command -v kubectl >/dev/null; then
    mkdir "$dir/guide" && cd "$dir/guide" || exit 1
    export KUBECONFIG="$dir/a/admin.kubeconfig"
    block yaml 1 >crd.yaml
    block c 1 >main.c
    eval "$(block sh 2)" >/dev/null
    check "the guide's program is made without a word" "" "$(block sh 3 | sed 's/ -Wall/&  -Wextra -Werror/; /&$/d' | sh 2>&1)"
    eval "$(block sh 3 | grep '&$')" 2>greeter.log
    greeter=$!
    at_end='kill $greeter 2>/dev/null'
    # What stands behind a command is what it prints; a map that is back says what it said before.
    eval "$(block sh 4 | sed -E "s/it is back/Hello, World!/; s/^(kubectl get .*[^ ]) +# (.*)/says '\2' \1/; s/^kill %1$/kill \$greeter/")" >told
    check "and says nothing else" "" "$(grep -v 'created\|deleted\|patched' told)"
    wait $greeter
    check "the guide's program ends well" 0 $?
    check "without an error" "" "$(grep -v ' info ' greeter.log)"
else
    skip "no kubectl: the guide was not followed"
fi

finish
