/*
 * base/digest.h - SHA-256 (FIPS 180-4), plain and over canonical fields; UUID version 5 (RFC 9562, SHA-1). Over OpenSSL.
 *
 * Canonical fields: each is its length as a big-endian int32, then its bytes; absent is length -1 and nothing;
 * an integer is a field of 8 bytes, big-endian. So two different lists of fields never give the same bytes.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/buf.h"
#include "base/str.h"

enum { SHA_BYTES = 32, SALT_BYTES = 16, UUID_BYTES = 16, UUID_TEXT = 36 };

struct digest; /* a hash being made */

struct digest *digest_begin(const char *label); /* @label is the first field: "draftmill/step/1" */
void digest_bytes(struct digest *, struct str); /* absent = NULL */
void digest_int(struct digest *, int64_t);
void digest_null(struct digest *);
void digest_end(struct digest *, uint8_t out[SHA_BYTES]); /* frees it */

void sha256(struct str, uint8_t out[SHA_BYTES]);
/* SHA-256 of salt || text: how a person's text enters a chain, so that text and salt can be erased. */
void sha256_salted(const uint8_t salt[SALT_BYTES], struct str text, uint8_t out[SHA_BYTES]);

void uuid5(const uint8_t space[UUID_BYTES], struct str name, uint8_t out[UUID_BYTES]);
void uuid_text(const uint8_t uuid[UUID_BYTES], char out[UUID_TEXT + 1]);

/* OpenSSL's name and version, for `draftmill --version`. */
void digest_library(struct buf *out);

#endif
