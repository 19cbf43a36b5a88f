#include "server/audit/audit_late.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/workers.h"
#include "base/banned.h"

struct job {
    struct work work;
    struct audit *audit;
    struct audit_late late; /* its texts follow */
    size_t bytes;
    char texts[];
};

static struct str put(char **to, struct str s)
{
    char *start = *to;
    if (s.n)
        memcpy(start, s.p, s.n);
    *to += s.n;
    return (struct str){ start, s.n };
}

static struct job *job_new(struct audit *au, const struct audit_late *late, size_t bytes)
{
    struct job *job = mem_alloc(sizeof(*job) + bytes);
    *job = (struct job){ .audit = au, .late = *late, .bytes = bytes };
    char *to = job->texts;
    job->late.event = put(&to, late->event);
    job->late.words = put(&to, late->words);
    job->late.form.type = put(&to, late->form.type);
    job->late.form.encoding = put(&to, late->form.encoding);
    job->late.answer = put(&to, late->answer);
    return job;
}

/* An event of a request that was served ends with annotations. */
static void note_truncated(struct buf *event)
{
    struct str text = buf_str(event);
    if (!str_ends(text, STR("\"}}")))
        return;
    event->n -= 2;
    buf_str_add(event, STR(",\"audit.k8s.io/truncated\":\"true\"}}"));
}

static void write_event(struct buf *out, const struct audit_late *late,
                        const struct audit_answer *answer)
{
    buf_reserve(out, late->event.n + answer->object.n + 64);
    buf_str_add(out, str_take(late->event, late->at));
    if (answer->object.n) {
        buf_str_add(out, STR(",\"responseObject\":"));
        buf_str_add(out, buf_str(&answer->object));
    }
    buf_str_add(out, str_skip(late->event, late->at));
    if (answer->is_too_large)
        note_truncated(out);
}

static void run(struct work *w)
{
    struct job *job = container_of(w, struct job, work);
    struct audit_answer answer;
    struct arena scratch;
    autobuf event = { 0 };
    arena_init(&scratch);
    audit_answer_read(&scratch, &job->late.form, job->late.answer, true, job->late.omits_managers,
                      &answer);
    write_event(&event, &job->late, &answer);
    (void)audit_record(job->audit, buf_str(&event), job->late.words);
    audit_answer_done(&answer);
    arena_done(&scratch);
    audit_late_done(job->audit, job->bytes);
    free(job);
}

bool audit_late_record(struct audit *au, const struct audit_late *late)
{
    size_t bytes =
        late->event.n + late->words.n + late->form.type.n + late->form.encoding.n + late->answer.n;
    if (!audit_late_begin(au, bytes))
        return false;
    struct job *job = job_new(au, late, bytes);
    job->work.run = run;
    if (workers_submit(audit_workers(au), &job->work))
        return true;
    audit_late_done(au, bytes);
    free(job);
    return false;
}
