/** @file Lessons of a memory that attempts were shown: a few of them, to read. */

import { plural } from '../../util/format.ts'
import type { RolloutRow, ShownLesson } from '../rows.ts'
import { twoDigits } from './rubrics.ts'
import type { Block, TableView } from './view.ts'

/** A lesson, and the latest attempt of those kept that was shown it. */
interface LessonUse extends ShownLesson {
  step: number
  /** What was asked. */
  asked: string
  reward: number | null
}

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

const OF = { within: 'of the same question', cross: 'of a similar question' } as const

const lessonTable = (uses: readonly LessonUse[]): TableView => ({
  head: ['Lesson', { name: 'Asked', kind: 'item' }, 'Step', 'Reward of the attempt'],
  rows: uses.map(({ how, question, text, asked, step, reward }) => [
    { text, class: 'lesson', notes: [how === 'cross' ? `${OF.cross}: ${question}` : OF.within] },
    ...[asked, String(step), twoDigits(reward)],
  ]),
})

/** The latest lessons of either kind, beside the questions that were asked; nothing where none were shown. */
export const lessonBlocks = (rows: readonly RolloutRow[]): Block[] => {
  const all = lessonUses(rows)
  if (all.length === 0) return []
  const uses = (['within', 'cross'] as const).flatMap(kind =>
    all.filter(({ how }) => how === kind).slice(0, SHOWN_OF_A_KIND),
  )
  const about = `The latest, of ${plural(all.length, 'lesson')} beside the attempts that rollouts.jsonl keeps.`
  const title = 'Lessons that attempts were shown'
  return [{ kind: 'panel', class: 'set', title, blocks: [lessonTable(uses), about] }]
}
