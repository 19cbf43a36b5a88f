#!/usr/bin/env python3
"""images.py OUT.tar - images for the lab, made of this machine's programs: localhost/sampan/pause:1, which only waits, and
localhost/sampan/box:1, a static busybox. The tar is as `docker save` writes it. BUSYBOX names the busybox."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

PAUSE = r"""
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static void end(int s) { _exit(s == SIGTERM || s == SIGINT ? 0 : 1); }
static void reap(int s) { (void)s; while (waitpid(-1, 0, WNOHANG) > 0) {} }
int main(void) { signal(SIGINT, end); signal(SIGTERM, end); signal(SIGCHLD, reap); for (;;) pause(); }
"""
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def tar(files):
    """A tar of {name: bytes for a file, text for a link, None for a folder}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.mode = 0o1777 if name == "tmp" else 0o755
            if content is None:
                entry.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
            else:
                entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return out.getvalue()


def compiled(source):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/a.c", "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run(["gcc", "-Os", "-static", "-s", "-o", folder + "/a", folder + "/a.c"], check=True)
        with open(folder + "/a", "rb") as file:
            return file.read()


def box():
    path = os.environ.get("BUSYBOX", "/bin/busybox")
    applets = subprocess.run([path, "--list"], capture_output=True, text=True, check=True).stdout.split()
    with open(path, "rb") as file:
        files = {"bin": None, "bin/busybox": file.read()}
    files |= {"bin/" + applet: "busybox" for applet in applets if applet != "busybox"}
    files |= {folder: None for folder in ("etc", "tmp", "proc", "sys", "dev", "var", "www")}
    files["etc/passwd"] = b"root:x:0:0:root:/root:/bin/sh\n"
    return tar(files)


def main(out):
    layers = {"pause.tar": tar({"pause": compiled(PAUSE)}), "box.tar": box()}
    images = {"localhost/sampan/pause:1": ("pause.tar", {"Entrypoint": ["/pause"], "Env": [PATH]}),
              "localhost/sampan/box:1": ("box.tar", {"Cmd": ["sh"], "Env": [PATH]})}
    files, manifest = dict(layers), []
    for name, (layer, config) in images.items():
        digest = "sha256:" + hashlib.sha256(layers[layer]).hexdigest()
        text = json.dumps({"architecture": "amd64", "os": "linux", "config": config,
                           "rootfs": {"type": "layers", "diff_ids": [digest]}}).encode()
        config_name = hashlib.sha256(text).hexdigest() + ".json"
        files[config_name] = text
        manifest.append({"Config": config_name, "RepoTags": [name], "Layers": [layer]})
    files["manifest.json"] = json.dumps(manifest).encode()
    with open(out, "wb") as file:
        file.write(tar(files))


main(sys.argv[1])
