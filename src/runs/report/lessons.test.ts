import { expect, it } from 'vitest'
import type { RolloutRow, ShownLesson } from '../rows.ts'
import { lessonBlocks, lessonUses } from './lessons.ts'
import { part } from './page.ts'
import { Blocks } from './parts/blocks.tsx'

const lesson = (text: string, changes: Partial<ShownLesson> = {}): ShownLesson => ({
  ...{ how: 'cross', question: 'Where is the cave?', text },
  ...changes,
})

const row = (step: number, lessons?: ShownLesson[]): RolloutRow => ({
  ...{ step, problemId: `p${step}`, prompt: `Question ${step}?`, response: '', reward: step / 8 },
  ...(lessons && { lessons }),
})

it('has every lesson once, with the latest attempt that was shown it', () => {
  const uses = lessonUses([row(1, [lesson('a'), lesson('b')]), row(2), row(5, [lesson('a')])])
  expect(uses.map(({ text, step, asked, reward }) => [text, step, asked, reward])).toEqual([
    ['a', 5, 'Question 5?', 0.625],
    ['b', 1, 'Question 1?', 0.125],
  ])
})

const textOf = (rollouts: RolloutRow[]) => part(Blocks, { blocks: lessonBlocks(rollouts) })

it('is nothing where nothing was shown, and a few of either kind where much was', () => {
  expect(lessonBlocks([row(1), row(2)])).toEqual([])
  const rows = Array.from({ length: 20 }, (_, i) =>
    row(i + 1, [lesson(`other ${i + 1};`), lesson(`own ${i + 1};`, { how: 'within' })]),
  )
  const text = textOf(rows)
  expect(text.match(/(?:own|other) \d+;/g)).toEqual([
    'own 20;',
    'own 19;',
    'own 18;',
    'other 20;',
    'other 19;',
    'other 18;',
  ])
  expect(text).toContain('of 40 lessons')
})

it('shows the words of models as text alone', () => {
  const text = textOf([
    row(1, [lesson('</td><script>alert(1)</script>', { question: '<img src=x onerror=alert(1)>' })]),
  ])
  expect(text).not.toMatch(/<script|<img/)
  expect(text).toContain('&lt;script>')
  expect(text).toContain('&lt;img src=x')
})
