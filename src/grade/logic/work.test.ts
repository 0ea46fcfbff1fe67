import { describe, expect, it } from 'vitest'
import { FormalGrader } from '../formal-grader.ts'
import { gradeLogic } from './criteria.ts'
import type { Formula } from './formula.ts'
import { groundStatus } from './ground.ts'
import { parseFormula } from './parse.ts'
import type { LogicProblem } from './problem.ts'
import { logicVerdicts } from './rubric.ts'
import { LogicSolver } from './solver.ts'

/** That so many pigeons do not fit into one hole fewer: true, and hard to see for whoever tries all ways. */
const pigeonhole = (pigeons: number): string => {
  const numbers = Array.from({ length: pigeons }, (_, index) => index)
  const holes = numbers.slice(1)
  const housed = numbers.map(p => `(${holes.map(h => `at(p${p}, h${h})`).join(' | ')})`)
  const alone = holes.flatMap(h =>
    numbers.flatMap(p => numbers.slice(p + 1).map(q => `(~at(p${p}, h${h}) | ~at(p${q}, h${h}))`)),
  )
  return `~(${[...housed, ...alone].join(' & ')})`
}

const formula = (text: string): Formula => parseFormula(text).formula
const FACT = formula('at(p1, h1)')

/** Counts how often a timer of 5 ms came to its turn meanwhile. */
const ticksDuring = async <T>(work: Promise<T>): Promise<[T, number]> => {
  let ticks = 0
  const timer = setInterval(() => ticks++, 5)
  try {
    return [await work, ticks]
  } finally {
    clearInterval(timer)
  }
}

describe('a question that nobody can settle in time', () => {
  it('ends by its count of work, and the same every time', () => {
    expect(groundStatus([], formula(pigeonhole(5)), 1_000_000)).toBe('entailed')
    expect(groundStatus([], formula(pigeonhole(9)))).toBeNull()
    expect(groundStatus([], formula(pigeonhole(9)), 100_000)).toBeNull()
  })

  it.each(['auto', 'ground'] as const)('is unknown, and the event loop goes on (%s)', async backend => {
    const solver = await LogicSolver.start({ backend, groundWork: 300_000, timeoutMs: 50 })
    const queries = [pigeonhole(9), 'at(p1, h1)'].map(text => ({ premises: [FACT], formula: formula(text) }))
    const [statuses, ticks] = await ticksDuring(solver.checkSteps(queries))
    expect(statuses).toEqual(['unknown', 'entailed'])
    expect(ticks).toBeGreaterThan(1)
    await solver.close()
  })

  it('in a response costs no more', async () => {
    const grader = new FormalGrader({ solver: { timeoutMs: 50, groundWork: 300_000 } })
    const params = { premises: ['at(p1, h1)'], conclusion: 'at(p1, h1)' }
    const criterion = {
      id: 'c',
      text: 'c',
      points: 1,
      verifier: { kind: 'formal', fn: 'step_validity', params },
    } as const
    const response = `<reasoning>1. ${pigeonhole(9)} [mp; p1]</reasoning><answer>True</answer>`
    const [[verdict], ticks] = await ticksDuring(grader.grade({ prompt: [], response }, [criterion]))
    expect(verdict).toMatchObject({ met: false, credit: 0.3, explanation: 'answer True; steps: 1 unknown' })
    expect(ticks).toBeGreaterThan(1)
    await grader.close()
  })
})

describe('limits of what is read', () => {
  it('formulas have so many symbols, sentences so many characters', () => {
    const long = Array.from({ length: 6_000 }, (_, index) => `p${index}`).join(' & ')
    expect(() => parseFormula(long)).toThrow(/at most 10000 symbols/)
    expect(() => formula(pigeonhole(9))).not.toThrow()
  })

  it('reasoning has so many steps; beyond, a response has no grade', async () => {
    const solver = await LogicSolver.start({ backend: 'ground' })
    const problem: LogicProblem = {
      id: 'p',
      premises: ['at(p1, h1)'],
      premisesFol: [FACT],
      conclusion: 'at(p1, h1)',
      conclusionFol: FACT,
      label: 'True',
      source: 'rubric',
    }
    const steps = Array.from({ length: 1_500 }, (_, index) => `${(index % 9000) + 1}. at(p${index}, h1)`)
    const response = `<reasoning>\n${steps.join('\n')}\n</reasoning><answer>True</answer>`
    const [grade] = await gradeLogic(problem, [response], solver)
    expect(grade).toMatchObject({ excluded: 'too-long', answer: 'True', steps: [], validProof: false })
    expect(grade.criteria).toEqual({ C1: 1, C2: null, C3: null, C4: null, C5: null })
    expect(grade.flags).toEqual({ tooLong: 1 })
    expect(logicVerdicts(grade).map(({ met }) => met)).toEqual([true, null, null, null, null])
    await solver.close()
  })
})
