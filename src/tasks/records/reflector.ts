/** @file A scripted reflector: lessons of a trajectory as the small model is shown to write them, good ones and poor ones. */

import type { Rng } from '../../util/rng.ts'
import { GOOD_ADVICE, type Lesson, MOST_LESSONS, type RecordsReflection } from './lessons.ts'
import type { RecordsTrajectory } from './trajectory.ts'
import { ADVICE, type Advice } from './vocabulary.ts'
import { ENDINGS, type RecordsQuestion } from './world.ts'

/** How well it reads a trajectory. */
export interface ReflectorHabits {
  /** Chance that a lesson is one that the trajectory shows. */
  grounded: number
  /** Chance that the answer is given away, which helps nobody with another question. */
  tells: number
  /** Chance that a piece of advice is a good one. */
  wise: number
}

export const drawReflectorHabits = (rng: Rng): ReflectorHabits => ({
  grounded: rng.pick([0.9, 0.6, 0.3]),
  tells: rng.pick([0, 0, 0.4]),
  wise: rng.pick([0.9, 0.5]),
})

/** What a trajectory shows of fields: those with a record that holds are in use, those without are not. */
const shownBy = ({ calls }: RecordsTrajectory): Lesson[] =>
  calls.flatMap(({ field, output }): Lesson[] => {
    if (field === null) return []
    if (output.kind === 'found') return [{ kind: 'use', field }]
    return output.kind === 'none' || output.kind === 'old' ? [{ kind: 'not', field }] : []
  })

const same = (a: Lesson, b: Lesson) => JSON.stringify(a) === JSON.stringify(b)

/** A reflection on an attempt; it knows no more than the attempt shows. */
export const demonstrateReflection = (
  question: RecordsQuestion,
  trajectory: RecordsTrajectory,
  { grounded, tells, wise }: ReflectorHabits,
  rng: Rng,
): RecordsReflection => {
  const shown = shownBy(trajectory)
  // What is in use settles a relation; what is not leaves three fields.
  const telling = [
    ...shown.filter(({ kind }) => kind === 'use'),
    ...shown.filter(({ kind }) => kind === 'not'),
  ]
  const count = 1 + rng.int(MOST_LESSONS)
  const lessons: Lesson[] = []
  for (let i = 0; i < count; i++) {
    const next = telling.find(lesson => !lessons.some(own => same(own, lesson)))
    if (next && rng.next() < grounded) lessons.push(next)
    else if (trajectory.answer?.person && rng.next() < tells)
      lessons.push({ kind: 'answer', person: trajectory.answer.person })
    else
      lessons.push({
        kind: rng.pick(['use', 'not'] as const),
        field: { relation: rng.pick(question.relations), ending: rng.pick(ENDINGS) },
      })
  }
  const poor = (Object.keys(ADVICE) as Advice[]).filter(name => !GOOD_ADVICE.includes(name))
  const advice = Array.from({ length: rng.int(3) }, () => rng.pick(rng.next() < wise ? GOOD_ADVICE : poor))
  return { advice: [...new Set(advice)], lessons }
}
