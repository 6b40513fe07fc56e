/*
 * model_parts.h - a letter of the scripted model as the schema asks for it.
 */
#ifndef MODEL_PARTS_H
#define MODEL_PARTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <string.h>

static json_object *property(json_object *schema, const char *name)
{
	return json_object_object_get(json_object_object_get(schema, "properties"), name);
}

/* The text's paragraphs for the members that the schema wants: one for each of the first, the last for the last, the rest for the one
 * before that. False: it asks for one text. */
static bool add_parts(json_object *o, json_object *schema, const char *text)
{
	json_object *names = json_object_object_get(schema, "required");
	size_t n;

	if (!json_object_is_type(names, json_type_array) || property(schema, "text"))
		return false;
	n = json_object_array_length(names);
	for (size_t i = 0; i < n; i++) {
		const char *end = text + strlen(text), *gap = strstr(text, "\n\n");

		if (i + 2 == n) {
			for (const char *next; gap && (next = strstr(gap + 2, "\n\n"));)
				gap = next;
		}
		end = gap && i + 1 < n ? gap : end;
		json_object_object_add(o,
				       json_object_get_string(json_object_array_get_idx(names, i)),
				       json_object_new_string_len(text, (int)(end - text)));
		text = *end ? end + 2 : end;
	}
	return true;
}

#endif
