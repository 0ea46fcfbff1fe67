import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Rubric } from '../../rubric/criterion.ts'
import type { RubricItem } from '../../rubric/formats/index.ts'
import { fileRubrics, rubricsOf } from './rubric.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rit-rubric-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Problem {
  id: string
  question: string
}

const PROBLEMS: Problem[] = [
  { id: 'a', question: 'Why is the sky blue?' },
  { id: 'b', question: 'How do birds fly?' },
  { id: 'c', question: 'What is a prime?' },
]

const ritTask = {
  id: ({ id }: Problem) => id,
  question: ({ question }: Problem) => question,
  train: PROBLEMS,
}

const rubric = (id: string): Rubric => ({ criteria: [{ id, text: `Says why ${id}`, points: 1 }] })
const firstOf = ({ criteria }: Rubric) => criteria[0]?.id

describe('thinking rubrics of a run', () => {
  it('holds for all questions where it is one alone', () => {
    const { of, note } = rubricsOf([{ id: 'whatever', rubric: rubric('one') }], ritTask)
    expect(PROBLEMS.map(problem => firstOf(of(problem)))).toEqual(['one', 'one', 'one'])
    expect(note).toBe('thinking is judged by 1 criteria (one)')
  })

  it('goes by the id of a question, then by its words; without one there are no criteria', () => {
    const items: RubricItem[] = [
      { id: 'a', rubric: rubric('of-a') },
      { id: 'row2', prompt: [{ role: 'user', content: 'How do birds fly?\n' }], rubric: rubric('of-b') },
      { id: 'z', rubric: rubric('of-z') },
    ]
    const { of, note } = rubricsOf(items, ritTask)
    expect(PROBLEMS.map(problem => firstOf(of(problem)))).toEqual(['of-a', 'of-b', undefined])
    expect(note).toContain('2 of 3 questions of training have one')
  })

  it('refuses rubrics that are about no question of training', () => {
    const items = ['y', 'z'].map(id => ({ id, rubric: rubric(id) }))
    expect(() => rubricsOf(items, ritTask)).toThrow(
      /expected rubrics about questions of training, got 2 about none of 3/,
    )
  })

  it('reads a file of several, and refuses one that asks for the answer', () => {
    const path = join(folder, 'rubrics.jsonl')
    const row = (id: string, text: string) => JSON.stringify({ id, criteria: [{ id: 'k', text, points: 1 }] })
    writeFileSync(path, `${row('a', 'Names what scatters.')}\n${row('b', 'Tells lift from thrust.')}\n`)
    expect(fileRubrics(path).map(({ id }) => id)).toEqual(['a', 'b'])
    writeFileSync(path, `${row('a', 'Names what scatters.')}\n${row('b', 'The final answer is correct.')}\n`)
    expect(() => fileRubrics(path)).toThrow(/rubric\.file: .*answer/)
  })
})
