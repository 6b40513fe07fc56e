#include "app/metrics.h"

#include "base/memory.h"
#include "core/outcome.h"

/* What is told of a label, and how many values it can have. Two that go together are one. */
enum dimension {
	NONE,
	VERSION,
	PART,
	RESULT,
	OUTCOME_AND_STOP_REASON,
	MODEL,
	ROLE,
	CLASS,
	KIND,
	STAGE,
	TOPIC,
};

static const char *const label_name[] = {
	[VERSION] = "version", [PART] = "part",
	[RESULT] = "result",   [OUTCOME_AND_STOP_REASON] = "stop_reason",
	[MODEL] = "model",     [ROLE] = "role",
	[CLASS] = "class",     [KIND] = "kind",
	[STAGE] = "stage",     [TOPIC] = "topic",
};

#define X(name) #name,
static const char *const parts[] = {READY_PARTS(X)}, *const stages[] = {STAGES(X)};
#undef X
static const char *const results[] = {"job", "duplicate", "dead_letter"}; /* by enum settled */
static const char *const kinds[] = {"input", "cached", "output"};	  /* by enum token_kind */

#define UNPACK(...)                                                                                \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define X(name, type, scale, labels, help) {#name, #type, help, scale, UNPACK labels},
static const struct family {
	const char *name, *type, *help;
	int64_t scale;
	enum dimension dimension[METRIC_LABELS]; /* NONE behind the last */
} families[] = {METRICS(X)};
#undef X

/* Of all histograms, in what is counted: milliseconds or writes. */
static const int64_t bounds[] = {1,   2,    5,	  10,	20,    50,    100,   200,
				 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000};
enum {
	N_BOUNDS = sizeof(bounds) / sizeof(*bounds),
	N_CELLS = N_BOUNDS + 2
}; /* over all bounds; the sum */

enum { NAMES_MAX = 201 };

struct metrics {
	const struct settings *settings;
	char *model[NAMES_MAX]; /* the first, "", is of none */
	int n_model;
	int64_t *cell
		[N_METRICS]; /* by the labels' values, the last runs fastest; a histogram has N_CELLS of each */
};

static bool is_histogram(const struct family *f)
{
	return strcmp(f->type, "histogram") == 0;
}

static int n_values(const struct metrics *m, enum dimension d)
{
	switch (d) {
	case PART:
		return N_READY_PARTS;
	case RESULT:
		return sizeof(results) / sizeof(*results);
	case OUTCOME_AND_STOP_REASON:
		return N_STOP_REASONS;
	case MODEL:
		return m->n_model;
	case ROLE:
		return ROLE_NONE;
	case CLASS:
		return N_REPLY_CLASSES;
	case KIND:
		return sizeof(kinds) / sizeof(*kinds);
	case STAGE:
		return N_STAGES;
	case TOPIC:
		return m->settings->n_job_topic;
	default:
		return 1;
	}
}

static const char *value_of(const struct metrics *m, enum dimension d, int i)
{
	switch (d) {
	case PART:
		return parts[i];
	case RESULT:
		return results[i];
	case OUTCOME_AND_STOP_REASON:
		return stop_name((enum stop_reason)i);
	case MODEL:
		return m->model[i];
	case ROLE:
		return role_name((enum role)i);
	case CLASS:
		return reply_class_name((enum reply_class)i);
	case KIND:
		return kinds[i];
	case STAGE:
		return stages[i];
	case TOPIC:
		return m->settings->job_topic[i];
	default:
		return DRAFTMILL_VERSION;
	}
}

/* Places of values: how many of the dimensions from @k on. */
static int n_places(const struct metrics *m, const struct family *f, int k)
{
	int n = 1;

	for (; k < METRIC_LABELS; k++)
		n *= n_values(m, f->dimension[k]);
	return n;
}

/* ---- counting ---- */

struct metrics *metrics_new(const struct settings *settings)
{
	struct metrics *m = mem_new(struct metrics);

	m->settings = settings;
	m->n_model =
		NAMES_MAX; /* room for all; being the first dimension, their number moves no place */
	for (int i = 0; i < N_METRICS; i++) {
		const size_t n = (size_t)n_places(m, &families[i], 0);

		m->cell[i] = mem_must(
			calloc(n, sizeof(int64_t) * (is_histogram(&families[i]) ? N_CELLS : 1)));
	}
	m->n_model = 0;
	(void)metrics_model(m, &(struct model){.name = STR("")});
	metrics_set(m, build_info, 1, 0);
	return m;
}

void metrics_free(struct metrics *m)
{
	for (int i = 0; m && i < N_METRICS; i++)
		free(m->cell[i]);
	for (int i = 0; m && i < m->n_model; i++)
		free(m->model[i]);
	free(m);
}

int metrics_model(struct metrics *m, const struct model *model)
{
	if (!m || !model)
		return 0;
	for (int i = 0; i < m->n_model; i++)
		if (str_is(model->name, m->model[i]))
			return i;
	if (m->n_model == NAMES_MAX)
		return 0;
	m->model[m->n_model] = mem_must(strndup(model->name.p, model->name.n));
	return m->n_model++;
}

static int64_t *cell_at(struct metrics *m, enum metric metric, const int *label)
{
	const struct family *f = &families[metric];
	int place = 0;

	for (int k = 0; k < METRIC_LABELS; k++) {
		const int n = n_values(m, f->dimension[k]);

		if (label[k] < 0 || label[k] >= n)
			BUG("%s has no value %d of label %d", f->name, label[k], k);
		place = place * n + label[k];
	}
	return &m->cell[metric][place * (is_histogram(f) ? N_CELLS : 1)];
}

void metrics_add_at(struct metrics *m, enum metric metric, int64_t n, const int *label)
{
	if (m)
		*cell_at(m, metric, label) += n;
}

void metrics_set_at(struct metrics *m, enum metric metric, int64_t n, const int *label)
{
	*cell_at(m, metric, label) = n;
}

void metrics_observe_at(struct metrics *m, enum metric metric, int64_t n, const int *label)
{
	int64_t *cell;
	int i = 0;

	if (!m)
		return;
	cell = cell_at(m, metric, label);
	while (i < N_BOUNDS && n > bounds[i])
		i++;
	cell[i]++;
	cell[N_BOUNDS + 1] += n;
}

/* ---- rendering ---- */

static void put_label(struct buf *b, char before, const char *name, const char *value)
{
	buf_putc(b, before);
	buf_puts(b, name);
	buf_puts(b, "=\"");
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buf_putc(b, '\\');
		buf_putc(b, *value); /* no line end: the settings take no control character */
	}
	buf_putc(b, '"');
}

enum { LE_NONE = -1, LE_INF = N_BOUNDS }; /* else the bound's place */

static void put_name(struct buf *b, const struct metrics *m, const struct family *f,
		     const char *suffix, int place, int le)
{
	char before = '{';

	buf_printf(b, "draftmill_%s%s", f->name, suffix);
	for (int k = 0; k < METRIC_LABELS && f->dimension[k] != NONE; k++) {
		const enum dimension d = f->dimension[k];
		const int i = place / n_places(m, f, k + 1) % n_values(m, d);

		if (d == OUTCOME_AND_STOP_REASON) {
			put_label(b, before, "outcome",
				  outcome_name(outcome_of((enum stop_reason)i)));
			before = ',';
		}
		put_label(b, before, label_name[d], value_of(m, d, i));
		before = ',';
	}
	if (le == LE_INF)
		put_label(b, before, "le", "+Inf");
	else if (le >= 0) {
		buf_printf(b, "%cle=\"", before);
		buf_decimal(b, bounds[le], f->scale);
		buf_putc(b, '"');
	}
	buf_puts(b, before == ',' || le >= 0 ? "} " : " ");
}

static void put_sample(struct buf *b, const struct metrics *m, const struct family *f, int place,
		       int64_t n)
{
	put_name(b, m, f, "", place, LE_NONE);
	buf_decimal(b, n, f->scale);
	buf_putc(b, '\n');
}

static void put_histogram(struct buf *b, const struct metrics *m, const struct family *f, int place,
			  const int64_t *cell)
{
	int64_t n = 0;

	for (int i = 0; i <= N_BOUNDS; i++) {
		n += cell[i];
		put_name(b, m, f, "_bucket", place, i);
		buf_printf(b, "%lld\n", (long long)n);
	}
	put_name(b, m, f, "_sum", place, LE_NONE);
	buf_decimal(b, cell[N_BOUNDS + 1], f->scale);
	buf_putc(b, '\n');
	put_name(b, m, f, "_count", place, LE_NONE);
	buf_printf(b, "%lld\n", (long long)n);
}

void metrics_render(const struct metrics *m, struct buf *out)
{
	for (int i = 0; i < N_METRICS; i++) {
		const struct family *f = &families[i];
		const int64_t *cell = m->cell[i];

		buf_printf(out, "# HELP draftmill_%s %s\n# TYPE draftmill_%s %s\n", f->name,
			   f->help, f->name, f->type);
		for (int place = 0; place < n_places(m, f, 0); place++) {
			if (is_histogram(f))
				put_histogram(out, m, f, place, &cell[place * N_CELLS]);
			else if (cell[place] || f->dimension[1] == NONE)
				put_sample(out, m, f, place, cell[place]);
		}
	}
}
