#include "app/topics.h"

#include "core/event.h"

#define DAY_MS (24LL * 3600 * 1000)

/* Jobs: partitions are the most workers that can share them. What is kept has to outlast the longest stop of workers or
 * consumers, and for jobs the age of a backup from which the database may come back. Review is read by people. */
static const struct {
	const char *suffix; /* "": of jobs */
	int n_partitions, days;
} recommended[] = {
	{"", 12, 14},
	{"results", 6, 14},
	{"review", 3, 30},
	{DEAD_LETTER_TOPIC, 1, 30},
};

static struct topic_need need_of(const struct settings *s, const char *suffix)
{
	size_t i = sizeof(recommended) / sizeof(*recommended) - 1;

	while (i > 0 && strcmp(recommended[i].suffix, suffix) != 0)
		i--;
	return (struct topic_need){
		.name = arena_printf(s->arena, "%s%s", s->kafka_topic_prefix, suffix).p,
		.operation = "Write",
		.recommended = {.n_partitions = recommended[i].n_partitions,
				.retention_ms = recommended[i].days * DAY_MS}};
}

const struct topic_need *topics_needed(const struct settings *s, int *n)
{
	int n_kind = 0;

	while (event_kind_at(n_kind))
		n_kind++;
	struct topic_need *need =
		arena_array(s->arena, struct topic_need, s->n_job_topic + n_kind + 1);
	for (*n = 0; *n < s->n_job_topic; (*n)++) {
		need[*n] = need_of(s, "");
		need[*n].name = s->job_topic[*n];
		need[*n].operation = "Read";
	}
	for (int i = 0; i < n_kind; i++)
		need[(*n)++] = need_of(s, event_kind_at(i)->topic);
	need[(*n)++] = need_of(s, DEAD_LETTER_TOPIC);
	return need;
}

static void denied(const struct settings *s, const char *what, const char *operation,
		   const char *option, const char *name, struct err *out)
{
	const char *user = "NAME";

	for (int i = 0; i < s->n_kafka_option; i++)
		if (!strcmp(s->kafka_option[i].key, "sasl.username"))
			user = s->kafka_option[i].value;
	(void)err_set(
		out, ST_INVALID,
		"%s %s: this user has no right to it; run `kafka-acls --bootstrap-server %s --add "
		"--allow-principal User:%s --operation %s --%s %s` as an administrator",
		what, name, s->kafka_brokers, user, operation, option, name);
}

bool topic_fault(const struct settings *s, const struct topic_need *need, enum topic_state state,
		 struct err *out)
{
	if (state == TOPIC_MISSING)
		(void)err_set(out, ST_INVALID,
			      "topic %s is not there; run `draftmill topics --create`", need->name);
	else if (state == TOPIC_DENIED)
		denied(s, "topic", need->operation, "topic", need->name, out);
	return state != TOPIC_THERE;
}

void topics_group_fault(const struct settings *s, struct err *out)
{
	denied(s, "group", "Read", "group", s->kafka_group, out);
}
