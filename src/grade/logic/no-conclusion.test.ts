import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gradeLogic } from './criteria.ts'
import { parseFormula } from './parse.ts'
import type { LogicProblem } from './problem.ts'
import { LogicSolver } from './solver.ts'

/** Sentences that the reader of English cannot read, with formulas of their own, as FOLIO has. */
const problem: LogicProblem = {
  id: 'ferry',
  premises: [
    'No ferry that is painted green leaves before noon.',
    'Whatever carries mail leaves before noon.',
    'The Heron, a ferry, carries mail.',
  ],
  premisesFol: ['∀x (Green(x) → ¬Early(x))', '∀x (Mail(x) → Early(x))', 'Mail(heron)'].map(
    text => parseFormula(text).formula,
  ),
  conclusion: 'The Heron is painted green by somebody.',
  conclusionFol: null,
  label: 'False',
  source: 'folio',
}

let solver: LogicSolver
beforeAll(async () => {
  solver = await LogicSolver.start({ backend: 'ground' })
})
afterAll(() => solver.close())

const grade = async (steps: string[], answer: string, own = problem) => {
  const response = `<reasoning>\n${steps.map((step, i) => `${i + 1}. ${step}`).join('\n')}\n</reasoning>\n<answer>${answer}</answer>`
  const [result] = await gradeLogic(own, [response], solver, { truth: true })
  return result
}

describe('a problem whose conclusion has no formula', () => {
  it('has C1 to C3 as ever, and nothing that would need the formula', async () => {
    const result = await grade(['Mail(heron)', '∀x (Mail(x) → Early(x))', 'Early(heron)'], 'False')
    expect(result).toMatchObject({
      excluded: null,
      answerCorrect: true,
      validProof: null,
      correctAndValid: null,
      correctAndProved: null,
      truth: { C4: null, C5: null },
    })
    expect(result.criteria).toMatchObject({ C1: 1, C2: 1, C3: 1 })
    expect(result.criteria.C4).toBeTypeOf('number')
    expect(result.criteria.C5).toBeGreaterThan(0)
  })

  it('says no more of a wrong answer or of steps that do not hold: what is known is not zero', async () => {
    const result = await grade(['Green(heron)'], 'True')
    expect(result).toMatchObject({ answerCorrect: false, validProof: null, correctAndProved: null })
    expect(result.criteria).toMatchObject({ C1: 0, C2: 0 })
  })

  it('is left out as before when its premises contradict each other', async () => {
    const clash = [...problem.premisesFol, parseFormula('¬Mail(heron)').formula]
    const faulty = { ...problem, premises: [...problem.premises, 'It does not.'], premisesFol: clash }
    expect((await grade(['Mail(heron)'], 'False', faulty)).excluded).toBe('inconsistent-premises')
  })

  it('is judged in full once the formula is there', async () => {
    const whole = { ...problem, conclusionFol: parseFormula('Green(heron)').formula }
    const steps = ['∀x (Green(x) → ¬Early(x))', '∀x (Mail(x) → Early(x))', 'Mail(heron)', '¬Green(heron)']
    const result = await grade(steps, 'False', whole)
    expect(result).toMatchObject({ correctAndProved: true, truth: { C4: 1, C5: 1 } })
  })
})

describe("a source's own sentence", () => {
  it('is read as the formula that the source gives it', async () => {
    const { steps } = await grade(
      [
        'Whatever carries mail leaves before noon.',
        'Therefore, the Heron,  a ferry, carries mail',
        'It floats well.',
      ],
      'False',
    )
    expect(steps.map(({ status, premise }) => [status, premise])).toEqual([
      ['entailed', 1],
      ['entailed', 2],
      [expect.not.stringMatching('entailed'), null],
    ])
  })

  it('also where the sentence is the conclusion', async () => {
    const whole = { ...problem, conclusionFol: parseFormula('Green(heron)').formula }
    const { steps } = await grade([problem.conclusion], 'True', whole)
    expect(steps[0].status).toBe('contradicted')
  })
})
