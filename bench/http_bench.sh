#!/bin/sh
# http_bench.sh - requests per second of our server beside nghttpd (HTTP/2) and nginx (HTTP/1.1),
# a 2 KB body from memory, one server thread each, the same client call for both.
#
# Runs alternate and the median of three is taken, so that a slow moment of the machine hits both.
# usage: bench/http_bench.sh [BUILD_DIR]
set -eu

build=${1:-build}
seconds=${SECONDS_PER_RUN:-2}
work=$(mktemp -d)
pids=
trap 'kill $pids 2>/dev/null || true; rm -rf "$work"' EXIT

for tool in h2load nghttpd wrk nginx openssl; do
    if ! command -v "$tool" >/dev/null && ! [ -x "/usr/sbin/$tool" ]; then
        echo "skipped: $tool is not installed"
        exit 0
    fi
done
PATH=$PATH:/usr/sbin

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
mkdir "$work/www"
head -c 2048 /dev/zero | tr '\0' x >"$work/www/index.html"

cat >"$work/nginx.conf" <<END
worker_processes 1;
daemon off;
pid $work/nginx.pid;
error_log $work/nginx.log;
events { worker_connections 1024; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path $work/body;
    proxy_temp_path $work/proxy;
    fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi;
    scgi_temp_path $work/scgi;
    open_file_cache max=16;
    sendfile on;
    tcp_nopush on;
    server {
        listen 127.0.0.1:19090;
        listen 127.0.0.1:19493 ssl;
        ssl_certificate $work/cert.pem;
        ssl_certificate_key $work/key.pem;
        root $work/www;
    }
}
END

"$build/bench/http_server" 19080 19443 "$work/cert.pem" "$work/key.pem" 1 &
pids="$pids $!"
nghttpd --no-tls -n1 -d "$work/www" -a 127.0.0.1 19070 &
pids="$pids $!"
nghttpd -n1 -d "$work/www" -a 127.0.0.1 19473 "$work/key.pem" "$work/cert.pem" &
pids="$pids $!"
nginx -c "$work/nginx.conf" 2>/dev/null &
pids="$pids $!"
sleep 1

h2() {
    h2load -c 8 -m 32 -t 1 -D "$seconds" "$1" | sed -n 's|^finished in .*, \([0-9.]*\) req/s.*|\1|p'
}

h1() {
    wrk -c 32 -t 1 -d "$seconds" "$1" | sed -n 's|^Requests/sec: *\([0-9.]*\)|\1|p'
}

median() {
    sort -n "$1" | sed -n 2p
}

compare() { # NAME CLIENT OURS THEIRS PEER
    : >"$work/ours"
    : >"$work/theirs"
    for _ in 1 2 3; do
        "$2" "$3" >>"$work/ours"
        "$2" "$4" >>"$work/theirs"
    done
    awk -v name="$1" -v peer="$5" -v a="$(median "$work/ours")" -v b="$(median "$work/theirs")" \
        'BEGIN { printf "%-20s ours %8.0f/s  %-8s %8.0f/s  ratio %.2f\n", name, a, peer, b, a / b }'
}

compare "HTTP/2 cleartext" h2 http://127.0.0.1:19080/index.html http://127.0.0.1:19070/index.html nghttpd
compare "HTTP/2 TLS" h2 https://127.0.0.1:19443/index.html https://127.0.0.1:19473/index.html nghttpd
compare "HTTP/1.1 cleartext" h1 http://127.0.0.1:19080/index.html http://127.0.0.1:19090/index.html nginx
compare "HTTP/1.1 TLS" h1 https://127.0.0.1:19443/index.html https://127.0.0.1:19493/index.html nginx
