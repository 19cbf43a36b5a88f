/* Errands of requests on a real server: the answer comes back to the one that waits, others are
 * served meanwhile, and whoever goes away takes nothing along that is still needed. */
#include "server/guard/errand.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "server/http/reply.h"
#include "server/http/suite_server.h"

/* ---- The fixture ---- */

struct shop {
    struct suite_server server;
    struct workers *workers;
    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t changed;
    bool is_open; /* errands can be run to their end */
    int started, ran, back, over;
};

static struct shop shop;

struct question {
    struct errand errand;
    struct str text, answer;
};

static void count(int *n)
{
    pthread_mutex_lock(&shop.lock);
    (*n)++;
    pthread_cond_broadcast(&shop.changed);
    pthread_mutex_unlock(&shop.lock);
}

static void wait_for(const int *n, int want)
{
    pthread_mutex_lock(&shop.lock);
    while (*n < want)
        pthread_cond_wait(&shop.changed, &shop.lock);
    pthread_mutex_unlock(&shop.lock);
}

static void open_shop(void)
{
    pthread_mutex_lock(&shop.lock);
    shop.is_open = true;
    pthread_cond_broadcast(&shop.changed);
    pthread_mutex_unlock(&shop.lock);
}

static void run(struct errand *e)
{
    struct question *q = (struct question *)e;
    count(&shop.started);
    pthread_mutex_lock(&shop.lock);
    while (!shop.is_open)
        pthread_cond_wait(&shop.changed, &shop.lock);
    pthread_mutex_unlock(&shop.lock);
    q->answer = arena_printf(&e->arena, STR_FMT "!", STR_ARG(q->text));
    count(&shop.ran);
}

static void back(struct errand *e, void *arg)
{
    const struct question *q = (struct question *)e;
    struct http_exchange *x = arg;
    struct str *note = arena_new(http_arena(x), struct str);
    count(&shop.back);
    *note = arena_str(http_arena(x), q->answer);
    http_set_note(x, note);
    http_go_on(x);
}

static void on_over(void *arg, struct http_exchange *x, int status)
{
    (void)arg;
    (void)x;
    (void)status;
    count(&shop.over);
}

static enum http_body_mode on_head(void *arg, struct http_exchange *x)
{
    static const struct errand_calls calls = { .run = run, .back = back };
    (void)arg;
    http_when_over(x, on_over, NULL);
    if (!str_starts(http_request_of(x)->path, STR("/ask")))
        return HTTP_BODY_COLLECT;
    struct question *q = errand_new(sizeof(*q), &calls);
    q->text = arena_str(&q->errand.arena, http_request_of(x)->path);
    if (errand_send(&q->errand, shop.workers, x, x))
        return HTTP_BODY_LATER;
    errand_free(&q->errand);
    return HTTP_BODY_COLLECT;
}

static void on_request(void *arg, struct http_exchange *x)
{
    const struct str *note = http_note(x);
    (void)arg;
    reply_text(x, 200, note ? *note : STR("nobody asked"));
}

static int start(size_t max_queued)
{
    shop = (struct shop){ .workers = workers_new(1, max_queued) };
    pthread_mutex_init(&shop.lock, NULL);
    pthread_cond_init(&shop.changed, NULL);
    suite_server_handle(
        &shop.server, &(struct http_handler){ .on_head = on_head, .on_request = on_request }, NULL);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return start(1);
}

static int setup_without_queue(void **state)
{
    (void)state;
    return start(0);
}

static int teardown(void **state)
{
    (void)state;
    open_shop();
    suite_server_stop(&shop.server);
    workers_free(shop.workers);
    suite_server_free(&shop.server);
    pthread_cond_destroy(&shop.changed);
    pthread_mutex_destroy(&shop.lock);
    return 0;
}

static const char *ask(const char *path)
{
    struct fetcher *f = fetcher_new(&(struct fetcher_options){ 0 });
    struct fetch_reply reply = suite_server_ask(&shop.server, f, "GET", path);
    fetcher_free(f);
    assert_int_equal(reply.status, 200);
    return str_cstr(&shop.server.arena, reply.body);
}

/* A client that asks and does not read. */
static int connect_and_ask(const char *path)
{
    struct str port = shop.server.address;
    uint64_t number;
    (void)str_cut(&port, ':');
    assert_true(str_to_u64(port, &number));
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)number),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    struct str text =
        arena_printf(&shop.server.arena, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    assert_int_equal(write(fd, text.p, text.n), text.n);
    return fd;
}

/* ---- The tests ---- */

static void the_answer_comes_back(void **state)
{
    (void)state;
    open_shop();
    assert_string_equal(ask("/ask/a"), "/ask/a!");
    assert_string_equal(ask("/ask/b"), "/ask/b!");
}

static void others_are_served_meanwhile(void **state)
{
    (void)state;
    int fd = connect_and_ask("/ask/slow");
    wait_for(&shop.started, 1);
    assert_string_equal(ask("/plain"), "nobody asked");
    assert_int_equal(shop.back, 0);
    open_shop();
    wait_for(&shop.back, 1);
    close(fd);
}

static void a_full_queue_says_so(void **state)
{
    (void)state;
    int first = connect_and_ask("/ask/1");
    wait_for(&shop.started, 1);
    assert_string_equal(ask("/ask/2"), "nobody asked");
    open_shop();
    wait_for(&shop.back, 1);
    close(first);
}

static void who_is_gone_is_not_told(void **state)
{
    (void)state;
    int fd = connect_and_ask("/ask/gone");
    wait_for(&shop.started, 1);
    close(fd);
    wait_for(&shop.over, 1);
    open_shop();
    assert_string_equal(ask("/ask/after"), "/ask/after!");
    assert_int_equal(shop.ran, 2);
    assert_int_equal(shop.back, 1);
}

static void who_is_gone_while_queued_is_not_asked_for(void **state)
{
    (void)state;
    int first = connect_and_ask("/ask/1");
    wait_for(&shop.started, 1);
    int second = connect_and_ask("/ask/2");
    close(second);
    wait_for(&shop.over, 1);
    open_shop();
    wait_for(&shop.back, 1);
    assert_string_equal(ask("/ask/3"), "/ask/3!");
    assert_int_equal(shop.ran, 2);
    close(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_answer_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(others_are_served_meanwhile, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_queue_says_so, setup_without_queue, teardown),
        cmocka_unit_test_setup_teardown(who_is_gone_is_not_told, setup, teardown),
        cmocka_unit_test_setup_teardown(who_is_gone_while_queued_is_not_asked_for, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
