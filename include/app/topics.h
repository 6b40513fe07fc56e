/*
 * app/topics.h - the topics that the settings name: which there must be, what is recommended for them, and making them.
 */
#ifndef APP_TOPICS_H
#define APP_TOPICS_H

#include "app/settings.h"
#include "io/cluster.h"

struct topic_need {
	const char *name;	  /* full */
	const char *operation;	  /* the right that a worker needs on it: "Read" or "Write" */
	struct topic recommended; /* partitions and retention */
};

/* Of jobs, of events, of dead letters; in the settings' arena. */
const struct topic_need *topics_needed(const struct settings *, int *n);

/* What is wrong with the topic, and the mend: a command. False: nothing. */
bool topic_fault(const struct settings *, const struct topic_need *, enum topic_state,
		 struct err *out);
/* The same of the group, if the user may not join it. */
void topics_group_fault(const struct settings *, struct err *out);

#endif
