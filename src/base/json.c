#include "base/json.h"
#include "json_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Objects with more members than this get an index when they are walked. */
enum { MAX_WALK = 32 };

/* json-c stands for null by NULL, which here means absent. A null that is there is this object's
 * address; all other values are json-c's, under our name. */
static const char null_value;

static const struct json *ours(const struct json_object *o)
{
	return o ? (const struct json *)o : (const struct json *)&null_value;
}

static struct json_object *theirs(const struct json *j)
{
	return (const char *)j == &null_value ? NULL : (struct json_object *)(uintptr_t)j;
}

static struct json_object *theirs_of(const struct json *j, enum json_kind kind)
{
	if (json_kind(j) != kind)
		BUG("JSON %s taken for %s", json_kind_name(json_kind(j)), json_kind_name(kind));
	return theirs(j);
}

static enum json_fault read_upto(struct str text, int max_values, bool any_number,
				 struct json **out, size_t *n, struct err *err)
{
	struct json_object *o;

	if (text.n > INT32_MAX)
		return ERR_SET(err, JSON_NOT_JSON, "longer than %d bytes", INT32_MAX);
	enum json_fault fault = json_scan(text, max_values, any_number, &o, n, err);
	if (fault == JSON_FINE)
		*out = (struct json *)(uintptr_t)ours(o);
	return fault;
}

enum json_fault json_read(struct str text, struct json **out, struct err *err)
{
	return read_upto(text, INT32_MAX, false, out, NULL, err);
}

enum json_fault json_read_sent(struct str text, struct json **out, struct err *err)
{
	return read_upto(text, JSON_VALUES_MAX, false, out, NULL, err);
}

enum json_fault json_read_first(struct str text, struct json **out, size_t *n, struct err *err)
{
	return read_upto(text, JSON_VALUES_MAX, false, out, n, err);
}

enum json_fault json_read_exact(struct str text, struct json **out, struct err *err)
{
	return read_upto(text, JSON_VALUES_MAX, true, out, NULL, err);
}

void json_free(struct json *root)
{
	json_object_put(theirs(root));
}

enum json_kind json_kind(const struct json *j)
{
	switch (json_object_get_type(theirs(j))) {
	case json_type_null:
		return JSON_NULL;
	case json_type_boolean:
		return JSON_BOOL;
	case json_type_int:
		return JSON_INT;
	case json_type_double:
		return JSON_DOUBLE;
	case json_type_string:
		return JSON_STRING;
	case json_type_array:
		return JSON_ARRAY;
	case json_type_object:
		return JSON_OBJECT;
	}
	BUG("unknown type of json-c");
}

const char *json_kind_name(enum json_kind kind)
{
	static const char *const name[] = {"null",   "boolean", "integer", "number",
					   "string", "array",	"object"};

	return name[kind];
}

bool json_bool(const struct json *j)
{
	return json_object_get_boolean(theirs_of(j, JSON_BOOL));
}

int64_t json_int(const struct json *j)
{
	return json_object_get_int64(theirs_of(j, JSON_INT));
}

double json_double(const struct json *j)
{
	if (json_kind(j) == JSON_INT)
		return (double)json_int(j);
	return json_object_get_double(theirs_of(j, JSON_DOUBLE));
}

struct str json_number(const struct json *j, char room[static JSON_INT_ROOM])
{
	if (json_kind(j) == JSON_DOUBLE)
		return str_c(json_object_get_userdata(theirs(j)));
	int n = snprintf(room, JSON_INT_ROOM, "%" PRId64, json_int(j));
	return (struct str){room, (size_t)n};
}

struct str json_str(const struct json *j)
{
	struct json_object *o = theirs_of(j, JSON_STRING);

	return (struct str){json_object_get_string(o), (size_t)json_object_get_string_len(o)};
}

size_t json_size(const struct json *j)
{
	switch (json_kind(j)) {
	case JSON_ARRAY:
		return json_object_array_length(theirs(j));
	case JSON_OBJECT:
		return (size_t)json_object_object_length(theirs(j));
	default:
		return 0;
	}
}

const struct json *json_item(const struct json *array, size_t i)
{
	if (i >= json_object_array_length(theirs_of(array, JSON_ARRAY)))
		BUG("JSON array without an item %zu", i);
	return ours(json_object_array_get_idx(theirs(array), i));
}

static void free_index(struct json_object *unused, void *index)
{
	free(index);
}

/* json-c keeps members in a linked list. An array of them, kept with a long object, makes a walk
 * linear. */
static const struct lh_entry *member_at(struct json_object *o, size_t i)
{
	const struct lh_entry *entry = json_object_get_object(o)->head;
	size_t n = (size_t)json_object_object_length(o);

	if (n <= MAX_WALK) {
		while (i-- > 0)
			entry = entry->next;
		return entry;
	}
	const struct lh_entry **index = json_object_get_userdata(o);
	if (!index) {
		index = calloc(n, sizeof(*index));
		if (!index)
			BUG("out of memory");
		for (size_t k = 0; k < n; k++, entry = entry->next)
			index[k] = entry;
		json_object_set_userdata(o, index, free_index);
	}
	return index[i];
}

bool json_member(const struct json *object, size_t i, struct str *key, const struct json **value)
{
	struct json_object *o = theirs_of(object, JSON_OBJECT);

	if (i >= (size_t)json_object_object_length(o))
		return false;
	const struct lh_entry *entry = member_at(o, i);
	*key = str_c(lh_entry_k(entry));
	*value = ours(lh_entry_v(entry));
	return true;
}

const struct json *json_get(const struct json *object, const char *key)
{
	struct json_object *value;

	if (json_kind(object) != JSON_OBJECT ||
	    !json_object_object_get_ex(theirs(object), key, &value))
		return NULL;
	return ours(value);
}

bool json_get_str(const struct json *object, const char *key, struct str *out)
{
	const struct json *value = json_get(object, key);

	if (json_kind(value) != JSON_STRING)
		return false;
	*out = json_str(value);
	return true;
}

bool json_get_int(const struct json *object, const char *key, int64_t min, int64_t max,
		  int64_t *out)
{
	const struct json *value = json_get(object, key);

	if (json_kind(value) != JSON_INT || json_int(value) < min || json_int(value) > max)
		return false;
	*out = json_int(value);
	return true;
}

bool json_get_bool(const struct json *object, const char *key, bool *out)
{
	const struct json *value = json_get(object, key);

	if (json_kind(value) != JSON_BOOL)
		return false;
	*out = json_bool(value);
	return true;
}

void json_library(struct buf *out)
{
	buf_printf(out, "json-c %s", json_c_version());
}
