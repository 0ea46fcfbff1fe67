/** @file The demonstrations of a step, for both roles: the start's own good responses, and a scripted rubricator's rubrics on any. */

import type { SupervisedDatum } from '../../rl/datum.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import {
  LOGIC_GRAMMAR,
  LOGIC_PIECES,
  type LogicEvidence,
  logicEvidenceOf,
  logicRubricator,
  logicRubricatorPrompt,
  logicThinkingPrompt,
  partReasoning,
} from '../../tasks/logic/thinking/index.ts'
import { LOGIC_TOKENS } from '../../tasks/logic/vocabulary.ts'
import { tellingHints } from '../../tasks/thinking-grammar/hints.ts'
import { DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { LogicRubricPhase } from './config.ts'
import type { StartResponse } from './responses.ts'

type Settings = Pick<LogicRubricPhase, 'seed' | 'batch' | 'rubricators' | 'hinted' | 'rubric' | 'reasoners'>

const ended = (text: string): number[] => [...LOGIC_PIECES.encode(text), LOGIC_TOKENS.eos]

/** A few hints by which a chain of thought differs from another. */
export const logicHints = (
  problem: LogicTaskExample,
  pair: readonly [LogicEvidence, LogicEvidence],
  rubric: Settings['rubric'],
  rng: Rng,
): Criterion[] =>
  tellingHints(LOGIC_GRAMMAR, own => logicRubricator.propose(problem, rubric, own).text, pair, rng)

/** Responses that reasoners learn. @throws DataError where rejection leaves none */
export const keptResponses = (
  responses: readonly StartResponse[],
  keep: LogicRubricPhase['reasoners']['keep'],
): StartResponse[] => {
  const kept = responses.filter(own => keep === 'all' || own[keep])
  if (kept.length > 0) return kept
  throw new DataError(
    `reasoners.keep: expected some of the start's ${responses.length} responses to be ${keep}, got none`,
    { hint: 'start from a better model, give it shorter problems (problems.hops), or keep more' },
  )
}

/** The demonstrations of a step; they depend on seed, step and the start's responses alone. */
export const logicDemonstrations = (
  config: Settings,
  responses: readonly StartResponse[],
  problemAt: (index: number) => LogicTaskExample,
): ((step: number) => SupervisedDatum[]) => {
  const kept = keptResponses(responses, config.reasoners.keep)
  const evidenceOf = (problem: LogicTaskExample, { text }: StartResponse) =>
    logicEvidenceOf(problem, partReasoning(text).thinking, null)

  const reasoner = (rng: Rng): SupervisedDatum => {
    const own = rng.pick(kept)
    const problem = problemAt(own.index)
    // Another response to the problem where there is one, else another's.
    const others = responses.filter(({ index, text }) => index === own.index && text !== own.text)
    const other = others.length > 0 ? rng.pick(others) : rng.pick(responses)
    const pair = [evidenceOf(problem, own), evidenceOf(problem, other)] as const
    const hints = rng.next() < config.hinted ? logicHints(problem, pair, config.rubric, rng) : []
    return { promptTokens: logicThinkingPrompt(problem, hints), responseTokens: ended(own.text) }
  }

  const rubricator = (rng: Rng): SupervisedDatum | null => {
    const shown = rng.pick(responses)
    const problem = problemAt(shown.index)
    const written = logicRubricator.demonstrate(problem, evidenceOf(problem, shown), config.rubric, rng)
    if (written === null) return null
    const response = { ...partReasoning(shown.text), answer: '' }
    return { promptTokens: logicRubricatorPrompt(problem, response), responseTokens: ended(written.text) }
  }

  return step =>
    Array.from({ length: config.batch }, (_, i) => {
      const rng = new Rng(`rubric start demonstration/${config.seed}/${(step - 1) * config.batch + i}`)
      const rubric = rng.next() < config.rubricators ? rubricator(rng.fork('rubricator')) : null
      return rubric ?? reasoner(rng.fork('reasoner'))
    })
}
