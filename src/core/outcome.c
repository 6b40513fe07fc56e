#include "core/outcome.h"

#define X(name, outcome, en, ja) OUTCOME_##outcome,
static const enum outcome outcomes[] = {STOP_REASONS(X)};
#undef X

enum outcome outcome_of(enum stop_reason reason)
{
	return outcomes[reason];
}

const char *outcome_name(enum outcome outcome)
{
#define X(name) #name,
	static const char *const names[] = {OUTCOMES(X)};
#undef X

	return names[outcome];
}

const char *stop_name(enum stop_reason reason)
{
#define X(name, outcome, en, ja) #name,
	static const char *const names[] = {STOP_REASONS(X)};
#undef X

	return names[reason];
}

const char *stop_sentence(enum stop_reason reason, bool japanese)
{
#define X(name, outcome, en, ja) {en, ja},
	static const char *const sentences[][2] = {STOP_REASONS(X)};
#undef X

	return sentences[reason][japanese];
}

enum stop_reason stop_read(struct str name)
{
	for (int i = 0; i < N_STOP_REASONS; i++)
		if (str_is(name, stop_name(i)))
			return i;
	return STOP_NONE;
}
