/* Real clients against our server: curl, nghttp, h2load and openssl s_client, as far as they are
 * installed. What is not is said and skipped. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "harness.h"

static struct harness h;
static char dir[] = "/tmp/sampan-peers-XXXXXX";

static void write_file(const char *name, struct str text)
{
    const char *path = str_cstr(&h.arena, arena_printf(&h.arena, "%s/%s", dir, name));
    assert_int_equal(file_write_atomic(path, text, 0600, FILE_CHEAP, NULL), 0);
}

static int start(void **state)
{
    (void)state;
    struct harness_options opt = harness_defaults();
    opt.tls = true;
    opt.n_loops = 2;
    harness_start(&h, &opt);
    assert_non_null(mkdtemp(dir));
    write_file("ca.pem", h.ca.cert_pem);
    write_file("cert.pem", h.client_pair.cert_pem);
    write_file("key.pem", h.client_pair.key_pem);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    static const char *const files[] = { "ca.pem", "cert.pem", "key.pem" };
    for (size_t i = 0; i < 3; i++)
        (void)unlink(str_cstr(&h.arena, arena_printf(&h.arena, "%s/%s", dir, files[i])));
    (void)rmdir(dir);
    harness_stop(&h);
    return 0;
}

static void need(const char *tool)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "command -v %s >/dev/null", tool);
    if (system(command) != 0) {
        print_message("skipped: %s is not installed\n", tool);
        skip();
    }
}

/* What the command prints, in the arena. @P, @T, @D and @@ stand for the cleartext address,
 * the TLS address, the folder of the certificates, and an @. */
static const char *run(const char *command)
{
    autobuf line = { 0 };
    for (const char *p = command; *p; p++) {
        if (*p != '@') {
            buf_byte(&line, *p);
            continue;
        }
        p++;
        buf_str_add(&line, *p == 'P'   ? h.plain
                           : *p == 'T' ? h.tls
                           : *p == 'D' ? str_of(dir)
                                       : STR("@"));
    }
    buf_byte(&line, '\0');
    FILE *f = popen(line.p, "r");
    assert_non_null(f);
    autobuf out = { 0 };
    char text[4096];
    size_t n;
    while ((n = fread(text, 1, sizeof(text), f)) > 0)
        buf_add(&out, text, n);
    pclose(f);
    return str_cstr(&h.arena, buf_str(&out));
}

struct row {
    const char *command, *expected;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = run(rows[i].command);
        if (!strstr(got, rows[i].expected))
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].command, rows[i].expected, got);
    }
}

#define CURL "curl -sS -m 20 "

static void curl(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { CURL "-w '%{http_version} %{http_code}' http://@P/", "hello1.1 200" },
        { CURL "-w '%{http_version} %{http_code}' --http1.0 http://@P/", "hello" },
        { CURL "-w '%{http_version} %{http_code}' --http2-prior-knowledge http://@P/",
          "hello2 200" },
        { CURL "-w '%{http_version} %{http_code}' --cacert @D/ca.pem https://@T/", "hello2 200" },
        { CURL "-w '%{http_version} %{http_code}' --http1.1 --cacert @D/ca.pem https://@T/",
          "hello1.1 200" },
        { CURL "--cacert @D/ca.pem --cert @D/cert.pem --key @D/key.pem https://@T/whoami",
          "tls cn=skipper o=system:masters o=crew uid=u-7 verified=1" },
        { CURL "--http1.1 --cacert @D/ca.pem --cert @D/cert.pem --key @D/key.pem https://@T/whoami",
          "tls cn=skipper o=system:masters o=crew uid=u-7 verified=1" },
        { CURL "--tls-max 1.2 --cacert @D/ca.pem https://@T/", "hello" },
        { CURL "-d body http://@P/echo", "body" },
        { CURL "-d body --cacert @D/ca.pem https://@T/echo", "body" },
        { "head -c 2000000 /dev/zero | " CURL "-T - http://@P/upload", "2000000" },
        { "head -c 2000000 /dev/zero | " CURL "-T - --cacert @D/ca.pem https://@T/upload",
          "2000000" },
        { "head -c 2000000 /dev/zero | " CURL
          "-H 'Expect: 100-continue' --data-binary @@- http://@P/echo | wc -c",
          "2000000" },
        { "head -c 4194304 /dev/zero | " CURL
          "-w '%{http_code}' -o /dev/null --data-binary @@- http://@P/echo",
          "413" },
        { "head -c 4194304 /dev/zero | " CURL
          "-w '%{http_code}' -o /dev/null -X DELETE --data-binary @@- --cacert @D/ca.pem "
          "https://@T/echo",
          "413" },
        { CURL "--cacert @D/ca.pem 'https://@T/stream?30000000' | wc -c", "30000000" },
        { CURL "'http://@P/worker?30000000' | wc -c", "30000000" },
        { CURL "--http2-prior-knowledge 'http://@P/worker?30000000' | wc -c", "30000000" },
        { CURL "-I 'http://@P/big?123'", "content-length: 123" },
        { CURL "-I --cacert @D/ca.pem 'https://@T/big?123'", "content-length: 123" },
        { CURL "-o /dev/null -w '%{http_code}' -H 'Host: evil.example' http://@P/", "421" },
        { CURL
          "-o /dev/null -w '%{http_code}' -H 'Host: any.example' --cacert @D/ca.pem https://@T/",
          "200" },
        { CURL "http://@P/ http://@P/ http://@P/close http://@P/", "hellohellobyehello" },
        { CURL "--cacert @D/ca.pem https://@T/ https://@T/close https://@T/", "hellobyehello" },
        { CURL "--raw http://@P/trailers", "x-sum: 42" },
    };
    need("curl");
    check_rows(rows, ARRAY_LEN(rows));
}

static void nghttp(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "nghttp -t 20 http://@P/", "hello" },
        { "nghttp -t 20 https://@T/ 2>/dev/null", "hello" },
        { "nghttp -t 20 -nv http://@P/trailers", "x-sum: 42" },
        { "nghttp -t 20 -m 50 http://@P/worker", "from a worker" },
        { "nghttp -t 20 -w 16 -W 16 'http://@P/big?3000000' | wc -c", "3000000" },
    };
    need("nghttp");
    check_rows(rows, ARRAY_LEN(rows));
}

static void h2load(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "h2load -n 5000 -c 10 -m 100 http://@P/", "5000 succeeded, 0 failed" },
        { "h2load -n 5000 -c 10 -m 100 https://@T/", "5000 succeeded, 0 failed" },
        { "h2load -n 500 -c 5 -m 10 http://@P/worker", "500 succeeded, 0 failed" },
        { "h2load --h1 -n 5000 -c 10 http://@P/", "5000 succeeded, 0 failed" },
        { "h2load -n 100 -c 5 -m 10 'http://@P/stream?300000'", "100 succeeded, 0 failed" },
    };
    need("h2load");
    check_rows(rows, ARRAY_LEN(rows));
}

#define S_CLIENT "sleep 0.3 | timeout 20 openssl s_client -connect @T -CAfile @D/ca.pem "

static void s_client(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { S_CLIENT "-alpn h2,http/1.1 2>&1", "ALPN protocol: h2" },
        { S_CLIENT "-tls1_3 2>&1", "Verify return code: 0 (ok)" },
        { S_CLIENT "-tls1_2 2>&1", "Secure Renegotiation IS supported" },
        { S_CLIENT "-tls1_2 2>&1", "Compression: NONE" },
        { S_CLIENT "-tls1_1 -cipher ALL:@@SECLEVEL=0 2>&1", "alert protocol version" },
        { S_CLIENT "2>&1", "Acceptable client certificate CA names" },
    };
    need("openssl");
    check_rows(rows, ARRAY_LEN(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curl),
        cmocka_unit_test(nghttp),
        cmocka_unit_test(h2load),
        cmocka_unit_test(s_client),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
