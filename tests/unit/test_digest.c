#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void check_sha(const uint8_t sha[SHA_BYTES], const char *want)
{
	char hex[2 * SHA_BYTES + 1];

	hex_text(sha, SHA_BYTES, hex);
	assert_string_equal(hex, want);
}

/* The examples that NIST gives for FIPS 180-4. */
static void sha256_gives_the_published_values(void **state)
{
	uint8_t sha[SHA_BYTES];

	sha256(str_c("abc"), sha);
	check_sha(sha, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256(str_c("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), sha);
	check_sha(sha, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	sha256(str_c(""), sha);
	check_sha(sha, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256(str_c(NULL), sha);
	check_sha(sha, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/* By Python's hashlib and struct. */
static void fields_carry_their_length(void **state)
{
	uint8_t sha[SHA_BYTES];
	struct digest *d = digest_begin("label/1");

	digest_bytes(d, str_c("ab"));
	digest_bytes(d, str_c(""));
	digest_bytes(d, str_c(NULL));
	digest_int(d, -2);
	digest_int(d, 300);
	digest_end(d, sha);
	check_sha(sha, "ad1a60bd18ebfb2894ed278786689737eed162c4c49ef7632646cc05788d2742");
}

static void two_fields_are_not_one(void **state)
{
	uint8_t one[SHA_BYTES], two[SHA_BYTES];
	struct digest *d = digest_begin("x");

	digest_bytes(d, str_c("ab"));
	digest_end(d, one);
	d = digest_begin("x");
	digest_bytes(d, str_c("a"));
	digest_bytes(d, str_c("b"));
	digest_end(d, two);
	assert_memory_not_equal(one, two, SHA_BYTES);
}

static void absent_is_not_empty(void **state)
{
	uint8_t one[SHA_BYTES], two[SHA_BYTES];
	struct digest *d = digest_begin("x");

	digest_bytes(d, str_c(""));
	digest_end(d, one);
	d = digest_begin("x");
	digest_null(d);
	digest_end(d, two);
	assert_memory_not_equal(one, two, SHA_BYTES);
}

/* By Python's hashlib: the bytes 0 to 15, then the text. */
static void the_salt_stands_before_the_text(void **state)
{
	uint8_t salt[SALT_BYTES], sha[SHA_BYTES];

	for (uint8_t i = 0; i < SALT_BYTES; i++)
		salt[i] = i;
	sha256_salted(salt, str_c("敬具"), sha);
	check_sha(sha, "03f3ad009f26d6e9ffc5033065b74052fd652c058a0df5a3d9afe47b7a0cfa0a");
}

/* RFC 9562, appendix A.4. */
static void uuid5_gives_the_published_value(void **state)
{
	uint8_t dns[UUID_BYTES], uuid[UUID_BYTES];
	char text[UUID_TEXT + 1];

	assert_true(hex_read(str_c("6ba7b8109dad11d180b400c04fd430c8"), dns, UUID_BYTES));
	uuid_text(dns, text);
	assert_string_equal(text, "6ba7b810-9dad-11d1-80b4-00c04fd430c8");
	uuid5(dns, str_c("www.example.com"), uuid);
	uuid_text(uuid, text);
	assert_string_equal(text, "2ed6657d-e927-568b-95e1-2665a8aea6a2");
}

static void hex_is_read_whole_or_not_at_all(void **state)
{
	uint8_t byte[2] = {7, 7};

	assert_false(hex_read(str_c("00f"), byte, 2));
	assert_false(hex_read(str_c("00ff0"), byte, 2));
	assert_false(hex_read(str_c("00ff00"), byte, 2));
	assert_false(hex_read(str_c("00fg"), byte, 2));
	assert_false(hex_read(str_c(NULL), byte, 2));
	assert_int_equal(byte[0], 7);
	assert_true(hex_read(str_c("0aFf"), byte, 2));
	assert_int_equal(byte[0], 0x0A);
	assert_int_equal(byte[1], 0xFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_gives_the_published_values),
		cmocka_unit_test(fields_carry_their_length),
		cmocka_unit_test(two_fields_are_not_one),
		cmocka_unit_test(absent_is_not_empty),
		cmocka_unit_test(the_salt_stands_before_the_text),
		cmocka_unit_test(uuid5_gives_the_published_value),
		cmocka_unit_test(hex_is_read_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
