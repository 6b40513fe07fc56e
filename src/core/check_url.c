#include "check_family.h"
#include "check_parts.h"

#include "base/text.h"

#include <ctype.h>

enum { BYTE_WORK = 16, URL_WORK = 1000, HOST_WORK = 16 };
enum { HOSTS_MAX = 100, NAMED_MAX = 5, SCHEME_BYTES_MAX = 20 };
enum { AUTHORITY_BYTES_MAX = 1000 }; /* DNS knows hosts of 253 */

struct urls {
	const struct str *host; /* allowed, folded, each with its sub-domains */
	int n_host;
	bool mail; /* the hosts of mail addresses count too */
};

/* All below is about the folded text: no letter is upper case, none in full width, and nothing is hidden inside. */
struct search {
	const struct urls *urls;
	struct arena *scratch;
	struct checked *checked;
	struct str text;
	struct check_result *out;
	struct buf faults;
	int n_fault;
	size_t path_end; /* up to here goes the URL that was found last: what looks like a host is a part of its path */
	size_t no_user_end; /* up to here there is no '@' */
};

static bool is_host_sign(int c)
{
	return isalnum(c) || c == '.' || c == '-';
}

static bool is_run_sign(int c)
{
	return is_host_sign(c) || c == '_' || c == '%' || c == '+' || c == '~';
}

/* The end of what @holds from @at on. */
static size_t run_end(struct str s, size_t at, bool (*holds)(int))
{
	while (at < s.n && holds((unsigned char)s.p[at]))
		at++;
	return at;
}

static bool ends_in_host(struct str host, struct str allowed)
{
	if (host.n < allowed.n || !str_eq(str_sub(host, host.n - allowed.n, allowed.n), allowed))
		return false;
	return host.n == allowed.n || host.p[host.n - allowed.n - 1] == '.';
}

static bool is_allowed(struct search *s, struct str host)
{
	if (!check_afford(s->checked, URL_WORK + HOST_WORK * (int64_t)s->urls->n_host, s->out))
		return true; /* it is red already */
	for (int i = 0; i < s->urls->n_host; i++) {
		if (ends_in_host(host, s->urls->host[i]))
			return true;
	}
	return false;
}

static void fault(struct search *s, size_t from, size_t to, const char *why)
{
	if (s->n_fault++ >= NAMED_MAX)
		return;
	if (s->n_fault == 1)
		set_span(s->scratch, s->checked, from, to - from, s->out);
	put_quoted(&s->faults, str_sub(s->text, from, to - from), s->n_fault == 1 ? "" : ", ");
	buf_puts(&s->faults, why);
}

/* What ends an authority besides '/', '?', '#'. Of U+3002, which browsers take for a dot, what follows decides. */
static bool ends_authority(struct str text, size_t end, int32_t c)
{
	if (c == 0x3002)
		return !isalnum(sign_at(text, end));
	if (c < 0x80)
		return !is_run_sign(c) && c != ':' && c != '@' && c != '&' && c != '=' && c != '$';
	return is_among(c, "、「」『』【】〈〉《》〔〕・…“”‘’\u3000→") || c < 0xA1;
}

static size_t authority_end(struct str text, size_t at)
{
	size_t next = at, begin = at;

	if (sign_at(text, at) == '[') { /* IPv6 */
		while (isxdigit(sign_at(text, ++at)) || sign_at(text, at) == ':' ||
		       sign_at(text, at) == '.')
			;
		next = at += sign_at(text, at) == ']';
	}
	for (int32_t c; (c = text_next(text, &next)) >= 0 && !ends_authority(text, next, c) &&
			next - begin <= AUTHORITY_BYTES_MAX;)
		at = next;
	return at;
}

/* Whether a '@' comes before what ends an authority for any reader: https://good.example;@evil.example has a user name. */
static bool has_user(struct search *s, size_t at)
{
	struct str text = s->text;

	if (at < s->no_user_end)
		return false;
	for (; at < text.n && (unsigned char)text.p[at] < 0x80; at++) {
		if (text.p[at] == '@')
			return true;
		if (text.p[at] <= ' ' || strchr("/?#\"<>`)", text.p[at]))
			break;
	}
	s->no_user_end = at;
	return false;
}

/* @authority without its port, a dot at its end, and Japanese text that follows without a blank: as no top-level domain begins in
 * ASCII and goes on otherwise, example.comをご覧 is example.com. With an ideographic dot inside nothing is cut. */
static struct str host_of(struct str authority)
{
	struct str s = authority;
	size_t label = s.n;

	if (str_find(s, STR_OF("\u3002"), 0) >= 0)
		return s;
	while (label > 0 && s.p[label - 1] != '.')
		label--;
	size_t ascii = label;
	while (ascii < s.n && (unsigned char)s.p[ascii] < 0x80)
		ascii++;
	if (ascii > label)
		s.n = ascii;
	size_t digits = s.n;
	while (digits > 0 && isdigit((unsigned char)s.p[digits - 1]))
		digits--;
	if (digits > 0 && s.p[digits - 1] == ':')
		s.n = digits - 1;
	if (s.n > 0 && s.p[s.n - 1] == '.')
		s.n--;
	return s;
}

static bool is_path_sign(int c)
{
	return c > ' ' && c < 0x7F && !strchr("\"'<>()[]`", c);
}

/* The authority at byte @at is that of a URL; returns where to go on. */
static size_t take_authority(struct search *s, size_t at)
{
	size_t end = authority_end(s->text, at);
	struct str host = host_of(str_sub(s->text, at, end - at));

	if (has_user(s, at)) {
		end = run_end(str_sub(s->text, 0, at + AUTHORITY_BYTES_MAX), at, is_path_sign);
		fault(s, at, end, " (a user name before the host)");
	} else if (host.n > 0 && !is_allowed(s, host)) {
		fault(s, at, at + host.n, "");
	}
	if (s->path_end < end)
		s->path_end = run_end(s->text, end, is_path_sign);
	return end;
}

static bool is_slash(int c)
{
	return c == '/' || c == '\\';
}

/* Whether bytes [at, end), before a ':', are the scheme of something that a reader can click on. Moves *end behind the slashes. */
static bool is_scheme(struct str text, size_t at, size_t *end)
{
	static const char *const browsed[] = {"http", "https", "ftp", "ws", "wss", NULL};
	size_t begin = *end + 1, slashes_end = run_end(text, begin, is_slash);
	bool known = str_among(str_sub(text, at, *end - at), browsed) >= 0;
	int next = sign_at(text, slashes_end);

	if (!isalpha(sign_at(text, at)) || *end - at > SCHEME_BYTES_MAX)
		return false;
	if (slashes_end - begin < 2 && !(known && (isalnum(next) || next == '[')))
		return false;
	*end = slashes_end;
	return true;
}

/* A scheme whose URL is run or shown without a host, where it is the target of a link. */
static bool is_script(struct str text, size_t at, size_t end)
{
	static const char *const scripts[] = {"javascript", "vbscript", "data",
					      "file",	    "blob",	NULL};

	return str_among(str_sub(text, at, end - at), scripts) >= 0 && at > 0 &&
	       strchr("(<\"'=", text.p[at - 1]) && sign_at(text, end + 1) > ' ';
}

/* Hosts that stand alone are known by their last label: no file or abbreviation ends so, and most domains do. */
static bool is_bare_host(struct str host)
{
	static const char *const tops[] = {"com", "net",  "org",   "info", "biz",  "io",
					   "dev", "app",  "jp",	   "cn",   "ru",   "kr",
					   "uk",  "de",	  "eu",	   "xyz",  "shop", "online",
					   "top", "site", "click", "link", NULL};
	size_t label = host.n;

	while (label > 0 && host.p[label - 1] != '.')
		label--;
	return label > 1 && host.p[label - 2] != '.' &&
	       str_among(str_sub(host, label, host.n), tops) >= 0;
}

/* @at is behind a '@'. */
static size_t take_mail(struct search *s, size_t at)
{
	size_t end = run_end(s->text, at, is_host_sign);
	struct str host = host_of(str_sub(s->text, at, end - at));

	if (s->urls->mail && host.n > 0 && memchr(host.p, '.', host.n) && !is_allowed(s, host))
		fault(s, at, at + host.n, " (of a mail address)");
	return end;
}

/* @at begins a run of what schemes, hosts and addresses are made of; returns where to go on. */
static size_t take_run(struct search *s, size_t at)
{
	struct str text = s->text;
	size_t end = run_end(text, at, is_run_sign), scheme_end = end;
	bool in_path = at<s->path_end, slashes = at> 2 && text.p[at - 1] == '/' &&
		       text.p[at - 2] == '/' && strchr("(<\"'=", text.p[at - 3]);

	if (sign_at(text, end) == ':' && is_scheme(text, at, &scheme_end))
		return take_authority(s, scheme_end);
	if (sign_at(text, end) == ':' && is_script(text, at, end))
		fault(s, at, end + 1, " (a link that is no address)");
	if (in_path)
		return end;
	struct str host = host_of(str_sub(text, at, end - at));
	if (slashes || str_starts(host, "www."))
		return take_authority(s, at);
	if (sign_at(text, end) != '@' && is_bare_host(host))
		return take_authority(s, at);
	return end;
}

static void search(struct search *s)
{
	struct str text = s->text;

	for (size_t at = 0; at < text.n && s->out->ok;) {
		int c = (unsigned char)text.p[at];
		if (is_run_sign(c))
			at = take_run(s, at);
		else if (c == '@' && at > 0 && (unsigned char)text.p[at - 1] > ' ' &&
			 at >= s->path_end)
			at = take_mail(s, at + 1);
		else
			at++;
	}
}

static void run_urls(struct arena *scratch, const void *args, const struct job *job,
		     struct checked *checked, struct check_result *out)
{
	struct search s = {.urls = args,
			   .scratch = scratch,
			   .checked = checked,
			   .out = out,
			   .faults = BUF(4 * CHECK_DETAIL_BYTES_MAX)};

	if (!check_folded(checked, out) ||
	    !check_afford(checked, BYTE_WORK * (int64_t)checked->folded.n, out))
		return;
	s.text = checked->folded;
	search(&s);
	if (s.n_fault > 0 && out->ok) {
		out->ok = false;
		out->detail = arena_printf(scratch, "not among the allowed hosts: %s%s", s.faults.p,
					   s.n_fault > NAMED_MAX ? ", and more" : "");
	}
	buf_release(&s.faults);
}

static enum status read_urls(struct arena *a, const struct json *spec, const void **args,
			     struct err *err)
{
	struct urls *urls = arena_alloc(a, sizeof(*urls));
	enum status status = arg_strings(a, spec, "hosts", &urls->host, &urls->n_host, err);
	struct str *folded = arena_array(a, struct str, urls->n_host);

	*args = urls;
	if (status == ST_OK)
		status = arg_bool(spec, "mail", &urls->mail, err);
	if (status == ST_OK && urls->n_host > HOSTS_MAX)
		status = err_set(err, ST_INVALID, "key \"hosts\": must be at most %d", HOSTS_MAX);
	for (int i = 0; status == ST_OK && i < urls->n_host; i++) {
		folded[i] = text_fold(a, urls->host[i]);
		if (folded[i].n == 0 || folded[i].p[0] == '.' ||
		    !str_eq(host_of(folded[i]), folded[i]) ||
		    authority_end(folded[i], 0) != folded[i].n || strpbrk(folded[i].p, "@:%"))
			status = err_set(err, ST_INVALID,
					 "key \"hosts\", item %d: must be a host as example.com, "
					 "whose sub-domains are allowed too",
					 i + 1);
	}
	urls->host = folded;
	return status;
}

static void phrase_urls(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	const struct urls *urls = args;

	if (urls->n_host == 0) {
		buf_puts(out, japanese ? "URLを書かないこと。" : "Must not contain any URL.");
		return;
	}
	buf_puts(out, japanese ? "URLに使えるホスト(サブドメインを含む): "
			       : "URLs must be of these hosts or their sub-domains: ");
	put_list(out, urls->host, urls->n_host, japanese);
	buf_puts(out, japanese ? "。" : ".");
}

static const char *const keys[] = {"hosts", "mail", NULL};

const struct check_type check_url_types[] = {
	{"urls", read_urls, run_urls, phrase_urls, keys},
	{0},
};
