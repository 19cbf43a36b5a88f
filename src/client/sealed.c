#include "client/sealed.h"

#include <pthread.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/banned.h"

/* Codes are control characters: the first words have one each, the rest MORE and a letter. Two
 * stand for a whole member of the metadata. */
enum { FIRST = 1, N_SHORT = 28, OWN_NAME = 0x1d, OWN_NS = 0x1e, MORE = 0x1f, SLOTS = 256 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/* The most common ones first. New words go to the end, but nobody outside keeps sealed text. */
static const struct str words[] = {
    STR("apiVersion"),
    STR("kind"),
    STR("metadata"),
    STR("name"),
    STR("namespace"),
    STR("uid"),
    STR("resourceVersion"),
    STR("creationTimestamp"),
    STR("labels"),
    STR("annotations"),
    STR("generation"),
    STR("ownerReferences"),
    STR("spec"),
    STR("status"),
    STR("data"),
    STR("controller"),
    STR("blockOwnerDeletion"),
    STR("generateName"),
    STR("finalizers"),
    STR("conditions"),
    STR("type"),
    STR("reason"),
    STR("message"),
    STR("lastTransitionTime"),
    STR("value"),
    STR("key"),
    STR("containers"),
    STR("image"),
    /* Two bytes each. */
    STR("resources"),
    STR("template"),
    STR("selector"),
    STR("matchLabels"),
    STR("replicas"),
    STR("ports"),
    STR("containerPort"),
    STR("protocol"),
    STR("targetPort"),
    STR("requests"),
    STR("limits"),
    STR("memory"),
    STR("volumeMounts"),
    STR("mountPath"),
    STR("readOnly"),
    STR("volumes"),
    STR("configMap"),
    STR("secret"),
    STR("projected"),
    STR("items"),
    STR("path"),
    STR("defaultMode"),
    STR("serviceAccount"),
    STR("serviceAccountName"),
    STR("schedulerName"),
    STR("restartPolicy"),
    STR("dnsPolicy"),
    STR("terminationGracePeriodSeconds"),
    STR("terminationMessagePath"),
    STR("terminationMessagePolicy"),
    STR("imagePullPolicy"),
    STR("securityContext"),
    STR("tolerations"),
    STR("effect"),
    STR("operator"),
    STR("tolerationSeconds"),
    STR("nodeName"),
    STR("enableServiceLinks"),
    STR("preemptionPolicy"),
    STR("priority"),
    STR("hostIP"),
    STR("podIP"),
    STR("podIPs"),
    STR("phase"),
    STR("startTime"),
    STR("containerStatuses"),
    STR("containerID"),
    STR("imageID"),
    STR("restartCount"),
    STR("started"),
    STR("ready"),
    STR("state"),
    STR("running"),
    STR("startedAt"),
    STR("lastState"),
    STR("qosClass"),
    STR("lastProbeTime"),
    STR("observedGeneration"),
    STR("deletionTimestamp"),
    STR("strategy"),
    STR("rollingUpdate"),
    STR("maxUnavailable"),
};
_Static_assert(ARRAY_LEN(words) <= N_SHORT + sizeof(letters) - 1, "each has a code");

/* ---- From a word to its code ---- */

static uint8_t slots[SLOTS]; /* index + 1 of a word; 0: nothing */

static size_t slot_of(struct str key)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (unsigned char)key.p[i]) * 16777619u;
    return (h ^ h >> 15) % SLOTS;
}

static void fill_slots(void)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t at = slot_of(words[i]);
        while (slots[at])
            at = (at + 1) % SLOTS;
        slots[at] = (uint8_t)(i + 1);
    }
}

/* The number of a word; ARRAY_LEN(words): it is none. */
static size_t word_of(struct str key)
{
    for (size_t at = slot_of(key); slots[at]; at = (at + 1) % SLOTS)
        if (str_eq(words[slots[at] - 1], key))
            return slots[at] - 1;
    return ARRAY_LEN(words);
}

/* ---- Writing ---- */

static void write_key(struct buf *out, struct str key)
{
    size_t word = word_of(key);
    if (word < N_SHORT) {
        buf_byte(out, (char)(FIRST + word));
    } else if (word < ARRAY_LEN(words)) {
        buf_byte(out, MORE);
        buf_byte(out, letters[word - N_SHORT]);
    } else {
        json_write_string(out, key);
        buf_byte(out, ':');
    }
}

static void write_value(struct buf *out, const struct value *v);

static void write_metadata(struct buf *out, const struct value *meta, const struct sealed_own *own)
{
    bool is_first = true;
    buf_byte(out, '{');
    value_each_field (f, meta) {
        struct str text = value_str(&f->val);
        if (!is_first)
            buf_byte(out, ',');
        is_first = false;
        if (str_eq(f->key, STR("name")) && str_eq(text, own->name)) {
            buf_byte(out, OWN_NAME);
        } else if (str_eq(f->key, STR("namespace")) && text.n && str_eq(text, own->ns)) {
            buf_byte(out, OWN_NS);
        } else {
            write_key(out, f->key);
            write_value(out, &f->val);
        }
    }
    buf_byte(out, '}');
}

/* A tree is no deeper than readers of JSON let it be. */
static void write_value(struct buf *out, const struct value *v)
{
    bool is_first = true;
    if (v->type == VALUE_OBJECT) {
        buf_byte(out, '{');
        value_each_field (f, v) {
            if (!is_first)
                buf_byte(out, ',');
            is_first = false;
            write_key(out, f->key);
            write_value(out, &f->val);
        }
        buf_byte(out, '}');
    } else if (v->type == VALUE_ARRAY) {
        buf_byte(out, '[');
        value_each_item (it, v) {
            if (!is_first)
                buf_byte(out, ',');
            is_first = false;
            write_value(out, it);
        }
        buf_byte(out, ']');
    } else {
        json_write(out, v);
    }
}

void sealed_write(struct buf *out, const struct value *obj, const struct sealed_own *own)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    bool is_first = true;
    (void)pthread_once(&once, fill_slots);
    buf_byte(out, '{');
    value_each_field (f, obj) {
        if (!is_first)
            buf_byte(out, ',');
        is_first = false;
        write_key(out, f->key);
        if (str_eq(f->key, STR("metadata")) && f->val.type == VALUE_OBJECT)
            write_metadata(out, &f->val, own);
        else
            write_value(out, &f->val);
    }
    buf_byte(out, '}');
}

/* ---- Reading ---- */

static struct str word_at(const char *p, size_t *ret_n)
{
    *ret_n = *p == MORE ? 2 : 1;
    return words[*p == MORE
                     ? (size_t)((const char *)memchr(letters, p[1], sizeof(letters)) - letters) +
                           N_SHORT
                     : (size_t)(*p - FIRST)];
}

static bool is_code(char c)
{
    return (unsigned char)c < 0x20;
}

/* How many bytes come before the next code. Eight at a time: text is mostly text. */
static size_t plain_run(const char *p, size_t n)
{
    const uint64_t ones = ~UINT64_C(0) / 255;
    size_t i = 0;
    for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
        uint64_t x;
        memcpy(&x, p + i, sizeof(x));
        if ((x - ones * 0x20) & ~x & ones * 0x80)
            break;
    }
    while (i < n && !is_code(p[i]))
        i++;
    return i;
}

/* `"WORD":`, or a whole member. */
static void open_code(struct buf *out, const char *p, const struct sealed_own *own, size_t *ret_n)
{
    bool is_own = *p == OWN_NAME || *p == OWN_NS;
    *ret_n = 1;
    struct str word = *p == OWN_NAME ? STR("name")
                      : *p == OWN_NS ? STR("namespace")
                                     : word_at(p, ret_n);
    buf_byte(out, '"');
    buf_str_add(out, word);
    buf_str_add(out, STR("\":"));
    if (is_own)
        json_write_string(out, *p == OWN_NAME ? own->name : own->ns);
}

struct str sealed_open(struct arena *a, struct str sealed, const struct sealed_own *own)
{
    autobuf out = { 0 };
    while (sealed.n) {
        size_t n = plain_run(sealed.p, sealed.n);
        buf_str_add(&out, str_take(sealed, n));
        sealed = str_skip(sealed, n);
        if (!sealed.n)
            break;
        open_code(&out, sealed.p, own, &n);
        sealed = str_skip(sealed, n);
    }
    return arena_str(a, buf_str(&out));
}

/* ---- Finding one's way ---- */

/* A quote ends it unless an odd number of backslashes stands before. */
static const char *skip_string(const char *p)
{
    for (;;) {
        p = rawmemchr(p + 1, '"');
        size_t n = 0;
        while (p[-1 - (ptrdiff_t)n] == '\\')
            n++;
        if (n % 2 == 0)
            return p + 1;
    }
}

const char *sealed_end(const char *p)
{
    size_t depth = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if (*p == '}' || *p == ']')
            depth--;
        p++;
    } while (depth || (*p != ',' && *p != '}' && *p != ']'));
    return p;
}

static void read_member(const char *p, struct sealed_member *ret)
{
    if (*p == OWN_NAME || *p == OWN_NS) {
        *ret = (struct sealed_member){ .key = *p == OWN_NAME ? STR("name") : STR("namespace"),
                                       .value = p + 1,
                                       .end = p + 1 };
        return;
    }
    if (is_code(*p)) {
        size_t n;
        ret->key = word_at(p, &n);
        ret->value = p + n;
    } else {
        const char *key_end = skip_string(p);
        ret->key = (struct str){ p + 1, (size_t)(key_end - p) - 2 };
        ret->value = key_end + 1;
    }
    ret->end = sealed_end(ret->value);
}

bool sealed_first(const char *p, struct sealed_member *ret)
{
    if (p[0] != '{' || p[1] == '}')
        return false;
    read_member(p + 1, ret);
    return true;
}

bool sealed_next(struct sealed_member *m)
{
    if (*m->end != ',')
        return false;
    read_member(m->end + 1, m);
    return true;
}
