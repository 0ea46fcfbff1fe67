/** @file A scripted rubricator: rubrics of a grammar for one response, rejected until the response is below the middle. */

import { z } from 'zod'
import type { Rng } from '../../util/rng.ts'
import { fraction, leastAndMost, natural } from '../../util/setting-shapes.ts'
import { type CriterionGrammar, isMet, type Predicate } from './grammar.ts'
import { itemPiece, pointsPiece, RUBRIC_PIECES } from './rubric-pieces.ts'

/** A criterion as a rubricator writes it. */
export interface ProposedCriterion<Evidence> {
  predicate: Predicate<Evidence>
  text: string
  points: number
}

/** What the scripted rubricator writes: how many criteria, how often with the wrong sign, whether about outcomes. */
export const rubricHabitsSchema = z.strictObject({
  criteria: leastAndMost(natural.default(5), natural.max(15).default(8))
    .prefault({})
    .describe('Fewest and most criteria of a rubric.'),
  wrongSign: fraction
    .default(0.15)
    .describe('Share of the criteria in demonstrations whose sign is inverted.'),
  outcomes: z.boolean().default(false).describe('Rubrics may have criteria about the outcome.'),
})

export type RubricatorHabits = z.output<typeof rubricHabitsSchema>

/** Rows of labels.jsonl that are left for `learned-verifier`: criteria with the exact verdict on the model's own responses. */
export const labelsSchema = z
  .int()
  .min(0)
  .max(1_000_000)
  .default(0)
  .describe(
    'Number of rows of labels.jsonl that are written for `learned-verifier`, on responses of the trained model.',
  )

/** What a rubricator of a task has to say. */
export interface RubricTopic<Problem, Evidence, Slot extends string> {
  grammar: CriterionGrammar<Evidence, Slot>
  /** A value that makes sense for the question at hand. */
  slotValue(slot: Slot, problem: Problem, rng: Rng): string
  /** How its JSON begins. */
  open: string
}

const MOST_TRIES = 200

export class ScriptedRubricator<Problem, Evidence, Slot extends string> {
  readonly #topic: RubricTopic<Problem, Evidence, Slot>

  constructor(topic: RubricTopic<Problem, Evidence, Slot>) {
    this.#topic = topic
  }

  /**
   * A criterion drawn from the grammar, about the question at hand.
   * @param among the predicates that it may be about; by default all, those about outcomes where the habits have it so
   */
  propose(
    problem: Problem,
    { wrongSign, outcomes }: Pick<RubricatorHabits, 'wrongSign' | 'outcomes'>,
    rng: Rng,
    among: readonly Predicate<Evidence>[] = this.#topic.grammar.allowed(outcomes),
  ): ProposedCriterion<Evidence> {
    const { grammar, slotValue } = this.#topic
    const predicate = rng.pick(among)
    const values = grammar.slotsOf(predicate).map(slot => slotValue(slot, problem, rng))
    const good = predicate.expected === 'neutral' ? rng.next() < 0.7 : predicate.expected === 'good'
    const sign = good !== rng.next() < wrongSign ? 1 : -1
    const text = grammar.sentenceWith(predicate, values)
    return { predicate, text, points: sign * (1 + rng.int(5)) }
  }

  /** Points of a response, and the bounds of what a rubric gives. */
  scoreOf(rubric: readonly ProposedCriterion<Evidence>[], evidence: Evidence) {
    const { grammar } = this.#topic
    const sum = (items: readonly ProposedCriterion<Evidence>[]) =>
      items.reduce((total, { points }) => total + points, 0)
    return {
      maximum: sum(rubric.filter(({ points }) => points > 0)),
      minimum: sum(rubric.filter(({ points }) => points < 0)),
      current: sum(rubric.filter(({ text }) => isMet(grammar.read(text)!, evidence))),
    }
  }

  /** The rubric as the JSON that a rubricator answers with. */
  text(
    rubric: readonly ProposedCriterion<Evidence>[],
    { maximum, minimum, current }: { maximum: number; minimum: number; current: number },
  ): string {
    const { comma, maximum: most, minimum: least, current: now, close } = RUBRIC_PIECES
    const soFar = { merits: 0, flaws: 0 }
    const items = rubric.map(({ predicate, text, points }) => {
      const sign = points > 0 ? 'merits' : 'flaws'
      soFar[sign] += points
      return itemPiece(predicate.category) + text + pointsPiece(points) + soFar[sign] + close
    })
    return `${this.#topic.open}${items.join(comma)}${most}${maximum}${least}${minimum}${now}${current}${close}`
  }

  /**
   * A rubric for a response that scores below the middle of what it gives, with different criteria, as JSON; null where none
   * was found.
   */
  demonstrate(
    problem: Problem,
    evidence: Evidence,
    habits: RubricatorHabits,
    rng: Rng,
  ): { text: string; rubric: readonly ProposedCriterion<Evidence>[]; tries: number } | null {
    const { min, max } = habits.criteria
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const count = min + rng.int(max - min + 1)
      const drawn = Array.from({ length: count }, () => this.propose(problem, habits, rng))
      const rubric = drawn.filter(({ text }, i) => drawn.findIndex(other => other.text === text) === i)
      if (rubric.length < min) continue
      const score = this.scoreOf(rubric, evidence)
      if (score.current >= (score.maximum + score.minimum) / 2) continue
      return { text: this.text(rubric, score), rubric, tries }
    }
    return null
  }
}
