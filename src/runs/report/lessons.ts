/** @file Lessons of a memory that attempts were shown: a few of them, to read. */

import { plural } from '../../util/format.ts'
import type { RolloutRow, ShownLesson } from '../rows.ts'
import { type Html, html } from './html.ts'

/** A lesson, and the latest attempt of those kept that was shown it. */
export interface LessonUse extends ShownLesson {
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

const figureOf = (reward: number | null): string => (reward === null ? '–' : reward.toFixed(2))

const useRow = ({ how, question, text, step, asked, reward }: LessonUse): Html =>
  html`<tr><th scope="row"><span class="lesson">${text}</span><small>${OF[how]}${how === 'cross' && html`: ${question}`}</small></th><td>${asked}</td><td class="num">${step}</td><td class="num">${figureOf(reward)}</td></tr>`

/** The latest lessons of either kind, beside the questions that were asked; null where none were shown. */
export const lessonTable = (rows: readonly RolloutRow[]): Html | null => {
  const uses = lessonUses(rows)
  if (uses.length === 0) return null
  const shown = (['within', 'cross'] as const).flatMap(kind =>
    uses.filter(({ how }) => how === kind).slice(0, SHOWN_OF_A_KIND),
  )
  return html`<div class="panel set lifetimes"><h3>Lessons that attempts were shown</h3><div class="scroll"><table><thead><tr><th>Lesson</th><th>Asked</th><th class="num">Step</th><th class="num">Reward of the attempt</th></tr></thead><tbody>${shown.map(useRow)}</tbody></table></div><p class="about">The latest, of ${plural(uses.length, 'lesson')} beside the attempts that rollouts.jsonl keeps.</p></div>`
}
