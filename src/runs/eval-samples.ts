/** @file Responses of evaluations that are kept for reading: those to the first problems of a set, so that two steps show the same. */

import type { EvalItem, EvalRow, EvalSample, RolloutJudgeCall, RolloutRow, RolloutTurn } from './rows.ts'

/** Problems of a set whose responses are kept: files stay small, and nobody reads more. */
const MOST_SAMPLES = 48

const MOST_CHARACTERS = 12_000

/** Of all turns together, and of each of very many. */
const TURNS_CHARACTERS = 48_000
const LEAST_OF_A_TURN = 400

/** A long text without its middle; no half of a surrogate pair where it is cut. */
const shortened = (text: string, most = MOST_CHARACTERS): string => {
  if (text.length <= most) return text
  const half = most / 2
  const [begin, end] = [text.slice(0, half), text.slice(-half)]
  return `${begin.replace(/[\ud800-\udbff]$/, '')}\n[...]\n${end.replace(/^[\udc00-\udfff]/, '')}`
}

const shortTurns = (turns: readonly RolloutTurn[]): RolloutTurn[] => {
  const share = Math.max(LEAST_OF_A_TURN, 2 * Math.floor(TURNS_CHARACTERS / turns.length / 2))
  return turns.map(turn => ({ ...turn, text: shortened(turn.text, Math.min(MOST_CHARACTERS, share)) }))
}

/** Whether a verdict was remembered or asked for twice tells of circumstances: an evaluation says the same after a resume. */
const lasting = ({ reused: _, attempts: __, ...call }: RolloutJudgeCall): RolloutJudgeCall => call

const readable = (sample: EvalSample): EvalSample => ({
  ...sample,
  prompt: shortened(sample.prompt),
  ...(sample.plainPrompt !== undefined && { plainPrompt: shortened(sample.plainPrompt) }),
  response: shortened(sample.response),
  ...(sample.judgeCalls && { judgeCalls: sample.judgeCalls.map(lasting) }),
  ...(sample.turns && { turns: shortTurns(sample.turns) }),
  ...(typeof sample.answer === 'string' && { answer: shortened(sample.answer) }),
  ...(sample.steps && { steps: sample.steps.map(step => ({ ...step, text: shortened(step.text) })) }),
  ...(sample.verdicts && {
    verdicts: sample.verdicts.map(verdict =>
      verdict.explanation === undefined
        ? verdict
        : { ...verdict, explanation: shortened(verdict.explanation) },
    ),
  }),
})

/**
 * A row whose first problems have a response each.
 * @param sampleOf the response to a problem by its place; null where there is none to show
 */
export const withSamples = (row: EvalRow, sampleOf: (i: number) => EvalSample | null): EvalRow => ({
  ...row,
  items: row.items?.map((item, i): EvalItem => {
    const sample = i < MOST_SAMPLES ? sampleOf(i) : null
    return sample === null ? item : { ...item, sample: readable(sample) }
  }),
})

/** A kept response as the card of a rollout shows it; null of an evaluation that kept none. */
export const sampleRow = ({ step, items = [] }: EvalRow, id: string): RolloutRow | null => {
  const sample = items.find(item => item.id === id)?.sample
  return sample === undefined ? null : { step, problemId: id, ...sample }
}
