/*
 * app/sample.h - the sample jobs of a profile, and what must become of them. They lie beside the profile, in a folder of its name:
 *
 *	jobs.jsonl     one job a line, as `submit` and `try` take it; each with an id of its own
 *	expected.yaml  a list, one item for each job: `id`, `outcome`, `stop_reason`, optionally `text` (of the draft that is delivered) and
 *	               `score` (its critique's, 0..100) and `cites` (the sources that all issues name, in their order: "S1, no source"), and
 *	               `replies`: what the models and tools answer, in the order in which they are asked, each as `ROLE: text`
 *	               (generator, critic, refiner, tool)
 *
 * A sample is played through the loop itself with these replies: no model, no tool, no broker and no database is asked.
 */
#ifndef APP_SAMPLE_H
#define APP_SAMPLE_H

#include "app/profiles.h"
#include "core/outcome.h"

enum { SAMPLES_MAX = 1000, SAMPLE_REPLIES_MAX = 100 };

#define SAMPLE_JOBS "jobs.jsonl"
#define SAMPLE_EXPECTED "expected.yaml"

struct sample_reply {
	enum role role;
	struct str text;
};

struct sample {
	struct str id;
	struct str job;	   /* absent: there is none of this id */
	const char *place; /* "FILE:LINE" where it is expected */
	enum stop_reason why;
	struct str text;  /* absent: any */
	struct str cites; /* as above; absent: any */
	int64_t score;	  /* -1: any */
	const struct sample_reply *reply;
	int n_reply;
};

/* The folder of a profile's samples, in @a. */
const char *sample_folder(struct arena *a, const struct settings *, struct str profile);

/* All samples of @profile, in @a, in the order of expected.yaml. False: there are faults. */
bool samples_read(struct arena *a, const struct profiles *, const struct profile *,
		  const struct sample **out, int *n, struct faults *) MUST_CHECK;

/* Plays a sample. True: it went as expected. False: *difference says how it did not, for a person; it may quote drafts. */
bool sample_play(const struct profiles *, const struct profile *, const struct sample *,
		 struct buf *difference);

#endif
