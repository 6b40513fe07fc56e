#include "app/marks.h"

#include "base/memory.h"

#include <sys/queue.h>

struct part {
	LIST_ENTRY(part) link;
	char *topic;
	int32_t partition;
	int64_t *
		open; /* offsets begun and not settled, rising; a ring is not needed: few are open */
	size_t n, cap;
	int64_t next_offset; /* behind the last record begun or passed; -1: none yet */
	int64_t raised;	     /* last told */
};

struct marks {
	marks_raised_fn *raised;
	void *owner;
	LIST_HEAD(, part) all;
};

static struct part *find(const struct marks *m, struct str topic, int32_t partition)
{
	struct part *p;

	LIST_FOREACH(p, &m->all, link)
	if (p->partition == partition && str_is(topic, p->topic))
		break;
	return p;
}

static struct part *find_or_add(struct marks *m, struct str topic, int32_t partition)
{
	struct part *p = find(m, topic, partition);

	if (p)
		return p;
	p = mem_new(struct part);
	p->topic = mem_must(strndup(topic.p, topic.n));
	p->partition = partition;
	p->next_offset = p->raised = -1;
	LIST_INSERT_HEAD(&m->all, p, link);
	return p;
}

static void tell(struct marks *m, struct part *p)
{
	const int64_t mark = p->n ? p->open[0] : p->next_offset;

	if (mark <= p->raised)
		return;
	p->raised = mark;
	m->raised(m->owner, str_c(p->topic), p->partition, mark);
}

void marks_begin(struct marks *m, struct str topic, int32_t partition, int64_t offset)
{
	struct part *p = find_or_add(m, topic, partition);

	/* The first, or the partition came back and is read again from before: what is under it is settled. */
	if (p->next_offset < 0 || offset < p->next_offset) {
		p->n = 0;
		p->raised = offset;
	}
	mem_room(p->open, p->n, p->cap);
	p->open[p->n++] = offset;
	p->next_offset = offset + 1;
}

void marks_settle(struct marks *m, struct str topic, int32_t partition, int64_t offset)
{
	struct part *p = find(m, topic, partition);
	size_t lo = 0, hi = p ? p->n : 0;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (p->open[mid] < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!p || lo == p->n || p->open[lo] != offset)
		return;
	memmove(&p->open[lo], &p->open[lo + 1], (p->n - lo - 1) * sizeof(*p->open));
	p->n--;
	tell(m, p);
}

void marks_pass(struct marks *m, struct str topic, int32_t partition, int64_t next_offset)
{
	struct part *p = find_or_add(m, topic, partition);

	if (next_offset < p->next_offset) { /* the topic was made anew, and has less */
		while (p->n && p->open[p->n - 1] >= next_offset)
			p->n--;
		p->raised = -1;
	}
	p->next_offset = next_offset;
	tell(m, p);
}

void marks_tell_again(struct marks *m)
{
	struct part *p;

	LIST_FOREACH(p, &m->all, link)
	if (p->raised >= 0)
		m->raised(m->owner, str_c(p->topic), p->partition, p->raised);
}

static void part_free(struct part *p)
{
	LIST_REMOVE(p, link);
	free(p->topic);
	free(p->open);
	free(p);
}

void marks_drop(struct marks *m, struct str topic, int32_t partition)
{
	struct part *p = find(m, topic, partition);

	if (p)
		part_free(p);
}

struct marks *marks_new(marks_raised_fn *raised, void *owner)
{
	struct marks *m = mem_new(struct marks);

	m->raised = raised;
	m->owner = owner;
	return m;
}

void marks_free(struct marks *m)
{
	if (!m)
		return;
	while (!LIST_EMPTY(&m->all))
		part_free(LIST_FIRST(&m->all));
	free(m);
}
