#include "main/credentials.h"

#include "base/file.h"
#include "main/folder_test.h"

enum { NOW = 1700000000, YEAR = 365 * 86400 };

static const char *fresh_folder(const char *name)
{
    struct err err = ERR_INIT(&arena);
    const char *path = path_of(name);
    assert_int_equal(file_private_dir(path, &err), 0);
    return path;
}

static int load(const char *dir, int64_t ttl_sec, bool new_ca, struct credentials *ret,
                struct err *err)
{
    const struct credentials_options opt = {
        .dir = dir, .host = STR("127.0.0.1"), .ttl_sec = ttl_sec, .new_ca = new_ca
    };
    return credentials_load(&arena, &opt, NOW, ret, err);
}

static void load_well(const char *dir, struct credentials *ret)
{
    struct err err = ERR_INIT(&arena);
    assert_int_equal(load(dir, 0, false, ret, &err), 0);
}

static void authority_is_made_once_and_kept(void **state)
{
    (void)state;
    struct credentials first, second;
    const char *dir = fresh_folder("kept");
    load_well(dir, &first);
    assert_int_equal(mode_of(path_of("kept/pki")), 0700);
    assert_int_equal(mode_of(path_of("kept/pki/ca.key")), 0600);
    assert_int_not_equal(access(path_of("kept/pki.new"), F_OK), 0);
    load_well(dir, &second);
    assert_true(str_eq(first.ca.cert_pem, second.ca.cert_pem));
    assert_true(str_eq(first.ca.key_pem, second.ca.key_pem));
    assert_false(str_eq(first.server.cert_pem, second.server.cert_pem));
    assert_false(str_eq(first.admin.key_pem, second.admin.key_pem));
}

static void renewal_comes_after_two_thirds(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct credentials c;
    const char *dir = fresh_folder("renewal");
    load_well(dir, &c);
    assert_int_equal(c.renew_sec, NOW + (int64_t)YEAR * 2 / 3);
    assert_int_equal(load(dir, 90, false, &c, &err), 0);
    assert_int_equal(c.renew_sec, NOW + 60);
    int64_t end;
    assert_int_equal(pki_not_after(c.admin.cert_pem, &end, &err), 0);
    assert_int_equal(end, NOW + 90);
}

static void lost_file_is_named_and_not_replaced(void **state)
{
    (void)state;
    const char *const lost[] = { "lost/pki/ca.key", "lost/pki/ca.crt" };
    const char *dir = fresh_folder("lost");
    struct credentials c;
    load_well(dir, &c);
    for (size_t i = 0; i < 2; i++) {
        struct err err = ERR_INIT(&arena);
        assert_int_equal(rename(path_of(lost[i]), path_of("aside")), 0);
        assert_int_equal(load(dir, 0, false, &c, &err), -ERR_NOT_FOUND);
        assert_says(&err, lost[i]);
        assert_says(&err, "--new-ca");
        assert_int_not_equal(access(path_of(lost[i]), F_OK), 0);
        assert_int_equal(rename(path_of("aside"), path_of(lost[i])), 0);
    }
}

static void new_authority_keeps_what_is_left_of_the_old(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct credentials old, fresh;
    const char *dir = fresh_folder("again");
    load_well(dir, &old);
    assert_int_equal(unlink(path_of("again/pki/ca.key")), 0);
    assert_int_equal(load(dir, 0, true, &fresh, &err), 0);
    assert_false(str_eq(old.ca.cert_pem, fresh.ca.cert_pem));
    autobuf kept = { 0 };
    const char *aside = path_of(arena_printf(&arena, "again/pki.lost-%d/ca.crt", NOW).p);
    assert_int_equal(file_read(aside, 65536, &kept, &err), 0);
    assert_true(str_eq(buf_str(&kept), old.ca.cert_pem));
}

/* --new-ca replaces what is lost, never what is there. */
static void whole_authority_is_never_replaced(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct credentials old, fresh;
    const char *dir = fresh_folder("whole");
    load_well(dir, &old);
    assert_int_equal(load(dir, 0, true, &fresh, &err), 0);
    assert_true(str_eq(old.ca.cert_pem, fresh.ca.cert_pem));
}

static void kubeconfig_without_an_authority_is_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct credentials c;
    const char *dir = fresh_folder("config");
    load_well(dir, &c);
    const char *file = credentials_kubeconfig(&arena, dir);
    assert_int_equal(credentials_write(&c, dir, STR("127.0.0.1:1"), file, &err), 0);
    assert_int_equal(rename(path_of("config/pki"), path_of("config/elsewhere")), 0);
    assert_int_equal(load(dir, 0, false, &c, &err), -ERR_NOT_FOUND);
    assert_says(&err, "ca.crt is missing");
}

static void key_that_others_can_read_is_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct credentials c;
    const char *dir = fresh_folder("readable");
    load_well(dir, &c);
    assert_int_equal(chmod(path_of("readable/pki/ca.key"), 0640), 0);
    assert_int_equal(load(dir, 0, false, &c, &err), -ERR_FORBIDDEN);
    assert_says(&err, "ca.key");
}

static void kubeconfig_is_private_and_names_the_server(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct credentials c;
    const char *dir = fresh_folder("kubeconfig");
    load_well(dir, &c);
    const char *file = credentials_kubeconfig(&arena, dir);
    assert_string_equal(file, path_of("kubeconfig/admin.kubeconfig"));
    assert_int_equal(credentials_write(&c, dir, STR("[::1]:6443"), file, &err), 0);
    assert_int_equal(mode_of(file), 0600);
    autobuf text = { 0 };
    assert_int_equal(file_read(file, 1 << 20, &text, &err), 0);
    buf_byte(&text, '\0');
    assert_non_null(strstr(text.p, "    server: https://[::1]:6443\n"));
    assert_non_null(strstr(text.p, "current-context: sampan\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(authority_is_made_once_and_kept),
        cmocka_unit_test(renewal_comes_after_two_thirds),
        cmocka_unit_test(lost_file_is_named_and_not_replaced),
        cmocka_unit_test(new_authority_keeps_what_is_left_of_the_old),
        cmocka_unit_test(whole_authority_is_never_replaced),
        cmocka_unit_test(kubeconfig_without_an_authority_is_refused),
        cmocka_unit_test(key_that_others_can_read_is_refused),
        cmocka_unit_test(kubeconfig_is_private_and_names_the_server),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
