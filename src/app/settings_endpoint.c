#include "app/settings.h"

#include "app/file.h"
#include "core/wire.h"

#include <ctype.h>
#include <stdlib.h>

enum { CONNECT_TIMEOUT_MS = 10000 };

/* Absent: the provider wants none. A credential is never part of a message. */
static enum status read_credential(struct arena *a, const struct provider *provider,
				   struct str *out, struct err *err)
{
	const char *value = provider->key_env ? getenv(provider->key_env) : NULL;

	*out = (struct str){NULL, 0};
	if (value && *value)
		*out = str_c(value);
	else if (provider->key_file && file_read(a, provider->key_file, out, err) != ST_OK)
		return ST_INVALID;
	else if (provider->key_env && !provider->key_file)
		return err_set(err, ST_INVALID,
			       "the environment variable %s is not set; put the credential there",
			       provider->key_env);
	if (!out->p)
		return ST_OK;
	if (out->n > 0 && out->p[out->n - 1] == '\n')
		out->n--;
	if (out->n > 0 && out->p[out->n - 1] == '\r')
		out->n--;
	for (size_t i = 0; i < out->n; i++) {
		if ((unsigned char)out->p[i] <= 0x20 || out->p[i] == 0x7F)
			return err_set(
				err, ST_INVALID,
				"the credential holds white space or a control character; mend %s",
				value && *value ? provider->key_env : provider->key_file);
	}
	return out->n ? ST_OK
		      : err_set(err, ST_INVALID, "%s is empty; put the credential there",
				provider->key_file);
}

/* The wire's path behind the base URL, the model's id in it as one part of a path (RFC 3986, 3.3). */
static const char *url_of(struct arena *a, const struct provider *provider,
			  const struct model *model)
{
	static const char slot[] = "{model}";
	const char *base = provider->base_url ? provider->base_url : model->wire->base_url;
	const char *path = model->wire->path, *at = strstr(path, slot);
	struct buf id = BUF(3 * 4096);

	if (!at)
		return arena_printf(a, "%s%s", base, path).p;
	for (size_t i = 0; i < model->id.n; i++) {
		const unsigned char c = (unsigned char)model->id.p[i];
		bool plain = isalnum(c) || strchr("-._~:@", c);
		buf_printf(&id, plain ? "%c" : "%%%02X", c);
	}
	struct str url = arena_printf(a, "%s%.*s%.*s%s", base, (int)(at - path), path,
				      STR_ARG(buf_view(&id)), at + strlen(slot));
	buf_release(&id);
	return url.p;
}

static const char *credential_header(struct arena *a, const struct provider *provider,
				     const struct wire *wire, struct str credential)
{
	const char *name = provider->auth_header, *prefix = provider->auth_prefix;

	if (!prefix)
		prefix = name ? "" : wire->auth_prefix;
	if (!name)
		name = wire->auth_header;
	return arena_printf(a, "%s: %s%.*s", name, prefix, STR_ARG(credential)).p;
}

enum status settings_endpoint(const struct settings *s, struct arena *a, const struct model *model,
			      struct endpoint *out, struct err *err)
{
	const struct provider *provider = settings_provider(s, model->provider);
	const char **header = arena_array(a, const char *, 3);
	struct str credential;
	int n_header = 0;

	if (!provider)
		return err_set(err, ST_INVALID,
			       "models.%.*s: the settings have no provider \"%.*s\"; add it",
			       STR_ARG(model->name), STR_ARG(model->provider));
	if (read_credential(a, provider, &credential, err) != ST_OK) {
		err_at(err, "providers.%.*s: ", STR_ARG(provider->name));
		return ST_INVALID;
	}
	if (credential.p)
		header[n_header++] = credential_header(a, provider, model->wire, credential);
	if (model->wire->header)
		header[n_header++] = model->wire->header;
	*out = (struct endpoint){
		.url = url_of(a, provider, model),
		.header = header,
		.ca_file = provider->ca_file,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
	};
	return ST_OK;
}
