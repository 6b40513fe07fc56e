#include "app/drain.h"

#include "base/log.h"
#include "io/pg.h"

#include <stdio.h>

static const char marks_sql[] =
	"select topic, part, next_offset from draftmill.intake_mark where cluster = $1";

/* Not if it has moved meanwhile: then somebody reads. */
static const char lower_sql[] =
	"update draftmill.intake_mark set next_offset = $5"
	" where cluster = $1 and topic = $2 and part = $3 and next_offset = $4";

/* A topic has no identity that every librdkafka tells. But a mark, read before the end, cannot be over it, and with the topic the broker
 * deletes what the group has committed; a partition without that is read from its beginning, whatever the mark says. */
static bool is_stale(const struct partition_end *e, int64_t mark)
{
	return mark > e->low && (mark > e->end || e->committed < 0);
}

static enum status lower(struct pg *pg, const char *cluster, const struct partition_end *e,
			 int64_t mark, struct err *err)
{
	struct pg_rows *rows = NULL;
	char part[16], from[24], to[24];

	log_info("mark_lowered", L_STRN("topic", e->topic), L_INT("partition", e->partition),
		 L_INT("mark", mark), L_INT("end", e->end), L_INT("committed", e->committed));
	snprintf(part, sizeof(part), "%d", (int)e->partition);
	snprintf(from, sizeof(from), "%lld", (long long)mark);
	snprintf(to, sizeof(to), "%lld", (long long)e->low);
	const char *const param[] = {cluster, e->topic.p, part, from, to};
	enum status status = pg_query(pg, lower_sql, param, 5, &rows, err);
	pg_rows_free(rows);
	return status;
}

static enum status lower_stale(struct pg *pg, const char *cluster, const struct pg_rows *marks,
			       const struct partition_end *end, int n, struct err *err)
{
	enum status status = ST_OK;

	for (int i = 0; i < n; i++)
		for (int row = 0; row < pg_n(marks) && status == ST_OK; row++)
			if (str_eq(pg_text(marks, row, 0), end[i].topic) &&
			    pg_int(marks, row, 1) == end[i].partition &&
			    is_stale(&end[i], pg_int(marks, row, 2)))
				status = lower(pg, cluster, &end[i], pg_int(marks, row, 2), err);
	return status;
}

enum status drain_start(const struct settings *s, struct cluster *cluster, struct arena *a,
			struct partition_end **end, int *n, struct err *err)
{
	const char *id;
	struct pg *pg = NULL;
	struct pg_rows *marks = NULL;
	enum status status = cluster_id(cluster, &id, err);

	if (status == ST_OK)
		status = pg_connect(s->database_conninfo, "draftmill-drain", &pg, err);
	if (status == ST_OK)
		status = pg_query(pg, marks_sql, &id, 1, &marks, err);
	if (status == ST_OK)
		status = cluster_ends(cluster, s->job_topic, s->n_job_topic, a, end, n, err);
	if (status == ST_OK)
		status = cluster_committed(cluster, s->kafka_group, *end, *n, err);
	if (status == ST_OK)
		status = lower_stale(pg, id, marks, *end, *n, err);
	pg_rows_free(marks);
	pg_free(pg);
	return status;
}
