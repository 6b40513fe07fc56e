#include "job_form.h"

struct jobfile_form job_form(const struct command_line *line)
{
	const char **map = arena_array(line->a, const char *, line->n_option);
	struct jobfile_form form = {
		.format = command_value(line, "format"),
		.delimiter = command_value(line, "delimiter"),
		.encoding = command_value(line, "encoding"),
		.map = map,
	};

	for (int i = 0; i < line->n_option; i++) {
		if (strcmp(line->option[i].key, "map") == 0)
			map[form.n_map++] = line->option[i].value;
	}
	return form;
}
