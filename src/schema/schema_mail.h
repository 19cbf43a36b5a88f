/* schema_mail.h - mail addresses (RFC 5322) as Go's net/mail takes them; groups are left out. */
#pragma once

#include "base/arena.h"

bool schema_is_mail_address(struct arena *a, struct str text);
