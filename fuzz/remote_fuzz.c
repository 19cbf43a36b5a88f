/* What an etcd answers, and values that somebody else has put there: whatever the bytes are, they
 * are read or refused. What the mirror keeps of a value is an object, and goes back to etcd in a
 * form that gives the same object again. The input is one message, or one value. */
#include <stdlib.h>

#include "remote/remote_wire.h"
#include "server/object/etcd_form.h"
#include "server/object/stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static struct str tea(void *arg, struct arena *a, struct str group, struct str plural)
{
    (void)arg;
    (void)a;
    (void)group;
    (void)plural;
    return STR("Tea");
}

static void read_answers(struct arena *a, struct str message)
{
    struct remote_list list;
    struct remote_outcome outcome;
    struct remote_news news;
    if (remote_list_read(a, message, &list))
        for (size_t i = 0; i < list.n_kvs; i++)
            must(list.kvs[i].key.n > 0);
    if (remote_outcome_read(a, message, &outcome))
        must(outcome.rev && (!outcome.succeeded || !outcome.n_found));
    if (remote_news_read(a, message, &news))
        for (size_t i = 0; i < news.n_events; i++)
            must(news.events[i].kv.mod_rev && news.events[i].kv.key.n);
}

static void read_key(struct arena *a, struct str key)
{
    struct str local;
    autobuf back = { 0 };
    if (!remote_key_read(a, STR("/registry"), key, &local))
        return;
    remote_key_write(&back, STR("/registry"), local);
    /* A key of ours that looks like a shared one lies with the shared ones from then on. */
    must(str_eq(buf_str(&back), key) || str_starts(key, STR("/registry/sampan.dev/own/")));
}

static void keep_value(struct etcd_form *f, struct arena *a, struct str key, struct str value)
{
    autobuf kept = { 0 };
    autobuf sealed = { 0 };
    autobuf again = { 0 };
    struct stored parts;
    if (!etcd_form_keep(&f->codec, key, value, &kept))
        return;
    struct store_entry e = { .key = key, .value = buf_str(&kept) };
    must(stored_open(&e, &parts, NULL) == 0);
    struct err err = ERR_INIT(a);
    if (f->codec.seal(&f->codec, key, e.value, &sealed, &err) < 0)
        return; /* of another kind than the key says */
    if (etcd_form_keep(&f->codec, key, buf_str(&sealed), &again))
        must(again.n > 0);
    must(f->codec.open(&f->codec, a, &e, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str message = { (const char *)bytes, n };
    struct etcd_form form;
    struct arena a;
    arena_init(&a);
    etcd_form_init(&form);
    form.kind_of = tea;
    read_answers(&a, message);
    read_key(&a, message);
    keep_value(&form, &a, STR("/registry/pods/ns/a"), message);
    keep_value(&form, &a, STR("/registry/configmaps/ns/a"), message);
    keep_value(&form, &a, STR("/registry/example.com/teas/ns/a"), message);
    keep_value(&form, &a, STR("/registry/apiregistration.k8s.io/apiservices/v1.a"), message);
    arena_done(&a);
    return 0;
}
