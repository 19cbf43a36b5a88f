/* etcd_form.h - objects as they lie in etcd, where kube-apiserver reads them, too.
 *
 * Built-in kinds are protobuf in their envelope, definitions of custom kinds and APIServices are
 * JSON, as upstream has them, and so are objects of custom kinds. It is the codec (store.h) of a
 * store that is a mirror of etcd: what is written is turned into this form, and what comes from
 * etcd into the stored form (stored.h), which the mirror keeps. What is encrypted stays so in the
 * mirror and is opened by who reads it. Bytes that are no object of ours are left as they are. */
#pragma once

#include "base/buf.h"
#include "store/store.h"

struct etcd_form {
    struct store_codec codec;  /* first */
    struct store_codec *inner; /* that encrypts; NULL: none */
    /* The kind of a custom resource, in the arena; empty if it is not known. */
    struct str (*kind_of)(void *arg, struct arena *a, struct str group, struct str plural);
    void *arg;
};

void etcd_form_init(struct etcd_form *f);

/* What the mirror keeps of a value of etcd: 1 and `out`, or 0: as it is. Any thread. */
int etcd_form_keep(struct store_codec *c, struct str key, struct str value, struct buf *out);
