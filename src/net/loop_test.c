#include "net/loop.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"

static struct loop *loop; /* of the running test */

static int make_loop(void **state)
{
    (void)state;
    loop = loop_new(NULL, NULL);
    return loop ? 0 : -1;
}

static int free_loop(void **state)
{
    (void)state;
    loop = loop_free(loop);
    return 0;
}

/* ---- Descriptors ---- */

struct end {
    struct loop_fd f;
    struct end *peer;
    int calls;
    uint32_t seen;
};

static void make_ends(struct end ends[2], void (*on_ready)(struct loop_fd *, uint32_t))
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    for (int i = 0; i < 2; i++) {
        ends[i] = (struct end){ .f = { .fd = fds[i], .events = EPOLLIN, .on_ready = on_ready },
                                .peer = &ends[!i] };
        assert_int_equal(loop_fd_add(loop, &ends[i].f, NULL), 0);
        assert_int_equal(write(fds[i], "x", 1), 1);
    }
}

static void close_ends(struct end ends[2])
{
    for (int i = 0; i < 2; i++) {
        loop_fd_remove(&ends[i].f);
        close(ends[i].f.fd);
    }
}

static void remove_both(struct loop_fd *f, uint32_t events)
{
    (void)events;
    struct end *e = (struct end *)f;
    e->calls++;
    loop_fd_remove(&e->f);
    loop_fd_remove(&e->peer->f);
    loop_stop(loop);
}

static void an_event_of_a_removed_descriptor_is_dropped(void **state)
{
    (void)state;
    struct end ends[2];
    make_ends(ends, remove_both);
    loop_run(loop);
    assert_int_equal(ends[0].calls + ends[1].calls, 1);
    close_ends(ends);
}

static struct end newcomer;

static void on_newcomer(struct loop_fd *f, uint32_t events)
{
    (void)events;
    ((struct end *)f)->calls++;
}

static void replace_peer(struct loop_fd *f, uint32_t events)
{
    (void)events;
    struct end *e = (struct end *)f;
    e->calls++;
    loop_fd_remove(&e->f);
    loop_fd_remove(&e->peer->f);
    /* Takes the slot of the peer, whose event is already fetched. */
    newcomer.f = (struct loop_fd){ .fd = e->peer->f.fd, .events = 0, .on_ready = on_newcomer };
    assert_int_equal(loop_fd_add(loop, &newcomer.f, NULL), 0);
    loop_stop(loop);
}

static void a_new_owner_of_a_slot_does_not_get_old_events(void **state)
{
    (void)state;
    struct end ends[2];
    newcomer = (struct end){ 0 };
    make_ends(ends, replace_peer);
    loop_run(loop);
    assert_int_equal(ends[0].calls + ends[1].calls, 1);
    assert_int_equal(newcomer.calls, 0);
    loop_fd_remove(&newcomer.f);
    close_ends(ends);
}

static void want_then_stop(struct loop_fd *f, uint32_t events)
{
    struct end *e = (struct end *)f;
    e->seen |= events;
    if (events & EPOLLOUT) {
        loop_stop(loop);
        return;
    }
    loop_fd_want(f, EPOLLOUT);
}

static void what_is_waited_for_can_change(void **state)
{
    (void)state;
    struct end ends[2];
    make_ends(ends, want_then_stop);
    loop_run(loop);
    assert_true((ends[0].seen | ends[1].seen) & EPOLLOUT);
    close_ends(ends);
}

static void a_descriptor_that_cannot_be_watched_is_an_error(void **state)
{
    (void)state;
    struct loop_fd f = { .fd = -1, .events = EPOLLIN };
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    assert_true(loop_fd_add(loop, &f, &err) < 0);
    loop_fd_remove(&f);
    arena_done(&a);
}

/* ---- Timers ---- */

enum { TIMERS = 1000 };

struct numbered {
    struct loop_timer t;
    int64_t due;
    bool fired;
};

static int64_t last_due;
static size_t fired, wanted;

static void on_numbered(struct loop_timer *t)
{
    struct numbered *n = (struct numbered *)t;
    assert_false(n->fired);
    n->fired = true;
    assert_true(n->due >= last_due);
    last_due = n->due;
    if (++fired == wanted)
        loop_stop(loop);
}

static void timers_fire_in_order_after_moves_and_cancels(void **state)
{
    (void)state;
    struct numbered *timers = mem_array(TIMERS, sizeof(*timers));
    uint32_t seed = 1;
    int64_t now = loop_now_ns(loop);
    last_due = 0;
    fired = wanted = 0;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < TIMERS; i++) {
            seed = seed * 1664525 + 1013904223;
            timers[i].t.on_fire = on_numbered;
            timers[i].due = now + (seed >> 8) % (20 * NS_PER_MS);
            loop_timer_set(loop, &timers[i].t, timers[i].due);
        }
    }
    for (size_t i = 0; i < TIMERS; i++) {
        if (i % 3 == 0)
            loop_timer_cancel(&timers[i].t);
        wanted += i % 3 != 0;
    }
    loop_run(loop);
    for (size_t i = 0; i < TIMERS; i++)
        assert_int_equal(timers[i].fired, i % 3 != 0);
    free(timers);
}

static int rounds;

static void set_again(struct loop_timer *t)
{
    if (++rounds == 5)
        loop_stop(loop);
    else
        loop_timer_set(loop, t, loop_now_ns(loop));
}

static void a_timer_set_to_now_does_not_hold_the_turn(void **state)
{
    (void)state;
    rounds = 0;
    struct loop_timer t = { .on_fire = set_again };
    loop_timer_set(loop, &t, 0);
    loop_run(loop);
    assert_int_equal(rounds, 5);
}

static void stop_on_fire(struct loop_timer *t)
{
    (void)t;
    loop_stop(loop);
}

static void nothing(struct loop *l, struct loop_msg *m)
{
    (void)l;
    (void)m;
}

static void *advance_and_post(void *arg)
{
    static struct loop_msg m = { .run = nothing };
    clock_fake_advance(arg, 3600 * NS_PER_SEC);
    loop_post(loop, &m);
    return NULL;
}

static void an_injected_clock_drives_timers(void **state)
{
    (void)state;
    struct clock_fake fake;
    clock_fake_init(&fake, 0);
    loop_free(loop);
    loop = loop_new(&fake.clock, NULL);
    struct loop_timer t = { .on_fire = stop_on_fire };
    loop_timer_set(loop, &t, 3600 * NS_PER_SEC);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, advance_and_post, &fake), 0);
    loop_run(loop);
    assert_int_equal(loop_now_ns(loop), 3600 * NS_PER_SEC);
    pthread_join(thread, NULL);
}

/* ---- Messages ---- */

enum { POSTERS = 4, POSTS = 5000 };

struct post {
    struct loop_msg m;
    int poster, number;
};

static int next_number[POSTERS];
static int posts_left;

static void on_post(struct loop *l, struct loop_msg *m)
{
    struct post *p = (struct post *)m;
    assert_int_equal(p->number, next_number[p->poster]++);
    free(p);
    if (--posts_left == 0)
        loop_stop(l);
}

static void *post_many(void *arg)
{
    int poster = (int)(intptr_t)arg;
    for (int i = 0; i < POSTS; i++) {
        struct post *p = mem_new(struct post);
        *p = (struct post){ .m.run = on_post, .poster = poster, .number = i };
        loop_post(loop, &p->m);
    }
    return NULL;
}

static void posts_of_one_thread_stay_in_order(void **state)
{
    (void)state;
    pthread_t threads[POSTERS];
    posts_left = POSTERS * POSTS;
    for (int i = 0; i < POSTERS; i++) {
        next_number[i] = 0;
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, (void *)(intptr_t)i), 0);
    }
    loop_run(loop);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(posts_left, 0);
}

/* Posts one message, waits for its answer, posts the next: a wake-up that is lost is never made
 * good by a later one. */
enum { TALKS = 20000, TALK_SECONDS = 20 };

struct talk {
    struct loop_msg m;
    sem_t answered;
};

static atomic_int talkers;

static void answer_talk(struct loop *l, struct loop_msg *m)
{
    (void)l;
    (void)sem_post(&((struct talk *)m)->answered);
}

static void *talk_much(void *arg)
{
    struct talk talk = { .m.run = answer_talk };
    bool *lost = arg;
    (void)sem_init(&talk.answered, 0, 0);
    for (int i = 0; i < TALKS && !*lost; i++) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += TALK_SECONDS;
        loop_post(loop, &talk.m);
        *lost = sem_timedwait(&talk.answered, &until) < 0;
    }
    (void)sem_destroy(&talk.answered);
    if (atomic_fetch_sub(&talkers, 1) == 1)
        loop_stop(loop);
    return NULL;
}

static void no_wake_up_is_lost(void **state)
{
    (void)state;
    pthread_t threads[2];
    bool lost[2] = { false, false };
    atomic_store(&talkers, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, talk_much, &lost[i]), 0);
    loop_run(loop);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_false(lost[i]);
    }
}

static void count_down(struct loop *l, struct loop_msg *m)
{
    if (++rounds < 3)
        loop_defer(l, m);
    else
        loop_stop(l);
}

static void deferred_work_runs_before_sleeping(void **state)
{
    (void)state;
    struct loop_msg m = { .run = count_down };
    rounds = 0;
    loop_defer(loop, &m);
    loop_run(loop); /* would sleep for ever if it slept first */
    assert_int_equal(rounds, 3);
}

static void what_is_left_in_the_mailbox_runs_on_free(void **state)
{
    (void)state;
    struct loop_msg m = { .run = count_down };
    rounds = 2;
    loop_post(loop, &m);
    loop = loop_free(loop);
    assert_int_equal(rounds, 3);
}

struct piece {
    struct loop_msg msg;
    size_t ran_in; /* which turn */
};

static struct {
    struct loop_msg msg;
    size_t n;
} turns;

static void count_turn(struct loop *l, struct loop_msg *m)
{
    if (++turns.n == 10)
        loop_stop(l);
    else
        loop_defer(l, m);
}

static void note_turn(struct loop *l, struct loop_msg *m)
{
    (void)l;
    ((struct piece *)m)->ran_in = turns.n;
}

/* Others have their turn between any two pieces. */
static void long_work_takes_one_turn_each(void **state)
{
    (void)state;
    struct loop *l = loop_new(NULL, NULL);
    struct piece pieces[3] = { 0 };
    turns.msg.run = count_turn;
    loop_defer(l, &turns.msg);
    for (size_t i = 0; i < 3; i++) {
        pieces[i].msg.run = note_turn;
        loop_later(l, &pieces[i].msg);
    }
    loop_run(l);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pieces[i].ran_in, i);
    pieces[0].ran_in = 0;
    loop_later(l, &pieces[0].msg); /* freeing runs what is left */
    loop_free(l);
    assert_int_equal(pieces[0].ran_in, 10);
}

int main(void)
{
#define LOOP_TEST(name) cmocka_unit_test_setup_teardown(name, make_loop, free_loop)
    const struct CMUnitTest tests[] = {
        LOOP_TEST(an_event_of_a_removed_descriptor_is_dropped),
        LOOP_TEST(a_new_owner_of_a_slot_does_not_get_old_events),
        LOOP_TEST(what_is_waited_for_can_change),
        LOOP_TEST(a_descriptor_that_cannot_be_watched_is_an_error),
        LOOP_TEST(timers_fire_in_order_after_moves_and_cancels),
        LOOP_TEST(a_timer_set_to_now_does_not_hold_the_turn),
        LOOP_TEST(an_injected_clock_drives_timers),
        LOOP_TEST(posts_of_one_thread_stay_in_order),
        LOOP_TEST(no_wake_up_is_lost),
        LOOP_TEST(deferred_work_runs_before_sleeping),
        LOOP_TEST(what_is_left_in_the_mailbox_runs_on_free),
        cmocka_unit_test(long_work_takes_one_turn_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
