#include "base/yaml.h"

#include <yaml.h>

enum { MAX_DEPTH = 32 };

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the one being looked at */
	struct arena *arena;
	const char *name;
	struct str text;
	struct err *err;
};

static enum status fail(struct reader *r, size_t line, const char *what)
{
	return err_set(r->err, ST_INVALID, "%s:%zu: %s", r->name, line, what);
}

/* Of the event being looked at, from 1. */
static size_t line_of(const struct reader *r)
{
	return r->event.start_mark.line + 1;
}

static enum status fail_here(struct reader *r, const char *what)
{
	return fail(r, line_of(r), what);
}

/* The line @line, from 1, behind its spaces. */
static bool begins_by_tab(struct str text, size_t line)
{
	size_t i = 0;

	for (; line > 1 && i < text.n; i++)
		line -= text.p[i] == '\n';
	while (i < text.n && text.p[i] == ' ')
		i++;
	return i < text.n && text.p[i] == '\t';
}

/* The reader of libyaml gives a byte, all behind it a line. */
static enum status fail_parser(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	size_t line = p->problem_mark.line + 1;

	if (p->error == YAML_MEMORY_ERROR)
		BUG("out of memory");
	if (p->error == YAML_READER_ERROR) {
		line = 1;
		for (size_t i = 0; i < p->problem_offset && i < r->text.n; i++)
			line += r->text.p[i] == '\n';
	}
	if (p->error == YAML_SCANNER_ERROR && begins_by_tab(r->text, line))
		return fail(r, line, "a tab stands before the first word; indent by spaces");
	return fail(r, line, p->problem ? p->problem : "no YAML");
}

static enum status next_event(struct reader *r)
{
	yaml_event_delete(&r->event);
	return yaml_parser_parse(&r->parser, &r->event) ? ST_OK : fail_parser(r);
}

static struct str copy(struct reader *r, const unsigned char *p, size_t n)
{
	return arena_str(r->arena, (struct str){(const char *)p, n});
}

static enum status read_node(struct reader *r, int depth, struct yaml *node);

static enum status refuse_extras(struct reader *r, const void *anchor, const void *tag)
{
	if (anchor)
		return fail_here(r, "anchors (&name) are not supported: write the value again");
	if (tag)
		return fail_here(r,
				 "tags (!name) are not supported: the setting itself has a type");
	return ST_OK;
}

static enum status read_scalar(struct reader *r, struct yaml *node)
{
	enum status status =
		refuse_extras(r, r->event.data.scalar.anchor, r->event.data.scalar.tag);

	if (status != ST_OK)
		return status;
	if (memchr(r->event.data.scalar.value, 0, r->event.data.scalar.length))
		return fail_here(r, "a NUL character (\\0) is not supported: leave it out");
	node->kind = YAML_SCALAR;
	node->text = copy(r, r->event.data.scalar.value, r->event.data.scalar.length);
	node->quoted = r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return ST_OK;
}

/* From the '[' or the first '-' to the end of the list. */
static enum status read_list(struct reader *r, int depth, struct yaml *list)
{
	const struct yaml **link = &list->child;
	enum status status = refuse_extras(r, r->event.data.sequence_start.anchor,
					   r->event.data.sequence_start.tag);

	list->kind = YAML_LIST;
	while (status == ST_OK && (status = next_event(r)) == ST_OK &&
	       r->event.type != YAML_SEQUENCE_END_EVENT) {
		struct yaml *item = arena_array(r->arena, struct yaml, 1);
		status = read_node(r, depth, item);
		*link = item;
		link = &item->next;
	}
	return status;
}

static enum status read_key(struct reader *r, const struct yaml *map, struct str *key)
{
	struct yaml scalar = {0};

	if (r->event.type != YAML_SCALAR_EVENT && r->event.type != YAML_ALIAS_EVENT)
		return fail_here(r, "a key must be a single word or text");
	enum status status = read_node(r, 0, &scalar);
	if (status != ST_OK)
		return status;
	*key = scalar.text;
	for (const struct yaml *member = map->child; member; member = member->next) {
		if (str_eq(member->key, *key))
			return err_set(r->err, ST_INVALID,
				       "%s:%zu: key '%s' is on line %d already: remove one",
				       r->name, line_of(r), key->p, member->line);
	}
	return ST_OK;
}

/* From the '{' or the first key to the end of the map. */
static enum status read_map(struct reader *r, int depth, struct yaml *map)
{
	const struct yaml **link = &map->child;
	enum status status = refuse_extras(r, r->event.data.mapping_start.anchor,
					   r->event.data.mapping_start.tag);

	map->kind = YAML_MAP;
	while (status == ST_OK && (status = next_event(r)) == ST_OK &&
	       r->event.type != YAML_MAPPING_END_EVENT) {
		struct yaml *member = arena_array(r->arena, struct yaml, 1);
		int line = (int)line_of(r);
		status = read_key(r, map, &member->key);
		if (status == ST_OK)
			status = next_event(r);
		if (status == ST_OK)
			status = read_node(r, depth, member);
		member->line = line;
		*link = member;
		link = &member->next;
	}
	return status;
}

/* What begins with the event being looked at; ends with its last event being looked at. */
static enum status read_node(struct reader *r, int depth, struct yaml *node)
{
	if (depth == MAX_DEPTH)
		return fail_here(r, "more than 32 levels");
	node->line = (int)line_of(r);
	switch (r->event.type) {
	case YAML_SCALAR_EVENT:
		return read_scalar(r, node);
	case YAML_SEQUENCE_START_EVENT:
		return read_list(r, depth + 1, node);
	case YAML_MAPPING_START_EVENT:
		return read_map(r, depth + 1, node);
	case YAML_ALIAS_EVENT:
		return fail_here(r, "aliases (*name) are not supported: write the value again");
	default:
		BUG("libyaml: no node begins with event %d", (int)r->event.type);
	}
}

/* Looks at the first event of the next document, or at the end of the text. */
static enum status next_document(struct reader *r)
{
	do {
		enum status status = next_event(r);
		if (status != ST_OK)
			return status;
	} while (r->event.type == YAML_STREAM_START_EVENT ||
		 r->event.type == YAML_DOCUMENT_END_EVENT);
	return ST_OK;
}

static enum status read_text(struct reader *r, struct yaml *root)
{
	enum status status = next_document(r);

	root->kind = YAML_MAP;
	root->line = 1;
	if (status != ST_OK || r->event.type == YAML_STREAM_END_EVENT)
		return status;
	status = next_event(r);
	if (status == ST_OK)
		status = read_node(r, 0, root);
	if (status == ST_OK && root->kind == YAML_SCALAR && root->text.n == 0 && !root->quoted)
		*root = (struct yaml){.kind = YAML_MAP, .line = root->line}; /* nothing but "---" */
	if (status == ST_OK)
		status = next_document(r);
	if (status == ST_OK && r->event.type != YAML_STREAM_END_EVENT)
		return fail_here(r, "a second document: one file holds one");
	return status;
}

enum status yaml_read(struct arena *a, const char *name, struct str text, const struct yaml **out,
		      struct err *err)
{
	struct reader r = {.arena = a, .name = name, .text = text, .err = err};
	struct yaml *root = arena_array(a, struct yaml, 1);

	if (!yaml_parser_initialize(&r.parser))
		BUG("out of memory");
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)(text.p ? text.p : ""),
				     text.n);
	enum status status = read_text(&r, root);
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	if (status == ST_OK)
		*out = root;
	return status;
}

const struct yaml *yaml_get(const struct yaml *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return NULL;
	for (const struct yaml *member = map->child; member; member = member->next) {
		if (str_is(member->key, key))
			return member;
	}
	return NULL;
}

/* Adds a copy of @y behind *@link; gives the place of the one after it. */
static const struct yaml **append(struct arena *a, const struct yaml **link, const struct yaml *y)
{
	struct yaml *copy = arena_array(a, struct yaml, 1);

	*copy = *y;
	copy->next = NULL;
	*link = copy;
	return &copy->next;
}

const struct yaml *yaml_over(struct arena *a, const struct yaml *base, const struct yaml *over)
{
	struct yaml *map = arena_array(a, struct yaml, 1);
	const struct yaml **link = &map->child;

	*map = *base;
	map->child = NULL;
	for (const struct yaml *y = base->child, *o; y; y = y->next) {
		o = yaml_get(over, y->key.p);
		if (o && o->kind == YAML_MAP && y->kind == YAML_MAP)
			o = yaml_over(a, y, o);
		link = append(a, link, o ? o : y);
	}
	for (const struct yaml *o = over->child; o; o = o->next)
		if (!yaml_get(base, o->key.p))
			link = append(a, link, o);
	return map;
}

const struct yaml *yaml_without(struct arena *a, const struct yaml *map, const char *const *keys)
{
	struct yaml *rest = arena_array(a, struct yaml, 1);
	const struct yaml **link = &rest->child;

	*rest = *map;
	rest->child = NULL;
	for (const struct yaml *y = map->child; y; y = y->next)
		if (str_among(y->key, keys) < 0)
			link = append(a, link, y);
	return rest;
}

void yaml_library(struct buf *out)
{
	buf_printf(out, "libyaml %s", yaml_get_version_string());
}
