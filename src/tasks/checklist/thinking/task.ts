/** @file Packing lists with thinking before them: prompts, reading, and what the lists are worth. */

import { RuleGrader, type RuleSettings } from '../../../grade/rules/index.ts'
import type { TokenIds } from '../../../rl/datum.ts'
import type { Criterion, Rubric } from '../../../rubric/criterion.ts'
import { signedScore } from '../../../rubric/index.ts'
import type { ScoredResponse } from '../../scored-response.ts'
import type { ThinkingTask, ThoughtItem, ThoughtResponse } from '../../thinking.ts'
import { hintsOf, tripPrompt } from '../format.ts'
import { COMPANIONS, ITEMS, OCCASIONS, TOPICS } from '../vocabulary.ts'
import { type PackingWorld, type Trip, tripName } from '../world.ts'
import { THOUGHT_VERIFIER } from './predicates.ts'
import { readThoughtful } from './thought.ts'

const THINGS: ReadonlySet<string> = new Set(ITEMS)

const isWellFormed = ({ closed, answer }: ThoughtResponse): boolean => {
  const words = answer.split(/\s+/)
  return closed && answer !== '' && words.every(word => THINGS.has(word))
}

/** Trips whose lists are judged by the hidden rubric, whatever was thought before them. */
export class PackingThinkingTask implements ThinkingTask<Trip> {
  readonly world: PackingWorld
  readonly #grader: RuleGrader
  readonly #rubricOf: (trip: Trip) => Rubric

  /** @param rubricOf another rubric for the lists than the true one */
  constructor(
    world: PackingWorld,
    { rules, rubricOf }: { rules?: Partial<RuleSettings>; rubricOf?: (trip: Trip) => Rubric } = {},
  ) {
    this.world = world
    this.#grader = new RuleGrader(rules)
    this.#rubricOf = rubricOf ?? (trip => world.rubric(trip))
  }

  name(trip: Trip): string {
    return tripName(trip)
  }

  question({ topic, occasion, companion }: Trip): string {
    return `What to pack for a trip: ${TOPICS[topic]}, ${OCCASIONS[occasion]}, with ${COMPANIONS[companion]}?`
  }

  /** Hints are criteria about the list; those about thinking have no words here and are passed over. */
  prompt(trip: Trip, hints: readonly Criterion[] = []): TokenIds {
    return tripPrompt(trip, hintsOf(hints.filter(({ verifier }) => verifier?.fn !== THOUGHT_VERIFIER)))
  }

  read(tokens: ArrayLike<number>): ThoughtResponse {
    return readThoughtful(tokens)
  }

  /** What the list is judged by; it can be shown in the prompt as a scaffold. */
  rubric(trip: Trip): Rubric {
    return this.#rubricOf(trip)
  }

  /** The signed score of the list by its rubric, not below 0. */
  async gradeAnswers(items: readonly ThoughtItem<Trip>[]): Promise<ScoredResponse[]> {
    return Promise.all(
      items.map(async ({ problem, response }) => {
        const rubric = this.rubric(problem)
        const verdicts = await this.#grader.grade({ prompt: [], response: response.answer }, rubric.criteria)
        const { score } = signedScore(rubric, verdicts)
        const paid = response.closed && score !== null ? Math.max(0, score) : score && 0
        return { score: paid, verdicts, wellFormed: isWellFormed(response) }
      }),
    )
  }
}
