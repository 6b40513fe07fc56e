#include "app/lease.h"

#include "base/clock.h"
#include "base/log.h"

#include <signal.h>
#include <stdatomic.h>
#include <sysexits.h>
#include <unistd.h>

static _Atomic int64_t lease_until_mono_ms = INT64_MAX;

/* Only what a signal handler may call. */
static void on_continue(int signal_no)
{
	(void)signal_no;
	if (clock_mono_ms() > atomic_load(&lease_until_mono_ms))
		_exit(EX_TEMPFAIL);
}

void lease_watch(void)
{
	signal(SIGCONT, on_continue);
}

void lease_extend(int64_t until_mono_ms)
{
	atomic_store(&lease_until_mono_ms, until_mono_ms);
}

_Noreturn void lease_lost(int64_t worker_id, const char *why)
{
	log_error("fenced", L_INT("worker_id", worker_id), L_STR("why", why));
	_exit(EX_TEMPFAIL);
}
