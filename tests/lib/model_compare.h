/*
 * model_compare.h - what the scripted critic says of two drafts: the longer one is the better, wherever it stands; of one length they tie.
 * Included by model_script.h only.
 */
#ifndef MODEL_COMPARE_H
#define MODEL_COMPARE_H

#include <stdbool.h>
#include <string.h>

static const struct {
	const char *line, *first, *second, *end; /* of the prompts */
} comparisons[] = {
	{"You compare two drafts.", "\nFirst draft:\n", "\nSecond draft:\n",
	 "\nCompare the two drafts."},
	{"あなたは、二つの草稿を比べます。", "\n一つ目の草稿:\n", "\n二つ目の草稿:\n",
	 "\n二つの草稿を比べてください。"},
};

/* NULL: it is not asked to compare. The caller frees it. */
static char *compare(const char *system, const char *user)
{
	for (int i = 0; i < 2; i++) {
		if (strncmp(system, comparisons[i].line, strlen(comparisons[i].line)))
			continue;
		const char *first = strstr(user, comparisons[i].first);
		const char *second = first ? strstr(first, comparisons[i].second) : NULL;
		const char *end = second ? strstr(second, comparisons[i].end) : NULL;
		if (!end)
			return strdup("There are no two drafts.");
		first += strlen(comparisons[i].first);
		const long n = second - first,
			   m = end - second - (long)strlen(comparisons[i].second);
		return strdup(
			n == m	? "{\"reasons\":\"Both say it all.\",\"better\":\"tie\"}"
			: n > m ? "{\"reasons\":\"The first says more.\",\"better\":\"first\"}"
				: "{\"reasons\":\"The second says more.\",\"better\":\"second\"}");
	}
	return NULL;
}

#endif
