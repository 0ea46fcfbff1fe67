import { describe, expect, it } from 'vitest'
import { gradeLogicBatch } from '../../grade/logic/criteria.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { logicGenerator } from '../../tasks/logic/generator.ts'
import { type RubricAsRewardConfig, rubricAsRewardSchema } from './config.ts'
import { trainingGrader } from './controls.ts'

const problems = logicGenerator({ hops: 2, style: 'real', labels: 'two-way' }, 'controls test')
const proof = (index: number): string => {
  const { proof: steps, label } = problems(index)
  const lines = steps!.map((step, i) => `${i + 1}. ${step}`)
  return `<reasoning>\n${lines.join('\n')}\n</reasoning>\n<answer>${label}</answer>`
}

type Settings = Pick<Partial<RubricAsRewardConfig>, 'control' | 'softCriteria'>

/** The grade of a perfect proof of each of 20 problems, and what training is told of it. */
const bothOf = async (settings: Settings) => {
  const solver = await LogicSolver.start({ backend: 'ground' })
  const grader = trainingGrader({ seed: 1, ...settings }, problems, (items, truth) =>
    gradeLogicBatch(items, solver, { truth }),
  )
  const items = Array.from({ length: 20 }, (_, i) => ({ problem: grader.problems(i), response: proof(i) }))
  const grades = await grader.grade(items)
  await solver.close()
  return grades
}

const gradedBy = async (settings: Settings) => (await bothOf(settings)).map(({ rewarded }) => rewarded)

describe('what training is graded by', () => {
  it('is the truth unless a setting says otherwise', async () => {
    const grades = await gradedBy({})
    expect(grades.every(({ criteria, correctAndProved }) => criteria.C1 === 1 && correctAndProved)).toBe(true)
    const { control, softCriteria } = rubricAsRewardSchema.parse({})
    expect([control, softCriteria]).toEqual([undefined, undefined])
  })

  it('may be another problem’s rubric: a perfect proof is then worth little, whatever the answer', async () => {
    const grades = await gradedBy({ control: 'shuffled' })
    expect(grades.filter(({ correctAndProved }) => correctAndProved)).toHaveLength(0)
    expect(grades.every(({ criteria }) => criteria.C2! < 1)).toBe(true)
    const right = grades.filter(({ criteria }) => criteria.C1 === 1).length
    expect(right).toBeGreaterThan(3)
    expect(right).toBeLessThan(17)
  })

  it('may be turned round', async () => {
    const [grade] = await gradedBy({ control: 'flipped' })
    expect([grade.criteria.C1, grade.criteria.C2, grade.correctAndProved]).toEqual([0, 0, false])
  })

  it('may be chance, the same each time', async () => {
    const [once, again] = [await gradedBy({ control: 'random' }), await gradedBy({ control: 'random' })]
    expect(once.map(({ criteria }) => criteria)).toEqual(again.map(({ criteria }) => criteria))
    const c1 = once.map(({ criteria }) => criteria.C1!)
    expect(new Set(c1).size).toBe(c1.length)
    expect(Math.min(...c1)).toBeLessThan(0.3)
    expect(Math.max(...c1)).toBeGreaterThan(0.7)
  })

  it('may judge C4 and C5 by proof', async () => {
    const [proxy, exact] = [await gradedBy({}), await gradedBy({ softCriteria: 'exact' })]
    expect(exact.every(({ criteria }) => criteria.C5 === 1 && criteria.C4 === 1)).toBe(true)
    expect(proxy.some(({ criteria }) => criteria.C5! < 1)).toBe(true)
  })

  it.each(['random', 'flipped', 'shuffled'] as const)('%s: the true grade stays beside', async control => {
    const [plain, both] = [await bothOf({}), await bothOf({ control })]
    expect(both.map(({ grade }) => grade)).toEqual(plain.map(({ grade }) => grade))
    expect(both.some(({ grade, rewarded }) => grade.correctAndProved !== rewarded.correctAndProved)).toBe(
      true,
    )
  })

  it('without a control is one and the same grade', async () => {
    for (const settings of [{}, { softCriteria: 'exact' }] as const)
      expect((await bothOf(settings)).every(({ grade, rewarded }) => grade === rewarded)).toBe(true)
  })
})
