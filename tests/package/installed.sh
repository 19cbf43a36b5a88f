#!/bin/sh
# installed.sh TREE BUILD FOLDER KUBECONFIG - `make install` into this machine, as a user does it, and a program that
# finds the library with nothing set for it. What it writes is seen by nobody else: it runs in a mount namespace of its
# own, where /usr/local, /etc and the build folder lie under a layer in FOLDER.
set -eu
tree=$1 build=$2 folder=$3
for place in /usr/local /etc "$build"; do
    layer=$folder/$(echo "$place" | tr / _)
    mkdir -p "$layer/upper" "$layer/work"
    mount -t overlay overlay -o "lowerdir=$place,upperdir=$layer/upper,workdir=$layer/work" "$place"
done
unset LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR DESTDIR
make -C "$tree" BUILD="$build" install >"$folder/install.log" 2>&1 || { tail -n 20 "$folder/install.log"; exit 1; }
cd "$folder"
cc -o program "$tree/tests/package/program.c" $(pkg-config --cflags --libs sampan)
./program "$4" installed
