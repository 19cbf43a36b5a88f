/* The commands on a data folder that nobody serves from: what they print and how they end. */
#include "main/command.h"

#include <getopt.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "main/folder_test.h"
#include "main/instance.h"
#include "store/store.h"

enum { WORDS_MAX = 6 };

static const char *data, *file; /* the folder of a control plane, and a name for a backup */

/* ---- Running a command ---- */

struct outcome {
    int status;
    const char *out, *err;
};

static int redirect(int fd, FILE *to)
{
    int old = dup(fd);
    assert_true(old >= 0 && dup2(fileno(to), fd) >= 0);
    return old;
}

static void restore_fd(int fd, int old)
{
    assert_true(dup2(old, fd) >= 0);
    close(old);
}

static const char *text_in(FILE *f)
{
    char text[4096];
    rewind(f);
    size_t n = fread(text, 1, sizeof(text), f);
    (void)fclose(f);
    return str_cstr(&arena, (struct str){ text, n });
}

/* `words` end with NULL; the first is the name of the command. */
static struct outcome run_words(int (*command)(int, char **), const char *const *words)
{
    char *argv[WORDS_MAX + 1] = { 0 };
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = (char *)words[argc];
    FILE *out = tmpfile(), *err = tmpfile();
    assert_true(out && err);
    fflush(NULL);
    int old_out = redirect(STDOUT_FILENO, out), old_err = redirect(STDERR_FILENO, err);
    optind = 0; /* glibc: start over */
    struct outcome o = { .status = command(argc, argv) };
    fflush(NULL);
    restore_fd(STDOUT_FILENO, old_out);
    restore_fd(STDERR_FILENO, old_err);
    o.out = text_in(out);
    o.err = text_in(err);
    return o;
}
#define RUN(command, ...) run_words(command, (const char *const[]){ __VA_ARGS__, NULL })

/* ---- A folder ---- */

static int setup(void **state)
{
    if (make_folder(state) < 0)
        return -1;
    data = path_of("data");
    file = path_of("backup");
    return 0;
}

static const char *store_dir(const char *of)
{
    return str_cstr(&arena, arena_printf(&arena, "%s/store", of));
}

static void put_object(const char *key, const char *value)
{
    struct store *s;
    struct store_options opt = { .engine = STORE_LMDB, .dir = store_dir(data) };
    assert_int_equal(file_private_dir(data, NULL), 0);
    assert_int_equal(store_open(&opt, &s, NULL), 0);
    struct store_op op = {
        .type = STORE_PUT, .key = str_of(key), .value = str_of(value), .expect_rev = STORE_ANY
    };
    assert_int_equal(store_commit(s, &(struct store_txn){ .ops = &op, .n_ops = 1 }, NULL), 0);
    store_close(s);
}

/* The value of a key in a folder, and the revision of its store. */
static const char *object_in(const char *of, const char *key, uint64_t *ret_rev)
{
    struct store *s;
    struct store_snap *snap;
    struct store_entry e;
    struct store_options opt = { .engine = STORE_LMDB, .dir = store_dir(of) };
    assert_int_equal(store_open(&opt, &s, NULL), 0);
    *ret_rev = store_rev(s);
    assert_int_equal(store_snap_begin(s, 0, &snap, NULL), 0);
    assert_int_equal(store_snap_get(snap, str_of(key), &e, NULL), 1);
    const char *value = str_cstr(&arena, e.value);
    store_snap_end(snap);
    store_close(s);
    return value;
}

/* ---- Tests ---- */

/* Each has a --help, refuses what it does not know, and says where to look. */
static void words_that_are_wrong_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int (*command)(int, char **);
        bool wants_file;
    } commands[] = {
        { "down", cmd_down, false },    { "status", cmd_status, false },
        { "backup", cmd_backup, true }, { "restore", cmd_restore, true },
        { "check", cmd_check, false },  { "scrub", cmd_scrub, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const char *name = commands[i].name;
        struct outcome o = RUN(commands[i].command, name, "--help");
        assert_int_equal(o.status, 0);
        assert_true(str_starts(str_of(o.out), arena_printf(&arena, "Usage: sampan %s ", name)));
        const char *see = arena_printf(&arena, "See 'sampan %s --help'.\n", name).p;
        o = RUN(commands[i].command, name, "--no-such-flag");
        assert_int_equal(o.status, EXIT_MISUSED);
        assert_non_null(strstr(o.err, see));
        o = RUN(commands[i].command, name, "--data-dir");
        assert_int_equal(o.status, EXIT_MISUSED);
        o = RUN(commands[i].command, name, "one", "two");
        assert_int_equal(o.status, EXIT_MISUSED);
        const char *word = commands[i].wants_file ? "two" : "one";
        assert_string_equal(
            o.err,
            arena_printf(&arena, "sampan %s: unexpected argument '%s'\n%s", name, word, see).p);
        if (!commands[i].wants_file)
            continue;
        o = RUN(commands[i].command, name);
        assert_int_equal(o.status, EXIT_MISUSED);
        assert_non_null(strstr(o.err, "FILE is missing"));
    }
}

static void nothing_runs_in_an_empty_folder(void **state)
{
    (void)state;
    const char *said = arena_printf(&arena, "sampan is not running in %s\n", data).p;
    struct outcome o = RUN(cmd_status, "status", "--data-dir", data);
    assert_int_equal(o.status, 3);
    assert_string_equal(o.out, said);
    o = RUN(cmd_down, "down", "--data-dir", data);
    assert_int_equal(o.status, 0); /* it is as it was asked to be */
    assert_string_equal(o.out, said);
    assert_int_equal(access(data, F_OK), -1); /* and nothing was made */
}

/* Somebody has the folder, but does not serve yet. */
static void what_still_starts_is_left_alone(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autoclose int lock = instance_claim(data, &err);
    assert_true(lock >= 0);
    struct outcome o = RUN(cmd_backup, "backup", "--data-dir", data, file);
    assert_int_equal(o.status, 1);
    assert_non_null(strstr(o.err, "is still starting"));
    assert_int_equal(access(file, F_OK), -1);
    o = RUN(cmd_check, "check", "--data-dir", data);
    assert_int_equal(o.status, 1);
    assert_non_null(strstr(o.err, "the control plane is running"));
    o = RUN(cmd_restore, "restore", "--data-dir", data, file);
    assert_int_equal(o.status, 1);
}

static void a_backup_comes_back(void **state)
{
    (void)state;
    uint64_t rev, rev_before;
    const char *other = path_of("other");
    put_object("/registry/a", "first");
    put_object("/registry/a", "second");
    (void)object_in(data, "/registry/a", &rev_before);

    struct outcome o = RUN(cmd_backup, "backup", "--data-dir", data, file);
    assert_int_equal(o.status, 0);
    o = RUN(cmd_backup, "backup", "--data-dir", data, file);
    assert_int_equal(o.status, 1); /* a backup is never written over */
    assert_non_null(strstr(o.err, "already exists"));
    o = RUN(cmd_restore, "restore", "--data-dir", data, file);
    assert_int_equal(o.status, 1); /* nor are objects */

    o = RUN(cmd_restore, "restore", "--data-dir", other, "--bump-revision=100", file);
    assert_int_equal(o.status, 0);
    assert_string_equal(object_in(other, "/registry/a", &rev), "second");
    assert_int_equal(rev, rev_before + 100);
    o = RUN(cmd_check, "check", "--data-dir", other);
    assert_int_equal(o.status, 0);
    assert_string_equal(o.out, "no damage found\n");
}

static void a_bump_is_a_number_and_only_of_a_restore(void **state)
{
    (void)state;
    static const char *const bad[] = { "--bump-revision=x", "--bump-revision=-1",
                                       "--bump-revision=", "--bump-revision=18446744073709551616" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(RUN(cmd_restore, "restore", bad[i], file).status, EXIT_MISUSED);
    assert_int_equal(RUN(cmd_backup, "backup", "--bump-revision=1", file).status, EXIT_MISUSED);
}

static void a_file_that_is_no_backup_makes_no_store(void **state)
{
    (void)state;
    struct outcome o = RUN(cmd_restore, "restore", "--data-dir", data, file);
    assert_int_equal(o.status, 1);
    assert_non_null(strstr(o.err, file));
    assert_int_equal(file_write_atomic(file, STR("text"), 0600, FILE_CHEAP, NULL), 0);
    o = RUN(cmd_restore, "restore", "--data-dir", data, file);
    assert_int_equal(o.status, 1);
    assert_int_equal(access(store_dir(data), F_OK), -1);
}

/* A value that changed on disk is named by a check and taken out by a repair. */
static void damage_is_named_and_repaired(void **state)
{
    (void)state;
    put_object("/registry/a", "first");
    const char *view = str_cstr(&arena, arena_printf(&arena, "%s/store/view.mdb", data));
    autobuf bytes = { 0 };
    assert_int_equal(file_read(view, 64 << 20, &bytes, NULL), 0);
    char *at = memmem(bytes.p, bytes.n, "first", 5);
    assert_non_null(at);
    for (; at; at = memmem(at, (size_t)(bytes.p + bytes.n - at), "first", 5))
        at[0] = 'F';
    assert_int_equal(file_write_atomic(view, buf_str(&bytes), 0600, FILE_CHEAP, NULL), 0);

    struct outcome o = RUN(cmd_backup, "backup", "--data-dir", data, file);
    assert_int_equal(o.status, 1);
    assert_int_equal(access(file, F_OK), -1);
    o = RUN(cmd_backup, "backup", "--data-dir", data, "--skip-damaged", file);
    assert_int_equal(o.status, 0);
    assert_non_null(strstr(o.err, "left out /registry/a: "));

    o = RUN(cmd_check, "check", "--data-dir", data);
    assert_int_equal(o.status, 1);
    assert_true(str_starts(str_of(o.out), STR("damaged /registry/a: ")));
    o = RUN(cmd_check, "check", "--data-dir", data, "--repair");
    assert_int_equal(o.status, 0);
    assert_true(str_starts(str_of(o.out), STR("taken out /registry/a: ")));
    assert_non_null(strstr(o.out, "no damage found\n"));
    const char *kept = str_cstr(&arena, arena_printf(&arena, "%s/store/damaged.1/1", data));
    assert_int_equal(access(kept, F_OK), 0);
    o = RUN(cmd_check, "check", "--data-dir", data);
    assert_int_equal(o.status, 0);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(words_that_are_wrong_are_refused),
        IN_PLACE(nothing_runs_in_an_empty_folder),
        IN_PLACE(what_still_starts_is_left_alone),
        IN_PLACE(a_backup_comes_back),
        IN_PLACE(a_bump_is_a_number_and_only_of_a_restore),
        IN_PLACE(a_file_that_is_no_backup_makes_no_store),
        IN_PLACE(damage_is_named_and_repaired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
