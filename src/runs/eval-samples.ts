/** @file Responses of evaluations that are kept for reading: those to the first problems of a set, so that two steps show the same. */

import type { EvalItem, EvalRow, EvalSample, RolloutJudgeCall, RolloutRow } from './rows.ts'

/** Problems of a set whose responses are kept: files stay small, and nobody reads more. */
export const MOST_SAMPLES = 48

const MOST_CHARACTERS = 12_000

/** A long text without its middle. */
const shortened = (text: string): string => {
  if (text.length <= MOST_CHARACTERS) return text
  const half = MOST_CHARACTERS / 2
  return `${text.slice(0, half)}\n[...]\n${text.slice(-half)}`
}

/** Whether a verdict was remembered or asked for twice tells of circumstances: an evaluation says the same after a resume. */
const lasting = ({ reused: _, attempts: __, ...call }: RolloutJudgeCall): RolloutJudgeCall => call

const readable = (sample: EvalSample): EvalSample => ({
  ...sample,
  prompt: shortened(sample.prompt),
  response: shortened(sample.response),
  ...(sample.judgeCalls && { judgeCalls: sample.judgeCalls.map(lasting) }),
  ...(sample.turns && { turns: sample.turns.map(turn => ({ ...turn, text: shortened(turn.text) })) }),
})

/**
 * A row whose first problems have a response each.
 * @param sampleOf the response to a problem by its id; null where there is none to show
 */
export const withSamples = (row: EvalRow, sampleOf: (id: string) => EvalSample | null): EvalRow => ({
  ...row,
  items: row.items?.map((item, i): EvalItem => {
    const sample = i < MOST_SAMPLES ? sampleOf(item.id) : null
    return sample === null ? item : { ...item, sample: readable(sample) }
  }),
})

/** A kept response as the card of a rollout shows it; null of an evaluation that kept none. */
export const sampleRow = ({ step, items = [] }: EvalRow, id: string): RolloutRow | null => {
  const sample = items.find(item => item.id === id)?.sample
  return sample === undefined ? null : { step, problemId: id, ...sample }
}
