#include "payloads.h"

#include "../lib/loop_case.h"

enum { KEY_DIGITS = 24 };

#define X(name) #name,
static const char *const place_names[] = {PLACES(X) NULL};
#undef X

const uint8_t payloads_salt[JOB_SALT_BYTES] = {1, 2, 3, 4};
struct payload payloads[PAYLOADS_MAX];
int n_payload, payloads_aimed[N_PLACES];

struct str payloads_key(struct arena *a, int counter)
{
	struct digest *d = digest_begin("draftmill/fence/1");
	uint8_t sha[SHA_BYTES];
	char key[KEY_DIGITS + 1];

	digest_bytes(d, (struct str){(const char *)payloads_salt, JOB_SALT_BYTES});
	digest_int(d, PAYLOADS_CALL_NO);
	digest_int(d, counter);
	digest_end(d, sha);
	hex_text(sha, KEY_DIGITS / 2, key);
	return arena_str(a, str_c(key));
}

static struct str text_of(struct arena *a, const struct json *o, const char *key)
{
	struct str text = {NULL, 0};

	(void)json_get_str(o, key, &text);
	return text.p ? arena_str(a, text) : text;
}

/* @text @times over, with the keys in it. */
static struct str filled_in(struct arena *a, struct str text, int64_t times)
{
	const struct str mark[] = {STR("@KEY0@"), STR("@KEY1@")};
	struct buf out = BUF(CASE_BYTES_MAX);

	for (int64_t i = 0; i < times; i++) {
		for (size_t at = 0; at < text.n;) {
			const struct str rest = str_sub(text, at, text.n);
			int k = str_starts(rest, mark[0].p)   ? 0
				: str_starts(rest, mark[1].p) ? 1
							      : 2;
			if (k < 2)
				buf_str(&out, payloads_key(a, k));
			else
				buf_putc(&out, text.p[at]);
			at += k < 2 ? mark[k].n : 1;
		}
	}
	struct str all = arena_str(a, buf_view(&out));
	buf_release(&out);
	return all;
}

static void read_payload(struct arena *a, const struct json *line)
{
	const struct json *places = json_get(line, "places");
	int64_t times = 1;

	(void)json_get_int(line, "repeat", 1, 100000, &times);
	if (n_payload == PAYLOADS_MAX)
		case_die("more than %d payloads", PAYLOADS_MAX);
	payloads[n_payload++] = (struct payload){text_of(a, line, "id"),
						 filled_in(a, text_of(a, line, "text"), times),
						 text_of(a, line, "reply")};
	for (size_t i = 0; i < json_size(places); i++) {
		int at = str_among(json_str(json_item(places, i)), place_names);
		if (at < 0)
			case_die("no place %s", json_str(json_item(places, i)).p);
		payloads_aimed[at]++;
	}
}

/* The first line says what the fields are. */
void payloads_read(struct arena *a)
{
	struct str rest = case_file(a, "tests/data/injection/payloads.jsonl");

	for (int n = 0; rest.n; n++) {
		int64_t end = str_find(rest, STR_OF("\n"), 0);
		struct json *line = case_json(str_sub(rest, 0, (size_t)end));
		if (n > 0)
			read_payload(a, line);
		json_free(line);
		rest = str_sub(rest, (size_t)end + 1, rest.n);
	}
}
