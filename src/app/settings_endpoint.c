#include "app/settings.h"

#include "core/wire.h"

#include <ctype.h>
#include <errno.h>
#include <unistd.h>

enum { CONNECT_TIMEOUT_MS = 10000 };

/* A file that libcurl will read: told now, by name. */
static enum status check_file(const char *key, const char *path, struct err *err)
{
	if (!path || access(path, R_OK) == 0)
		return ST_OK;
	return err_set(err, ST_INVALID, "%s: %s cannot be read: %s", key, path, strerror(errno));
}

static bool is_proxy(struct str url)
{
	return str_starts(url, "http://") || str_starts(url, "https://") ||
	       str_starts(url, "socks5h://");
}

/* What a wrong value would do in silence. */
static enum status check_provider(const struct provider *p, struct err *err)
{
	if (check_file("ca_file", p->ca_file, err) != ST_OK ||
	    check_file("client_cert", p->client_cert, err) != ST_OK)
		return ST_INVALID;
	if (p->path && *p->path != '/')
		return err_set(err, ST_INVALID, "path: \"%s\" does not begin with a /", p->path);
	if (p->query && strpbrk(p->query, "?# "))
		return err_set(err, ST_INVALID,
			       "query: give it without ?, # and blanks, as api-version=2024-10-21");
	for (int i = 0; i < p->n_header; i++) {
		const char *colon = strchr(p->header[i], ':');
		if (!colon || colon == p->header[i] || strpbrk(p->header[i], "\r\n"))
			return err_set(err, ST_INVALID,
				       "headers: item %d is no header; write it as \"Name: value\"",
				       i + 1);
	}
	if (p->proxy && strchr(p->proxy, '@'))
		return err_set(
			err, ST_INVALID,
			"proxy: a URL with a user in it is refused; name the variable that "
			"holds USER:PASSWORD by proxy_key_env, or the file by proxy_key_file");
	if (p->proxy && !is_proxy(str_c(p->proxy)))
		return err_set(
			err, ST_INVALID,
			"proxy: write it as http://HOST:PORT, https://HOST:PORT or socks5h://HOST:PORT");
	return ST_OK;
}

/* The wire's path behind the base URL, the model's id in it as one part of a path (RFC 3986, 3.3). */
static const char *url_of(struct arena *a, const struct provider *provider,
			  const struct model *model)
{
	static const char slot[] = "{model}";
	const char *base = provider->base_url ? provider->base_url : model->wire->base_url;
	const char *path = provider->path ? provider->path : model->wire->path;
	const char *query = provider->query ? provider->query : "";
	const char *mark = *query ? "?" : "", *at = strstr(path, slot);
	struct buf id = BUF(3 * 4096);

	if (!at)
		return arena_printf(a, "%s%s%s%s", base, path, mark, query).p;
	for (size_t i = 0; i < model->id.n; i++) {
		const unsigned char c = (unsigned char)model->id.p[i];
		bool plain = isalnum(c) || strchr("-._~:@", c);
		buf_printf(&id, plain ? "%c" : "%%%02X", c);
	}
	struct str url = arena_printf(a, "%s%.*s%.*s%s%s%s", base, (int)(at - path), path,
				      STR_ARG(buf_view(&id)), at + strlen(slot), mark, query);
	buf_release(&id);
	return url.p;
}

/* What stands before the key. */
static const char *key_header(struct arena *a, const struct provider *provider,
			      const struct wire *wire)
{
	const char *name = provider->auth_header, *prefix = provider->auth_prefix;

	if (!prefix)
		prefix = name ? "" : wire->auth_prefix;
	if (!name)
		name = wire->auth_header;
	return arena_printf(a, "%s: %s", name, prefix).p;
}

enum status settings_endpoint(const struct settings *s, struct arena *a, const struct model *model,
			      struct endpoint *out, struct err *err)
{
	const struct provider *provider = settings_provider(s, model->provider);
	int n_header = 0;

	if (!provider)
		return err_set(err, ST_INVALID,
			       "models.%.*s: the settings have no provider \"%.*s\"; add it",
			       STR_ARG(model->name), STR_ARG(model->provider));
	if (check_provider(provider, err) != ST_OK) {
		err_at(err, "providers.%.*s: ", STR_ARG(provider->name));
		return ST_INVALID;
	}
	const char **header = arena_array(a, const char *, provider->n_header + 2);
	if (model->wire->header)
		header[n_header++] = model->wire->header;
	for (int i = 0; i < provider->n_header; i++)
		header[n_header++] = provider->header[i];
	*out = (struct endpoint){
		.url = url_of(a, provider, model),
		.header = header,
		.key_header = key_header(a, provider, model->wire),
		.ca_file = provider->ca_file,
		.client_cert = provider->client_cert,
		.proxy = provider->proxy,
		.no_proxy = provider->no_proxy,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
	};
	return ST_OK;
}
