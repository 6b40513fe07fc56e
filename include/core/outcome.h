/*
 * core/outcome.h - how a job ends. The one list: the C enums, the SQL look-up table (checked by `migrate`), the README's
 * table and the traces are made from it or checked against it. A stop reason has exactly one outcome.
 *
 * Order is precedence: where two reasons hold at the same step, the upper one names the job's end.
 */
#ifndef CORE_OUTCOME_H
#define CORE_OUTCOME_H

#include "base/str.h"

#define OUTCOMES(X)                                                                                \
	X(passed)    /* checked by machine and critic */                                           \
	X(direct)    /* no critic was asked, by rule */                                            \
	X(escalated) /* a person must decide */                                                    \
	X(failed)    /* ended from outside */

/* clang-format off */
#define STOP_REASONS(X) \
	/* reason, outcome, what a person reads in English and Japanese */ \
	X(no_issues,         passed,    "the critic found nothing to fix and every hard check is green", \
	                                "批評者は直すべき点を見つけず、必須チェックはすべて合格です") \
	X(confidence_gate,   direct,    "low stakes, a confident generator and every check green: no critic was asked", \
	                                "重要度が低く、生成側の確信度が高く、全チェックに合格したため、批評は省かれました") \
	X(oneshot,           direct,    "mode oneshot: every hard check is green, no critic was asked", \
	                                "oneshot モード: 必須チェックに合格し、批評は行いません") \
	X(high_stakes,       escalated, "it passed, but its stakes want a person", \
	                                "合格しましたが、重要度が高いため人の確認が必要です") \
	X(checks_failed,     escalated, "mode oneshot: a hard check is red, or a tool found fault", \
	                                "oneshot モード: 必須チェックに不合格か、ツールが問題を見つけました") \
	X(critique_invalid,  escalated, "the critic's reply could not be read, twice", \
	                                "批評者の返答を二度続けて読み取れませんでした") \
	X(unactionable,      escalated, "the critic did not pass it, twice, yet named nothing to fix", \
	                                "批評者は二度とも不合格としましたが、直すべき点を示しませんでした") \
	X(contradiction,     escalated, "the critic wants back what was cut because it had asked for that", \
	                                "批評者の求めで削った語句を、批評者自身が再び求めました") \
	X(repeated_critique, escalated, "the critic said the same again after the fix", \
	                                "修正後も批評者が同じ指摘を繰り返しました") \
	X(oscillation,       escalated, "the critic said again what it said two or more rounds before: the fixes go round in circles", \
	                                "批評者が二回以上前と同じ指摘に戻り、修正が堂々巡りしています") \
	X(always_new,        escalated, "what was found was fixed, but twice in a row the critic found new issues, as light as may block and no fewer", \
	                                "指摘は修正されましたが、二回続けて最も軽い新たな指摘だけが、減ることなく出ました") \
	X(no_progress,       escalated, "the refiner changed nothing that was flagged, or its revision was rejected, twice", \
	                                "推敲者は指摘された箇所を何も変更しなかったか、改訂版が二度とも却下されました") \
	X(loop_detected,     escalated, "the revision equals an earlier draft", \
	                                "改訂版が以前の草稿と同一です") \
	X(max_iterations,    escalated, "at the last allowed critique it did not pass: by the critic, or by a red check", \
	                                "許された最後の批評でも合格しませんでした") \
	X(budget,            escalated, "the next call could pass the job's cap of tokens or money", \
	                                "次の呼び出しでトークンまたは金額の上限を超えるおそれがあります") \
	X(timeout,           escalated, "the job's active time is used up, or a call took too long for what must follow it", \
	                                "ジョブの稼働時間の上限に達したか、一回の呼び出しが長く、続きの時間が残りません") \
	X(truncated,         escalated, "the reply ended at its length limit and a longer one cannot be asked for", \
	                                "返答が長さの上限で途切れ、これ以上長くできません") \
	X(refused,           escalated, "the provider refused or blocked the text, or twice sent none that can be used", \
	                                "プロバイダーが本文を拒否または遮断したか、本文がありませんでした") \
	X(request_failed,    escalated, "the provider rejects this very request, it kept breaking off, or a tool gave no answer", \
	                                "プロバイダーがこの要求を受け付けないか、通信が繰り返し途切れたか、ツールが答えませんでした") \
	X(expired,           escalated, "its not_after has passed, or will before the provider lets it be asked again", \
	                                "期限 (not_after) を過ぎたか、プロバイダーが次の要求を受け付ける前に過ぎます") \
	X(diverged,          escalated, "the program and its settings of today cannot go on from the stored steps", \
	                                "現在のプログラムと設定では、保存済みの手順を引き継げません") \
	X(cancelled,         failed,    "a person cancelled it", \
	                                "人が取り消しました") \
	X(poison,            failed,    "it crashed the worker three times, or cannot be stored", \
	                                "ワーカーを三度異常終了させたか、保存できません")
/* clang-format on */

#define X(name) OUTCOME_##name,
enum outcome { OUTCOMES(X) N_OUTCOMES };
#undef X
#define X(name, outcome, en, ja) STOP_##name,
enum stop_reason { STOP_REASONS(X) N_STOP_REASONS, STOP_NONE = N_STOP_REASONS };
#undef X

enum outcome outcome_of(enum stop_reason);
const char *outcome_name(enum outcome);
const char *stop_name(enum stop_reason);
const char *stop_sentence(enum stop_reason, bool japanese); /* why, for a person */
enum stop_reason stop_read(struct str name);		    /* STOP_NONE: no such reason */

#endif
