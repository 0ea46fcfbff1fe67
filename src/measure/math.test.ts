import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { sharedData } from '../util/shared-data.fixture.ts'
import { gsm8k, mathematics } from './math.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-measure-math-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const problemsOf = (task: typeof gsm8k, ...rows: unknown[]) => {
  const path = join(folder, 'rows.jsonl')
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return task.rows(path)
}

describe('problems with one answer', () => {
  it('are asked in one wording, and know the answer behind the last ####', () => {
    const [problem] = problemsOf(gsm8k, { question: 'How many?', answer: '1,000 + 5 = 1,005\n#### 1,005' })
    expect(problem.reference).toBe('1005')
    expect(problem.messages[0].content).toBe(
      'How many?\n\nPlease reason step by step, and put your final answer within \\boxed{}.',
    )
    expect(problem.rubric.criteria[0].verifier).toEqual({
      kind: 'rule',
      fn: 'math_equal',
      params: { gold: '1005' },
    })
  })

  it('of MATH have theirs beside the solution', () => {
    const row = { problem: 'x?', solution: '...', answer: '\\frac{1}{2}', unique_id: 'a/1' }
    expect(problemsOf(mathematics, row, row).map(({ id, reference }) => [id, reference])).toEqual([
      ['a/1', '\\frac{1}{2}'],
      ['a/1~2', '\\frac{1}{2}'],
    ])
  })

  it('are refused without one', () => {
    expect(() => problemsOf(gsm8k, { question: 'x', answer: 'some words' })).toThrow(
      /rows\.jsonl:1: answer: expected "#### NUMBER"/,
    )
  })

  it('are those of the public files', ({ skip }) => {
    const [gsm, math] = [sharedData('gsm8k/train_1000.jsonl'), sharedData('math500/math500.jsonl')]
    if (gsm === null || math === null) return skip('no ../shared/data/gsm8k here')
    expect([gsm8k.rows(gsm).length, mathematics.rows(math).length]).toEqual([1000, 200])
  })
})
