/** @file A judge that decides nothing: a training by it would pay nothing, and is not begun. */

import type { Groups, Reward } from '../../rl/rollout.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { GradusError } from '../../util/errors.ts'
import { plural, visible } from '../../util/format.ts'

/** Characters of an answer that an error repeats. */
const MOST_SHOWN = 200

/** Fewer may be chance. */
const FEWEST = 4

const wordsOf = ({ explanation, raw }: Verdict): string => {
  const said =
    raw === undefined || raw.trim() === '' ? '' : `; it answered: ${visible(raw.slice(0, MOST_SHOWN))}`
  return `${visible(explanation ?? 'no reason is known')}${said}`
}

/**
 * To be asked of what was graded before the first step.
 * @throws GradusError where a model judged, and not one of its verdicts came
 */
export const refuseUndecided = (responses: readonly { verdicts: readonly Verdict[] }[]): void => {
  const judged = responses.flatMap(({ verdicts }) => verdicts.filter(({ source }) => source === 'llm'))
  if (judged.length < FEWEST || judged.some(verdict => creditOf(verdict) !== null)) return
  throw new GradusError(
    `the judge decided nothing: all of ${plural(judged.length, 'verdict')} before the first step are missing. The first: ${wordsOf(judged[0])}`,
    {
      hint: 'a training would pay nothing by it; try the judge on a few responses with `gradus grade --rubric FILE --responses FILE --judge URL --model NAME`, give it more tokens or a simpler template (judge.ask), or take a larger one',
    },
  )
}

/** A rollout with all that was said of it. */
interface JudgedRollout extends Pick<Reward, 'reward'> {
  verdicts: readonly Verdict[]
  /** What a judge of the whole group said. */
  relative?: { score: number | null; explanation: string | null }
}

const isMissing = (verdict: Verdict): boolean => creditOf(verdict) === null

/**
 * To be asked of each step: when no judge has a word to say about any rollout, it is out of order.
 * @throws GradusError with the first reason that was given: going on would train on nothing
 */
export const assertJudged = (groups: Groups<JudgedRollout>): void => {
  const rollouts = groups.flat()
  const verdicts = rollouts.flatMap(own => own.verdicts)
  const judged = verdicts.filter(({ source }) => source !== 'rule')
  const byGroup = rollouts.some(({ relative }) => relative !== undefined)
  const isSilent = !byGroup && judged.length >= FEWEST && judged.every(isMissing)
  if (!isSilent && (rollouts.length === 0 || rollouts.some(({ reward }) => reward !== null))) return
  const relative = rollouts.find(own => own.relative?.score === null)?.relative?.explanation
  const reason = relative ?? verdicts.find(isMissing)?.explanation ?? 'no reason given'
  throw new GradusError(
    `judge: expected verdicts on ${rollouts.length} rollouts, got none that decides anything (${reason.slice(0, MOST_SHOWN)})`,
    { hint: 'see to the judge, then go on with --resume-or-start' },
  )
}
