#include "schema_tree.h"

#include <stdlib.h>

/* So many schemas of one and the same value may stand in one another; a circle has more. */
enum { HEIGHT_MAX = 32, TOO_HIGH };

/* --- where a $ref points --- */

struct nodes { /* by address */
	struct schema_node *node;
	size_t n;
};

static int by_json(const void *a, const void *b)
{
	const struct schema_node *x = a, *y = b;

	return (x->json > y->json) - (x->json < y->json);
}

static struct nodes sorted(struct arena *a, const struct schema_node *first)
{
	struct nodes out = {NULL, 0};

	for (const struct schema_node *n = first; n; n = n->next)
		out.n++;
	out.node = arena_array(a, struct schema_node, out.n);
	for (size_t i = 0; i < out.n; i++, first = first->next)
		out.node[i] = *first;
	qsort(out.node, out.n, sizeof(*out.node), by_json);
	return out;
}

/* One step of a pointer, unescaped: %2F, then ~0 and ~1. Absent: it is none. */
static struct str unescape(struct arena *a, struct str step)
{
	static const struct str none = {NULL, 0};
	char *p = arena_alloc(a, step.n + 1), *end = p;
	bool tilde = false;

	for (size_t i = 0; i < step.n; i++) {
		uint8_t byte = (uint8_t)step.p[i];
		if (byte == '%') {
			if (!hex_read(str_sub(step, i + 1, 2), &byte, 1) || byte == 0)
				return none;
			i += 2;
		}
		if (tilde && byte != '0' && byte != '1')
			return none;
		if (tilde)
			*end++ = byte == '0' ? '~' : '/';
		else if (byte != '~')
			*end++ = (char)byte;
		tilde = !tilde && byte == '~';
	}
	return tilde ? none : (struct str){p, (size_t)(end - p)};
}

static const struct json *step_into(struct arena *a, const struct json *json, struct str step)
{
	struct str name = unescape(a, step);
	int64_t i;

	if (!name.p)
		return NULL;
	if (json_kind(json) == JSON_OBJECT)
		return json_get(json, name.p);
	if (json_kind(json) == JSON_ARRAY && str_to_int(name, 0, (int64_t)json_size(json) - 1, &i))
		return json_item(json, (size_t)i);
	return NULL;
}

/* @target: "#" or "#/a/b". */
static const struct json *find(struct arena *a, const struct json *doc, struct str target)
{
	const struct json *json = doc;
	size_t at = 1;

	if (target.n > 1 && target.p[1] != '/')
		return NULL;
	while (json && at < target.n) {
		int64_t end = str_find(target, STR_OF("/"), at + 1);
		size_t to = end < 0 ? target.n : (size_t)end;
		json = step_into(a, json, str_sub(target, at + 1, to - at - 1));
		at = to;
	}
	return json;
}

static bool link_ref(struct arena *a, const struct json *doc, const struct nodes *nodes,
		     const struct schema_ref *ref)
{
	const struct schema_node key = {.json = find(a, doc, ref->target)};
	const struct schema_node *found =
		bsearch(&key, nodes->node, nodes->n, sizeof(key), by_json);

	if (found)
		*ref->to = found->schema;
	return found;
}

/* --- circles --- */

static int height_of(struct schema *);

static int highest(const struct schemas *inner)
{
	int most = 0;

	for (size_t i = 0; i < inner->n; i++) {
		int height = inner->schema[i] ? height_of(inner->schema[i]) : 0;
		most = height > most ? height : most;
	}
	return most;
}

/* How many schemas of one value stand in one another from @s on; TOO_HIGH is too many. All other schemas in it are those of what is
 * in the value, which ends by itself. */
static int height_of(struct schema *s)
{
	struct schema *alone[] = {s->ref, s->negated, s->condition, s->consequence, s->alternative};
	const struct schemas inner[] = {{alone, sizeof(alone) / sizeof(alone[0])},
					s->all_of,
					s->any_of,
					s->one_of,
					s->dependent_schemas.schemas};

	if (s->height == 0) {
		s->height = TOO_HIGH; /* for a circle, which comes by here again */
		int most = 0;
		for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++) {
			int height = highest(&inner[i]);
			most = height > most ? height : most;
		}
		s->height = most < TOO_HIGH ? most + 1 : TOO_HIGH;
	}
	return s->height;
}

enum status schema_link(struct arena *a, const struct json *doc, const struct schema_node *node,
			const struct schema_ref *ref, struct err *err)
{
	struct nodes nodes = sorted(a, node);
	bool fine = true;

	for (; ref; ref = ref->next) {
		if (!link_ref(a, doc, &nodes, ref))
			return err_set(err, ST_INVALID,
				       "%.*smust lead to a schema of this one, as \"#/$defs/NAME\"",
				       STR_ARG(ref->place));
	}
	for (size_t i = 0; i < nodes.n && fine; i++)
		fine = height_of(nodes.node[i].schema) < TOO_HIGH;
	return fine ? ST_OK
		    : err_set(err, ST_INVALID,
			      "#: must be free of a $ref that leads back to itself, and of more than "
			      "%d schemas of one value in one another",
			      HEIGHT_MAX);
}
