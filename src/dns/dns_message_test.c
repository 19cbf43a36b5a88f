#include "dns/dns_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

#define HEAD(flags, questions, additional) "\x12\x34" flags "\0" questions "\0\0\0\0\0" additional
#define WEB                                "\3Web\3svc\0\0\1\0\1"
#define EDNS(size, version)                "\0\0\x29" size "\0" version "\0\0\0\0"

static struct arena arena;

static const struct {
    const char *about;
    int code;
    struct str packet;
} packets[] = {
    { "a question", DNS_OK, STR(HEAD("\1\0", "\1", "\0") WEB) },
    { "with EDNS", DNS_OK, STR(HEAD("\1\0", "\1", "\1") WEB EDNS("\x10\0", "\0")) },
    { "of another version", DNS_BAD_VERSION,
      STR(HEAD("\1\0", "\1", "\1") WEB EDNS("\x10\0", "\1")) },
    { "with EDNS twice", DNS_FORMAT_ERROR,
      STR(HEAD("\1\0", "\1", "\2") WEB EDNS("\x10\0", "\0") EDNS("\x10\0", "\0")) },
    { "a reply", -1, STR(HEAD("\x81\0", "\1", "\0") WEB) },
    { "nothing", -1, STR("") },
    { "half a head", -1, STR("\x12\x34\1\0\0\1") },
    { "an update", DNS_NOT_IMPLEMENTED, STR(HEAD("\x28\0", "\1", "\0") WEB) },
    { "no question", DNS_FORMAT_ERROR, STR(HEAD("\1\0", "\0", "\0")) },
    { "two questions", DNS_FORMAT_ERROR, STR(HEAD("\1\0", "\2", "\0") WEB WEB) },
    { "a label that is cut off", DNS_FORMAT_ERROR, STR(HEAD("\1\0", "\1", "\0") "\x0aweb") },
    { "a name without an end", DNS_FORMAT_ERROR, STR(HEAD("\1\0", "\1", "\0") "\3web") },
    { "a label of a kind that nobody has", DNS_FORMAT_ERROR,
      STR(HEAD("\1\0", "\1", "\0") "\x43web\0\0\1\0\1") },
    { "a name that points to itself", DNS_FORMAT_ERROR,
      STR(HEAD("\1\0", "\1", "\0") "\xc0\x0c\0\1\0\1") },
    { "a name that points ahead", DNS_FORMAT_ERROR,
      STR(HEAD("\1\0", "\1", "\0") "\xc0\x20\0\1\0\1") },
    { "additional records that are not there", DNS_FORMAT_ERROR,
      STR(HEAD("\1\0", "\1", "\1") WEB) },
};

static void questions_are_read_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(packets); i++) {
        struct dns_question q;
        int code = dns_question_read(&arena, packets[i].packet, &q);
        if (code != packets[i].code)
            fail_msg("%s: %d", packets[i].about, code);
        if (code >= 0)
            assert_int_equal(q.id, 0x1234);
    }
}

static struct dns_question ask(struct str packet)
{
    struct dns_question q;
    assert_int_equal(dns_question_read(&arena, packet, &q), DNS_OK);
    return q;
}

static struct dns_name name_of(const char *text)
{
    struct dns_name name;
    assert_true(dns_name_parse(&arena, str_of(text), &name));
    return name;
}

static void a_question_is_taken_apart(void **state)
{
    (void)state;
    struct dns_question q = ask(packets[1].packet);
    assert_true(dns_name_eq(q.name, name_of("web.svc")));
    assert_int_equal(q.type, DNS_A);
    assert_true(q.recursion_desired && q.has_edns);
    assert_int_equal(q.udp_bytes, DNS_UDP_BYTES_MAX);
    assert_int_equal(ask(packets[0].packet).udp_bytes, DNS_UDP_BYTES);
}

static void names_are_compared_from_the_right(void **state)
{
    struct dns_name rest, zone = name_of("cluster.local.");
    (void)state;
    assert_true(dns_name_below(name_of("Web.Default.svc.CLUSTER.local"), zone, &rest));
    assert_true(dns_name_eq(rest, name_of("web.default.svc")));
    assert_false(dns_name_below(name_of("web.mycluster.local"), zone, &rest));
    assert_false(dns_name_below(name_of("local"), zone, &rest));
    static const char *const none[] = { ".", "a..b", ".a", "a b..", NULL };
    for (size_t i = 1; none[i]; i++)
        assert_false(dns_name_parse(&arena, str_of(none[i]), &rest));
}

static struct dns_reply reply_of(size_t n)
{
    struct dns_reply reply = { .is_ours = true, .recurses = true };
    for (size_t i = 0; i < n; i++) {
        struct dns_record r = { .name = name_of("web.svc"),
                                .type = DNS_A,
                                .ttl = 30,
                                .bytes = arena_printf(&arena, "%c%c%c%c", 10, 0, 1, (char)i) };
        dns_records_add(&arena, &reply.answers, &r);
    }
    return reply;
}

static void a_reply_is_written_and_read_again(void **state)
{
    struct dns_question q = ask(packets[0].packet);
    struct dns_reply reply = reply_of(2);
    struct dns_record alias = {
        .name = name_of("other.svc"), .type = DNS_CNAME, .ttl = 30, .target = name_of("web.svc")
    };
    dns_records_add(&arena, &reply.answers, &alias);
    autobuf out = { 0 };
    (void)state;
    dns_reply_write(&q, &reply, DNS_UDP_BYTES, &out);
    assert_memory_equal(out.p, "\x12\x34\x85\x80\0\1\0\3\0\0\0\0\3Web\3svc\0", 21);
    assert_memory_equal(out.p + 25, "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\x0a\0\1\0", 16);

    struct dns_records again = { 0 };
    enum dns_code code;
    assert_true(dns_reply_fits(buf_str(&out), 0x1234, &q));
    assert_false(dns_reply_fits(buf_str(&out), 0x1235, &q));
    assert_true(dns_reply_read(&arena, buf_str(&out), &code, &again));
    assert_int_equal(code, DNS_OK);
    assert_int_equal(again.n, 3);
    assert_true(dns_name_eq(again.list[2].name, alias.name));
    assert_true(dns_name_eq(again.list[2].target, alias.target));
    for (size_t n = 0; n < out.n; n++) /* cut off anywhere it is no reply */
        assert_false(dns_reply_read(&arena, str_take(buf_str(&out), n), &code, &again));
}

static void what_does_not_fit_is_cut_off_and_says_so(void **state)
{
    struct dns_question q = ask(packets[0].packet);
    struct dns_reply reply = reply_of(100);
    autobuf out = { 0 };
    (void)state;
    dns_reply_write(&q, &reply, q.udp_bytes, &out);
    assert_true(out.n <= DNS_UDP_BYTES);
    assert_true(dns_reply_is_cut(buf_str(&out)));
    buf_reset(&out);
    dns_reply_write(&q, &reply, DNS_MESSAGE_BYTES, &out);
    assert_false(dns_reply_is_cut(buf_str(&out)));
    buf_reset(&out);
    reply.additional = reply.answers; /* what is not needed is left out without a word */
    reply.answers.n = 1;
    dns_reply_write(&q, &reply, q.udp_bytes, &out);
    assert_true(out.n <= DNS_UDP_BYTES);
    assert_false(dns_reply_is_cut(buf_str(&out)));
}

static int begin(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_read_or_refused),
        cmocka_unit_test(a_question_is_taken_apart),
        cmocka_unit_test(names_are_compared_from_the_right),
        cmocka_unit_test(a_reply_is_written_and_read_again),
        cmocka_unit_test(what_does_not_fit_is_cut_off_and_says_so),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
