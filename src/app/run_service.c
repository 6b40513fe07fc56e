/*
 * app/run_service.c - the models that jobs in memory call: where they are reached, and their limits; also when the settings are read
 * again.
 */
#include "run_private.h"

#include "core/tool.h"

#include <unistd.h>

static bool is_same(const struct model *a, const struct model *b)
{
	return str_eq(a->name, b->name) && str_eq(a->id, b->id) &&
	       str_eq(a->provider, b->provider) && a->wire == b->wire;
}

static struct service *service_same(const struct runs *rs, const struct model *m)
{
	struct service *v;

	TAILQ_FOREACH(v, &rs->services, link)
	if (is_same(v->model, m))
		return v;
	return NULL;
}

struct service *service_of(struct runs *rs, const struct model *m)
{
	struct service *v = model_is_tool(m) ? &rs->tools : service_same(rs, m);

	if (v)
		return v;
	TAILQ_FOREACH_REVERSE(v, &rs->services, services, link)
	if (str_eq(v->model->name, m->name))
		return v;
	return NULL;
}

const struct limit *runs_limit(const struct runs *rs, int i, const struct model **model)
{
	const struct service *v = TAILQ_FIRST(&rs->services);

	while (v && i-- > 0)
		v = TAILQ_NEXT(v, link);
	*model = v ? v->model : NULL;
	return v ? v->limit : NULL;
}

void runs_set_fleet(struct runs *rs, int n_workers)
{
	struct service *v;

	rs->n_workers = n_workers;
	TAILQ_FOREACH(v, &rs->services, link)
	limit_set_fleet(v->limit, n_workers);
}

static bool is_one_model(const struct model *a, const struct model *b)
{
	return str_eq(a->id, b->id) && str_eq(a->provider, b->provider);
}

/* Rows of one model, as with another `thinking`, share its limit and its breaker. */
static struct limit *shared_limit(const struct runs *rs, const struct model *m)
{
	struct service *v;

	TAILQ_FOREACH(v, &rs->services, link)
	if (is_one_model(v->model, m))
		return v->limit;
	return NULL;
}

static void tighten(int64_t *most, int64_t other)
{
	if (other && (!*most || other < *most))
		*most = other;
}

/* The strictest numbers of all rows of the model. */
static struct rates rates_of(const struct settings *s, const struct model *m)
{
	struct rates most = {0};

	for (int i = 0; i < s->n_model; i++) {
		if (!is_one_model(&s->model[i], m))
			continue;
		tighten(&most.requests_per_minute, s->model[i].requests_per_minute);
		tighten(&most.tokens_per_minute, s->model[i].tokens_per_minute);
		tighten(&most.concurrency, s->model[i].concurrency);
	}
	return most;
}

static struct service *service_new(struct runs *rs, const struct model *m, const struct rates *most)
{
	struct service *v = arena_alloc(rs->arena, sizeof(*v));
	struct model *own = arena_alloc(rs->arena, sizeof(*own));

	own->name = arena_str(rs->arena, m->name);
	own->id = arena_str(rs->arena, m->id);
	own->provider = arena_str(rs->arena, m->provider);
	own->wire = m->wire;
	v->model = own;
	v->limit = shared_limit(rs, own);
	v->owns_limit = !v->limit;
	if (v->owns_limit)
		v->limit = limit_new(rs->c.reactor, own->name.p, most);
	limit_set_fleet(v->limit, rs->n_workers);
	return v;
}

/* How a model is reached. */
struct way {
	struct endpoint endpoint;
	struct credential *credential; /* held */
};

/* One of @way or of a service that goes on as it is, renewed or not: all models of a provider share it, and a reload starts no command
 * anew. NULL: there is none. */
static struct credential *credential_of(const struct runs *rs, const struct provider *p,
					const struct way *way, int n_way)
{
	const struct service *v;

	for (int i = 0; i < n_way; i++)
		if (credential_is_of(way[i].credential, p))
			return credential_hold(way[i].credential);
	TAILQ_FOREACH(v, &rs->services, link)
	if (v->credential && credential_is_of(v->credential, p))
		return credential_hold(v->credential);
	return NULL;
}

static enum status find_way(const struct runs *rs, const struct settings *s, const struct model *m,
			    struct way *way, int n_way, struct err *err)
{
	const bool waits = !rs->c.profiles; /* a reload may not: the lease would run out */
	struct way *w = &way[n_way];

	if (settings_endpoint(s, s->arena, m, &w->endpoint, err) != ST_OK)
		return ST_INVALID;
	const struct provider *p = settings_provider(s, m->provider);
	w->credential = credential_of(rs, p, way, n_way);
	if (w->credential || credential_open(rs->c.reactor, p, waits, &w->credential, err) == ST_OK)
		return ST_OK;
	err_at(err, "providers.%.*s: ", STR_ARG(p->name));
	return ST_INVALID;
}

static void move(struct runs *rs, struct service *v, struct profiles *p, const struct way *way)
{
	model_forget(rs->c.models, &v->endpoint);
	profiles_hold(p);
	profiles_free(v->profiles);
	v->profiles = p;
	v->endpoint = way->endpoint;
	credential_close(v->credential);
	v->credential = way->credential;
}

/* Those that the settings do not have any more follow their provider, for a key may be another: jobs in memory need them. */
static void move_gone(struct runs *rs, struct profiles *p)
{
	const struct settings *s = profiles_settings(p);
	struct way way;
	struct service *v;
	struct err err;

	TAILQ_FOREACH(v, &rs->services, link)
	if (v->profiles != p && find_way(rs, s, v->model, &way, 0, &err) == ST_OK)
		move(rs, v, p, &way);
}

enum status runs_use(struct runs *rs, struct profiles *p, struct err *err)
{
	const struct settings *s = profiles_settings(p);
	struct way *way = arena_array(s->arena, struct way, s->n_model);

	for (int i = 0; i < s->n_model; i++) {
		if (find_way(rs, s, &s->model[i], way, i, err) == ST_OK)
			continue;
		while (i-- > 0)
			credential_close(way[i].credential);
		return ST_INVALID;
	}
	for (int i = 0; i < s->n_model; i++) {
		const struct model *m = &s->model[i];
		const struct rates most = rates_of(s, m);
		struct service *v = service_same(rs, m);

		if (v)
			TAILQ_REMOVE(&rs->services, v, link);
		else
			v = service_new(rs, m, &most);
		TAILQ_INSERT_TAIL(&rs->services, v, link);
		limit_set(v->limit, &most);
		move(rs, v, p, &way[i]);
	}
	move_gone(rs, p);
	profiles_hold(p);
	profiles_free(rs->c.profiles);
	rs->c.profiles = p;
	return ST_OK;
}

/* As many run at once as there are processors. */
void services_open(struct runs *rs)
{
	static const struct model any;
	const struct rates most = {.concurrency = sysconf(_SC_NPROCESSORS_ONLN)};

	TAILQ_INIT(&rs->services);
	rs->tools = (struct service){.model = &any};
	rs->tools.limit = limit_new(rs->c.reactor, "tools", &most);
}

void services_free(struct runs *rs)
{
	struct service *v;

	limit_free(rs->tools.limit);

	TAILQ_FOREACH(v, &rs->services, link)
	{
		if (v->owns_limit)
			limit_free(v->limit);
		credential_close(v->credential);
		profiles_free(v->profiles);
	}
}
