import { describe, expect, it } from 'vitest'
import type { LogicCriterion } from '../../grade/logic/rubric.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { encodeResponse } from '../../tasks/logic/format.ts'
import { logicGenerator } from '../../tasks/logic/generator.ts'
import { miniatureFormat } from '../../tasks/logic/prompts.ts'
import { type LogicVerdicts, logicTask } from '../../tasks/logic/task.ts'
import { type RubricAsRewardConfig, rubricAsRewardSchema } from './config.ts'
import { controlledTask } from './controls.ts'

const problems = logicGenerator({ hops: 2, style: 'real', labels: 'two-way' }, 'controls test')

type Settings = Pick<Partial<RubricAsRewardConfig>, 'control' | 'softCriteria'>

/** What training is told of a perfect proof of each of 20 problems. */
const gradedBy = async ({ softCriteria, ...settings }: Settings) => {
  const solver = await LogicSolver.start({ backend: 'ground' })
  const truth = softCriteria === 'exact' ? ('preferred' as const) : undefined
  const graded = { ...logicTask(miniatureFormat(), solver, { truth }), stream: problems }
  const task = controlledTask(graded, { seed: 1, ...settings })
  const items = Array.from({ length: 20 }, (_, i) => {
    const problem = task.stream(i)
    return { problem, tokens: Int32Array.from(encodeResponse(problem)), criteria: [] }
  })
  const found = await task.grade(items)
  await solver.close()
  return found
}

const creditOf = ({ verdicts }: LogicVerdicts, id: LogicCriterion) =>
  verdicts.find(({ criterionId }) => criterionId === id)!.credit!

describe('what training is graded by', () => {
  it('is the truth unless a setting says otherwise', async () => {
    const found = await gradedBy({})
    expect(found.every(own => creditOf(own, 'C1') === 1 && own.proved)).toBe(true)
    expect(found.every(({ proved, grade }) => proved === grade.correctAndProved)).toBe(true)
    const { control, softCriteria } = rubricAsRewardSchema.parse({})
    expect([control, softCriteria]).toEqual([undefined, undefined])
  })

  it('may be another problem’s rubric: a perfect proof is then worth little, whatever the answer', async () => {
    const found = await gradedBy({ control: 'shuffled' })
    expect(found.filter(({ proved }) => proved)).toHaveLength(0)
    expect(found.every(own => creditOf(own, 'C2') < 1)).toBe(true)
    const right = found.filter(own => creditOf(own, 'C1') === 1).length
    expect(right).toBeGreaterThan(3)
    expect(right).toBeLessThan(17)
  })

  it('may be inverted', async () => {
    const [own] = await gradedBy({ control: 'flipped' })
    expect([creditOf(own, 'C1'), creditOf(own, 'C2'), own.proved]).toEqual([0, 0, false])
    expect(own.verdicts[0]).toMatchObject({ met: false, source: 'rule' })
  })

  it('may be chance, the same each time', async () => {
    const [once, again] = [await gradedBy({ control: 'random' }), await gradedBy({ control: 'random' })]
    expect(once.map(({ verdicts }) => verdicts)).toEqual(again.map(({ verdicts }) => verdicts))
    const c1 = once.map(own => creditOf(own, 'C1'))
    expect(new Set(c1).size).toBe(c1.length)
    expect(Math.min(...c1)).toBeLessThan(0.3)
    expect(Math.max(...c1)).toBeGreaterThan(0.7)
  })

  it('may judge C4 and C5 by proof', async () => {
    const [proxy, exact] = [await gradedBy({}), await gradedBy({ softCriteria: 'exact' })]
    expect(exact.every(own => creditOf(own, 'C5') === 1 && creditOf(own, 'C4') === 1)).toBe(true)
    expect(proxy.some(own => creditOf(own, 'C5') < 1)).toBe(true)
  })

  it.each(['random', 'flipped', 'shuffled'] as const)('%s: the true grade stays beside', async control => {
    const [plain, found] = [await gradedBy({}), await gradedBy({ control })]
    expect(found.map(({ grade }) => grade)).toEqual(plain.map(({ grade }) => grade))
    expect(found.some(({ grade, proved }) => grade.correctAndProved !== proved)).toBe(true)
  })

  it('without a control is the task itself', async () => {
    const solver = await LogicSolver.start({ backend: 'ground' })
    const task = { ...logicTask(miniatureFormat(), solver), stream: problems }
    expect(controlledTask(task, { seed: 1 })).toBe(task)
    await solver.close()
  })
})
