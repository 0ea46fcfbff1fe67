/** @file Packing lists with thinking before them. */

import { RuleGrader } from '../../../grade/rules/index.ts'
import { signedScore } from '../../../rubric/index.ts'
import type { TaskWith } from '../../task.ts'
import type { ThinkingVerifier, ThoughtResponse } from '../../thinking.ts'
import { hintsOf, tripPrompt } from '../format.ts'
import { packingTask } from '../task.ts'
import { COMPANIONS, ITEMS, OCCASIONS, TOPICS } from '../vocabulary.ts'
import type { PackingWorld, Trip } from '../world.ts'
import {
  assertThought,
  meetsThought,
  ORACLE_IDS,
  statementVerdicts,
  THINKING_BANK,
  THOUGHT_VERIFIER,
} from './predicates.ts'
import { readThoughtful, thoughtfulText } from './thought.ts'

const THINGS: ReadonlySet<string> = new Set(ITEMS)

const isWellFormed = ({ closed, answer }: ThoughtResponse): boolean => {
  const words = answer.split(/\s+/)
  return closed && answer !== '' && words.every(word => THINGS.has(word))
}

/** Trips whose lists are judged by the hidden rubric, whatever was thought before them. */
export const thinkingPackingTask = (world: PackingWorld): TaskWith<Trip, 'thinking'> => {
  const grader = new RuleGrader()
  return {
    ...packingTask(world),
    question: ({ topic, occasion, companion }) =>
      `What to pack for a trip: ${TOPICS[topic]}, ${OCCASIONS[occasion]}, with ${COMPANIONS[companion]}?`,
    // Hints are criteria about the list; those about thinking have no words here and are passed over.
    prompt: (trip, hints = []) =>
      tripPrompt(trip, hintsOf(hints.filter(({ verifier }) => verifier?.fn !== THOUGHT_VERIFIER))),
    show: thoughtfulText,
    /** Worth the signed score of the list, not below 0. */
    grade: items =>
      Promise.all(
        items.map(async ({ tokens, criteria }) => {
          const response = readThoughtful(tokens)
          const verdicts = await grader.grade({ prompt: [], response: response.answer }, criteria)
          const { score } = signedScore({ criteria: [...criteria] }, verdicts)
          const worth = response.closed && score !== null ? Math.max(0, score) : score && 0
          return { verdicts, score: worth, wellFormed: isWellFormed(response) }
        }),
      ),
    thinking: {
      read: readThoughtful,
      exact: thoughtVerifier(world),
      assertExecutes: assertThought,
      stepVerdicts: async items =>
        items.map(({ problem, response }) => statementVerdicts(world, problem, response.thinking)),
      oracle: { id: 'oracle', criteria: THINKING_BANK.filter(({ id }) => ORACLE_IDS.includes(id)) },
      bank: THINKING_BANK,
    },
  }
}

/** Exact and without cost. @throws DataError for a criterion that is no predicate of this task */
export const thoughtVerifier = (world: PackingWorld): ThinkingVerifier<Trip> => ({
  verify: async items =>
    items.map(({ problem, response, rubric: { criteria } }) =>
      meetsThought(world, problem, response, criteria).map((met, i) => ({
        criterionId: criteria[i].id,
        met,
        source: 'rule',
      })),
    ),
})
