import { expect, it } from 'vitest'
import { evalRow } from '../../runs/eval-row.fixture.ts'
import { evalLine } from './eval-line.ts'

it('an evaluation in a line says how many verdicts it lacks', () => {
  const line = (judgeNullRate?: number) => evalLine(evalRow(0.884, { step: 12, n: 16, judgeNullRate }))
  expect(line()).toBe('step 12, real: answers right 88.4% (16 problems)')
  expect(line(0)).toBe(line())
  expect(line(0.0312)).toBe('step 12, real: answers right 88.4% (16 problems, 3.1% of verdicts missing)')
  expect(line(0.0001)).toContain('(16 problems, less than 0.1% of verdicts missing)')
})
