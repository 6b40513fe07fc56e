#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>

enum { SHA1_BYTES = 20 };

struct digest {
	EVP_MD_CTX *ctx;
};

/* Looked up once: a fetch costs more than hashing a short text. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static EVP_MD *sha1_kind, *sha256_kind;

static void fetch_kinds(void)
{
	sha1_kind = EVP_MD_fetch(NULL, "SHA1", NULL);
	sha256_kind = EVP_MD_fetch(NULL, "SHA256", NULL);
	if (!sha1_kind || !sha256_kind)
		BUG("OpenSSL offers no SHA-1 or no SHA-256");
}

static EVP_MD_CTX *hash_begin(EVP_MD *const *kind)
{
	pthread_once(&once, fetch_kinds);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	if (!ctx || !EVP_DigestInit_ex2(ctx, *kind, NULL))
		BUG("OpenSSL cannot begin a hash");
	return ctx;
}

static void hash_add(EVP_MD_CTX *ctx, const void *p, size_t n)
{
	if (!EVP_DigestUpdate(ctx, p, n))
		BUG("OpenSSL cannot go on with a hash");
}

static void hash_end(EVP_MD_CTX *ctx, uint8_t *out)
{
	if (!EVP_DigestFinal_ex(ctx, out, NULL))
		BUG("OpenSSL cannot end a hash");
	EVP_MD_CTX_free(ctx);
}

static void add_big_endian(struct digest *d, uint64_t value, size_t n_bytes)
{
	uint8_t bytes[8];

	for (size_t i = n_bytes; i-- > 0; value >>= 8)
		bytes[i] = (uint8_t)value;
	hash_add(d->ctx, bytes, n_bytes);
}

struct digest *digest_begin(const char *label)
{
	struct digest *d = malloc(sizeof(*d));

	if (!d)
		BUG("out of memory");
	d->ctx = hash_begin(&sha256_kind);
	digest_bytes(d, str_c(label));
	return d;
}

void digest_bytes(struct digest *d, struct str s)
{
	if (!s.p) {
		digest_null(d);
		return;
	}
	if (s.n > INT32_MAX)
		BUG("digest of a field of %zu bytes", s.n);
	add_big_endian(d, s.n, 4);
	hash_add(d->ctx, s.p, s.n);
}

void digest_int(struct digest *d, int64_t value)
{
	add_big_endian(d, 8, 4);
	add_big_endian(d, (uint64_t)value, 8);
}

void digest_null(struct digest *d)
{
	add_big_endian(d, UINT32_MAX, 4); /* -1 */
}

void digest_end(struct digest *d, uint8_t out[SHA_BYTES])
{
	hash_end(d->ctx, out);
	free(d);
}

void sha256(struct str s, uint8_t out[SHA_BYTES])
{
	EVP_MD_CTX *ctx = hash_begin(&sha256_kind);

	hash_add(ctx, s.p, s.n);
	hash_end(ctx, out);
}

void sha256_salted(const uint8_t salt[SALT_BYTES], struct str text, uint8_t out[SHA_BYTES])
{
	EVP_MD_CTX *ctx = hash_begin(&sha256_kind);

	hash_add(ctx, salt, SALT_BYTES);
	hash_add(ctx, text.p, text.n);
	hash_end(ctx, out);
}

void uuid5(const uint8_t space[UUID_BYTES], struct str name, uint8_t out[UUID_BYTES])
{
	uint8_t sha1[SHA1_BYTES];
	EVP_MD_CTX *ctx = hash_begin(&sha1_kind);

	hash_add(ctx, space, UUID_BYTES);
	hash_add(ctx, name.p, name.n);
	hash_end(ctx, sha1);
	memcpy(out, sha1, UUID_BYTES);
	out[6] = (out[6] & 0x0F) | 0x50; /* version 5 */
	out[8] = (out[8] & 0x3F) | 0x80; /* variant of RFC 9562 */
}

void uuid_text(const uint8_t uuid[UUID_BYTES], char out[UUID_TEXT + 1])
{
	static const size_t group_bytes[] = {4, 2, 2, 2, 6};

	for (size_t i = 0; i < 5; i++) {
		hex_text(uuid, group_bytes[i], out);
		uuid += group_bytes[i];
		out += 2 * group_bytes[i];
		if (i < 4)
			*out++ = '-';
	}
}

void digest_library(struct buf *out)
{
	buf_puts(out, OpenSSL_version(OPENSSL_VERSION));
}
