/* dns_message.h - questions and answers of DNS as bytes (RFC 1035, 2782, 6891). Rules only: no I/O.
 *
 * A name is its labels, in small letters, without dots between them: label bytes may be anything.
 * Questions are answered in the letters they were asked in. */
#pragma once

#include "base/buf.h"
#include "base/arena.h"

enum {
    DNS_A = 1,
    DNS_NS = 2,
    DNS_CNAME = 5,
    DNS_SOA = 6,
    DNS_PTR = 12,
    DNS_TXT = 16,
    DNS_AAAA = 28,
    DNS_SRV = 33,
};
enum dns_code {
    DNS_OK = 0,
    DNS_FORMAT_ERROR = 1,
    DNS_SERVER_FAILURE = 2,
    DNS_NO_NAME = 3,
    DNS_NOT_IMPLEMENTED = 4,
    DNS_REFUSED = 5,
    DNS_BAD_VERSION = 16,
};
enum {
    DNS_NAME_BYTES = 255,
    DNS_LABELS_MAX = 127,
    DNS_UDP_BYTES = 512,       /* without EDNS */
    DNS_UDP_BYTES_MAX = 1232,  /* with it: fits into one packet everywhere */
    DNS_MESSAGE_BYTES = 65535, /* over TCP */
};

struct dns_name {
    const struct str *labels; /* the first is the leftmost */
    size_t n;
};

struct dns_question {
    uint16_t id;
    bool recursion_desired, checking_disabled;
    struct dns_name name;
    struct str asked; /* the question as it was sent: name, type and class */
    uint16_t type, class;
    bool has_edns;
    size_t udp_bytes; /* that the client takes */
};

/* DNS_OK, or what to answer instead, with as much of `ret` as could be read; -1: no answer at all,
 * because it is none to a question. */
int dns_question_read(struct arena *a, struct str packet, struct dns_question *ret);

/* "a.b.c" to a name; false if it is none. */
bool dns_name_parse(struct arena *a, struct str text, struct dns_name *ret);
struct str dns_name_text(struct arena *a, struct dns_name name); /* with dots, for logs and keys */
bool dns_name_eq(struct dns_name a, struct dns_name b);
/* Whether `name` lies in `zone`; `ret` gets the labels in front of it. */
bool dns_name_below(struct dns_name name, struct dns_name zone, struct dns_name *ret);

struct dns_record {
    struct dns_name name;
    uint16_t type;
    uint32_t ttl;
    struct str bytes;       /* A, AAAA: the address; TXT: the text */
    struct dns_name target; /* CNAME, NS, PTR, SRV, and the first name of SOA */
    uint16_t priority, weight, port;
    uint32_t serial; /* SOA */
};

enum { DNS_RECORDS_MAX = 4096 };
struct dns_records {
    struct dns_record *list;
    size_t n, room;
};
void dns_records_add(struct arena *a, struct dns_records *all, const struct dns_record *r);

struct dns_reply {
    enum dns_code code;
    bool is_ours; /* the answer of whoever knows: authoritative */
    bool recurses;
    struct dns_records answers, authority, additional;
};

/* Within `max` bytes: additional records are left out first, then the answer is marked as cut off.
 */
void dns_reply_write(const struct dns_question *q, const struct dns_reply *reply, size_t max,
                     struct buf *out);

/* Whether `packet` answers this question, of that id. */
bool dns_reply_fits(struct str packet, uint16_t id, const struct dns_question *q);
bool dns_reply_is_cut(struct str packet); /* TC: to be asked again over TCP */
/* The addresses and aliases (A, AAAA, CNAME) that a reply answers with. False: it cannot be read.
 */
bool dns_reply_read(struct arena *a, struct str packet, enum dns_code *ret_code,
                    struct dns_records *ret);
