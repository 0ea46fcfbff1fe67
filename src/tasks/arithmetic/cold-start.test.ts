import { expect, it } from 'vitest'
import { arithmeticStart, arithmeticStartSchema } from './cold-start.ts'
import { evidenceOf, isMet } from './index.ts'
import { ARITHMETIC_GRAMMAR } from './predicates.ts'
import { ARITHMETIC_PIECES } from './vocabulary.ts'

const teacher = arithmeticStartSchema.parse({ kind: 'arithmetic' })
const { demonstrations } = arithmeticStart(teacher, { seed: 1, batch: 8, tested: 1 }).task

it('shows both roles, and hints that the demonstration follows', () => {
  const drawn = Array.from({ length: 40 }, (_, i) => demonstrations(i + 1, [])).flat()
  expect(demonstrations(7, [])).toEqual(drawn.slice(48, 56))
  const texts = drawn.map(({ promptTokens, responseTokens }) =>
    [promptTokens, responseTokens].map(tokens => ARITHMETIC_PIECES.decode(tokens)),
  )
  const rubrics = texts.filter(([, response]) => response.startsWith('{'))
  expect(rubrics.length / texts.length).toBeGreaterThan(0.3)
  expect(rubrics.length / texts.length).toBeLessThan(0.5)
  expect(rubrics.every(([prompt]) => prompt.endsWith('\n<rubric>'))).toBe(true)
  const found = texts.filter(([prompt]) => /\n(do|avoid) /.test(prompt))
  expect(found.length).toBeGreaterThan(20)
  for (const [prompt, response] of found) {
    const [question, ...lines] = prompt.trim().split('\n')
    const numbers = question.trim().split(' ')
    const problem = {
      id: '',
      start: Number(numbers[0]),
      operations: Array.from({ length: (numbers.length - 1) / 2 }, (_, i) => ({
        operator: numbers[2 * i + 1] as '+',
        operand: Number(numbers[2 * i + 2]),
      })),
    }
    const evidence = evidenceOf(problem, response.slice(0, response.indexOf('</think>')), null)
    for (const line of lines.slice(0, -1)) {
      const [, word, criterion] = /^(do|avoid) (.*)$/.exec(line)!
      expect(isMet(ARITHMETIC_GRAMMAR.read(criterion)!, evidence), `${line}: ${response}`).toBe(word === 'do')
    }
  }
})

it('draws a style of which there is a chance', () => {
  const styled = (jumping: number) =>
    arithmeticStartSchema.safeParse({ ...teacher, styles: { careful: 0, merging: 0, jumping } })
  expect(styled(0).error?.issues.map(({ path }) => path.join('.'))).toEqual(['styles'])
  expect(styled(1).success).toBe(true)
})
