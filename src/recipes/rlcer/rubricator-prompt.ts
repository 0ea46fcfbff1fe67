/** @file What a rubricator is shown: a response without its answer, as much of it as there is room for. */

import type { TokenIds } from '../../rl/datum.ts'
import type { RubricatorTask } from '../../tasks/scored-response.ts'
import type { ThoughtResponse } from '../../tasks/thinking.ts'
import type { RlcerConfig } from './config.ts'

/** A response as rubricator and verifier see it. */
export const seenOf = <Problem>(
  { maskFinalAnswer }: Pick<RlcerConfig, 'maskFinalAnswer'>,
  { rubricator }: Pick<RubricatorTask<Problem>, 'rubricator'>,
  problem: Problem,
  response: ThoughtResponse,
): ThoughtResponse => (maskFinalAnswer ? rubricator.masked(problem, response) : response)

/**
 * Asks for a rubric about as much of a response as leaves room for it: thinking that was read and written again may be longer
 * than it was.
 */
export const fittingPrompt = <Problem>(
  { rubricator }: Pick<RlcerConfig, 'rubricator'>,
  { task, positions = Number.POSITIVE_INFINITY }: { task: RubricatorTask<Problem>; positions?: number },
  problem: Problem,
  response: ThoughtResponse,
): TokenIds => {
  const room = positions - rubricator.maxTokens
  const whole = task.rubricator.prompt(problem, response)
  if (whole.length <= room) return whole
  const promptOf = (length: number) => {
    const thinking = response.thinking.slice(0, length)
    return task.rubricator.prompt(problem, {
      ...response,
      text: thinking,
      thinking,
      answer: '',
      closed: false,
    })
  }
  let fits = 0
  for (let step = 2 ** Math.ceil(Math.log2(response.thinking.length + 1)); step >= 1; step /= 2)
    if (fits + step <= response.thinking.length && promptOf(fits + step).length <= room) fits += step
  return promptOf(fits)
}
