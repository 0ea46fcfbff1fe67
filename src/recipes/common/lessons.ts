/** @file Lessons as criteria: what a group of attempts missed, and what is read from a bank, whoever wrote it. */

import { z } from 'zod'
import {
  type GuidanceOptions,
  type Json,
  lessonCriteria,
  type Retrieval,
  type Retrieved,
} from '../../memory/index.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import type { AttemptSettings } from './lessons-config.ts'

/** What a group of rollouts was judged by, and the verdicts on each of them. */
export interface LessonGroup {
  criteria: readonly Criterion[]
  verdicts_G: readonly (readonly Verdict[])[]
}

export interface Missed {
  criterion: Criterion
  /** Mean over the rollouts with a verdict: what is asked for is there, a flaw is not. */
  satisfied: number
}

/** Fewer rollouts with a verdict tell nothing of a criterion. */
const LEAST_KNOWN = 2

const satisfactions = ({ id, points }: Criterion, verdicts_G: LessonGroup['verdicts_G']): number[] =>
  verdicts_G.flatMap(verdicts => {
    const verdict = verdicts.find(({ criterionId }) => criterionId === id)
    const credit = verdict === undefined ? null : creditOf(verdict)
    if (credit === null) return []
    return [points > 0 ? credit : 1 - credit]
  })

/**
 * The criteria that a group's rollouts missed most: the least satisfied first, then those worth most, then in the rubric's
 * order. Depends on verdicts alone; needs no model.
 */
export const missedCriteria = (
  judged: readonly LessonGroup[],
  { atMost, most, discerning }: AttemptSettings,
): Missed[] => {
  const missed = judged.flatMap(({ criteria, verdicts_G }) =>
    criteria.flatMap((criterion): Missed[] => {
      const known = satisfactions(criterion, verdicts_G)
      if (known.length < LEAST_KNOWN || criterion.points === 0) return []
      const satisfied = known.reduce((sum, own) => sum + own, 0) / known.length
      const discerns = Math.max(...known) > Math.min(...known)
      return satisfied <= atMost && satisfied < 1 && (discerns || !discerning)
        ? [{ criterion, satisfied }]
        : []
    }),
  )
  const worth = ({ criterion: { points } }: Missed) => Math.abs(points)
  return missed.sort((a, b) => a.satisfied - b.satisfied || worth(b) - worth(a)).slice(0, most)
}

/** A lesson as a bank holds it. What checks it comes along: a miniature says a criterion by what checks it. */
const storedLesson = z.strictObject({
  id: z.string(),
  text: z.string(),
  points: z.number(),
  verifier: z
    .strictObject({
      kind: z.enum(['rule', 'formal']),
      fn: z.string(),
      params: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
})
const storedLessons = z.array(storedLesson).min(1)

/** Lessons as takeaways of a bank's item. */
export const takeawaysOf = (missed: readonly Missed[]): Json =>
  missed.map(({ criterion: { id, text, points, verifier } }) => ({
    ...{ id, text, points },
    ...(verifier && { verifier: JSON.parse(JSON.stringify(verifier)) as Json }),
  }))

/** Lessons of an item that are read; more than are shown, because a task may not be able to show all of them. */
const MOST_READ = 32

/** Lessons of one item, on one line each and with markup escaped: criteria as they were kept, or what another run's takeaways say. */
const lessonsOfItem = (retrieved: Retrieved): Criterion[] => {
  const read = (options: GuidanceOptions) => lessonCriteria({ items: [retrieved] }, options)
  const kept = storedLessons.safeParse(retrieved.item.takeaways)
  if (!kept.success) return read({ most: MOST_READ }).map(lesson => ({ id: 'lesson', ...lesson }))
  return kept.data
    .slice(0, MOST_READ)
    .flatMap(lesson => read({ lessonsOf: () => [lesson] }).map(({ text }) => ({ ...lesson, text })))
}

/**
 * What was retrieved as criteria, of the most similar question first, each text once.
 * @param shows whether a task can show a lesson at all
 */
export const lessonsOf = (
  { items }: Pick<Retrieval, 'items'>,
  { most, shows = () => true }: { most: number; shows?: (lesson: Criterion) => boolean },
): Criterion[] => {
  const lessons = new Map<string, Criterion>()
  for (const lesson of items.flatMap(lessonsOfItem)) {
    const key = lesson.text.toLowerCase()
    if (!lessons.has(key) && lesson.points !== 0 && shows(lesson)) lessons.set(key, lesson)
  }
  return [...lessons.values()].slice(0, most).map((lesson, i) => ({ ...lesson, id: `lesson-${i + 1}` }))
}
