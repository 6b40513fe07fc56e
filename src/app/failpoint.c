#include "app/failpoint.h"

#ifdef DRAFTMILL_FAILPOINTS
#include <stdlib.h>

void failpoint(const char *name, struct str subject)
{
	const char *wish = getenv("DRAFTMILL_FAILPOINT");
	const size_t n = strlen(name);

	if (wish && strncmp(wish, name, n) == 0 && wish[n] == ':' &&
	    str_find(subject, str_c(wish + n + 1), 0) >= 0)
		abort();
}
#else
typedef int failpoint_is_nothing_here;
#endif
