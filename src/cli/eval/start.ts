/**
 * @file How likely answers are to the model that a training started from, for the rule `likelihood`: the model that an adapter goes
 * on, else the one that is compared with.
 */

import { isServerAddress } from '../../chat/model-address.ts'
import { needsStart } from '../../grade/rules/likelihood.ts'
import type { SavedAnswer } from '../../measure/answers.ts'
import type { MeasuredProblem } from '../../measure/task.ts'
import { openLocalChat } from '../../policy/chat/local-chat.ts'
import { mean } from '../../util/statistics.ts'
import { StatusLine } from '../../util/status-line.ts'
import type { Io } from '../io.ts'
import { type EvalOptions, isSaved } from './options.ts'

/** Mean log-prob of the tokens of an answer, the end of its turn included, nats a token; null of an empty one. */
export type StartLogprob = (answer: SavedAnswer) => number | null

/** The start, where a model of this machine stands for it. */
const startOf = ({ adapter, model, against }: EvalOptions): string | null => {
  const place = adapter === undefined ? against : model
  return place === undefined || isSaved(place) || isServerAddress(place) ? null : place
}

/**
 * Scores all answers by the start in one pass; undefined where no criterion asks for it, or nothing is known of a start, which is said.
 * @param setting that names the start, for that
 * @throws as `openLocalChat`
 */
export const startLogprobs = async (
  options: EvalOptions,
  problems: readonly MeasuredProblem[],
  answers: readonly SavedAnswer[],
  io: Io,
  setting = '--against',
): Promise<StartLogprob | undefined> => {
  if (!problems.some(({ rubric }) => needsStart(rubric.criteria))) return undefined
  const place = startOf(options)
  if (place === null) {
    io.err.write(
      `the rule likelihood has no verdict: it asks the model that a training started from; give that as ${setting}, or as --model with the --adapter\n`,
    )
    return undefined
  }
  const { policy, format } = await openLocalChat(place, {
    threads: options.threads,
    status: new StatusLine(io.err),
  })
  try {
    const items = answers.map(({ prompt, response, finishReason }) => ({
      promptTokens: format.encode(prompt),
      tokens: [
        ...format.tokens(response),
        ...(finishReason === 'length' ? [] : format.stopTokens.slice(0, 1)),
      ],
    }))
    const scored = items.flatMap(({ tokens }, i) => (tokens.length > 0 ? [i] : []))
    const scores = await policy.score(scored.map(i => items[i]))
    const means = new Map(scored.map((i, at) => [answers[i], mean(scores[at].logprobs)]))
    return answer => means.get(answer) ?? null
  } finally {
    await policy.close()
  }
}
