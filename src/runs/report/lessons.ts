/** @file Lessons of a memory that attempts were shown: a few of them, to read. */

import { plural } from '../../util/format.ts'
import type { RolloutRow } from '../rows.ts'
import type { LessonUse, ShownLessons } from './view.ts'

/** Each lesson once, the latest first. */
export const lessonUses = (rows: readonly RolloutRow[]): LessonUse[] => {
  const uses = new Map<string, LessonUse>()
  for (const { step, prompt, reward, lessons = [] } of rows)
    for (const lesson of lessons) {
      const key = JSON.stringify([lesson.question, lesson.text])
      const known = uses.get(key)
      if (known === undefined || known.step <= step) uses.set(key, { ...lesson, step, asked: prompt, reward })
    }
  return [...uses.values()].sort((a, b) => b.step - a.step)
}

const SHOWN_OF_A_KIND = 3

/** The latest lessons of either kind, beside the questions that were asked; null where none were shown. */
export const reportLessons = (rows: readonly RolloutRow[]): ShownLessons | null => {
  const all = lessonUses(rows)
  if (all.length === 0) return null
  const uses = (['within', 'cross'] as const).flatMap(kind =>
    all.filter(({ how }) => how === kind).slice(0, SHOWN_OF_A_KIND),
  )
  return {
    uses,
    about: `The latest, of ${plural(all.length, 'lesson')} beside the attempts that rollouts.jsonl keeps.`,
  }
}
