#include "app/blame.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOPIC_BYTES = 256 }; /* a topic's name has at most 249 */

struct page {	      /* the mapped file; read on the machine that wrote it */
	int64_t kind; /* 0 nothing, 1 a message, 2 a job; written last, cleared first */
	int64_t partition, offset_or_job;
	char topic[TOPIC_BYTES];
};

struct blame {
	char dir[PATH_MAX / 2], file[NAME_MAX];
	int fd;
	struct page *page;
};

static enum status make_dir(const char *dir, struct err *err)
{
	if (mkdir(dir, 0700) == 0 || errno == EEXIST)
		return ST_OK;
	return err_set(err, ST_INVALID,
		       "worker.state_dir %s: %s; name a directory that can be made and written",
		       dir, strerror(errno));
}

static enum status cannot_map(const char *path, int why, struct err *err)
{
	return err_set(
		err, ST_INVALID,
		"worker.state_dir %s: %s; make room, or name a directory that can be written", path,
		strerror(why));
}

static enum status map(struct blame *b, struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", b->dir, b->file);
	b->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (b->fd < 0)
		return cannot_map(path, errno, err);
	/* It may have to wait for somebody who just looks whether its owner is dead. */
	int why = flock(b->fd, LOCK_EX) != 0 ? errno : 0;
	if (!why)
		why = posix_fallocate(b->fd, 0, sizeof(struct page)); /* leaves errno alone */
	if (!why) {
		b->page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, b->fd,
			       0);
		why = b->page == MAP_FAILED ? errno : 0;
	}
	if (!why)
		return ST_OK;
	(void)unlink(path);
	return cannot_map(path, why, err);
}

enum status blame_open(const char *state_dir, struct blame **out, struct err *err)
{
	struct blame *b = mem_new(struct blame);

	b->fd = -1;
	snprintf(b->dir, sizeof(b->dir), "%s", state_dir);
	snprintf(b->file, sizeof(b->file), "blame.%d.%lld", (int)getpid(),
		 (long long)clock_unix_ms());
	if (make_dir(b->dir, err) == ST_OK && map(b, err) == ST_OK) {
		*out = b;
		return ST_OK;
	}
	if (b->fd >= 0)
		close(b->fd);
	free(b);
	return ST_INVALID;
}

void blame_forget(struct blame *b, const char *incident)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", b->dir, incident);
	unlink(path);
}

void blame_close(struct blame *b)
{
	if (!b)
		return;
	blame_forget(b, b->file);
	munmap(b->page, sizeof(*b->page));
	close(b->fd);
	free(b);
}

void blame_set(struct blame *b, const struct record *m, int64_t job_no)
{
	struct page *p = b->page;

	__atomic_store_n(&p->kind, 0, __ATOMIC_RELEASE);
	if (m) {
		const size_t n = m->topic.n < TOPIC_BYTES ? m->topic.n : TOPIC_BYTES - 1;

		memcpy(p->topic, m->topic.p, n);
		p->topic[n] = 0;
		p->partition = m->partition;
		p->offset_or_job = m->offset;
		__atomic_store_n(&p->kind, 1, __ATOMIC_RELEASE);
	} else if (job_no) {
		p->offset_or_job = job_no;
		__atomic_store_n(&p->kind, 2, __ATOMIC_RELEASE);
	}
}

/* ---- what the dead left ---- */

static void tell(struct blame *b, const struct page *p, const char *file, blame_found_fn *found,
		 void *owner)
{
	struct strike s = {.partition = (int32_t)p->partition, .offset = p->offset_or_job};

	if (p->kind != 1 && p->kind != 2) {
		blame_forget(b, file);
		return;
	}
	if (p->kind == 1)
		s.topic = (struct str){p->topic, strnlen(p->topic, TOPIC_BYTES)};
	found(owner, &s, file);
}

static void look(struct blame *b, const char *file, blame_found_fn *found, void *owner)
{
	char path[PATH_MAX];
	struct page p = {0};
	int fd;

	snprintf(path, sizeof(path), "%s/%s", b->dir, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	/* A file too short to hold a page is being made by a worker that is not yet its owner, or was left so. */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && read(fd, &p, sizeof(p)) == sizeof(p))
		tell(b, &p, file, found, owner);
	close(fd);
}

void blame_collect(struct blame *b, blame_found_fn *found, void *owner)
{
	DIR *d = opendir(b->dir);
	const struct dirent *e;

	if (!d) {
		log_warn("state_dir_unreadable", L_STR("dir", b->dir),
			 L_STR("why", strerror(errno)));
		return;
	}
	while ((e = readdir(d)))
		if (strncmp(e->d_name, "blame.", 6) == 0 && strcmp(e->d_name, b->file) != 0)
			look(b, e->d_name, found, owner);
	closedir(d);
}
