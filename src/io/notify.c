#include "io/notify.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify(const char *state)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	const size_t n = path ? strlen(path) : 0;
	int fd;

	if (n == 0)
		return;
	memcpy(to.sun_path, path, n < sizeof(to.sun_path) ? n : sizeof(to.sun_path));
	if (path[0] == '@')
		to.sun_path[0] = '\0'; /* of the abstract namespace */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* A path too long makes an address too long, which is refused. */
	if (fd < 0 || sendto(fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL,
			     (const struct sockaddr *)&to,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
		log_warn("notify_failed", L_STR("state", state), L_STR("why", strerror(errno)));
	if (fd >= 0)
		close(fd);
}

static void is_alive(void *owner)
{
	notify("WATCHDOG=1");
}

static bool read_number(const char *variable, int64_t *out)
{
	const char *text = getenv(variable);

	return text && str_to_int(str_c(text), 1, INT64_MAX, out);
}

struct timer *notify_watchdog(struct reactor *r)
{
	int64_t us, pid = getpid();
	struct timer *t;

	if (!read_number("WATCHDOG_USEC", &us) ||
	    (getenv("WATCHDOG_PID") && !read_number("WATCHDOG_PID", &pid)) || pid != getpid())
		return NULL;
	t = timer_new(r, is_alive, NULL);
	timer_start(t, us / 2000, us / 2000);
	return t;
}
