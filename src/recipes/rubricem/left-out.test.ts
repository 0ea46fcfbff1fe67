import { describe, expect, it } from 'vitest'
import { type StageRubric, stageRewards } from '../../grade/evolving/index.ts'
import { rubricDropoutSchema } from '../../rubric/dropout.ts'
import { countedRubrics, rewardsWithout } from './attempts.ts'

const rubric = (
  id: string,
  stage: 1 | 2 | 3 | 4,
  weight = 1,
  sign: StageRubric['sign'] = 'positive',
): StageRubric => ({
  ...{ id, stage, weight, sign, title: id, description: id, since: 1 },
})
const rubrics = [
  ...['a', 'b', 'c', 'd'].map((id, i) => rubric(id, 1, i + 1)),
  rubric('e', 2),
  ...['f', 'g'].map(id => rubric(id, 4, 2)),
  rubric('flaw', 4, 3, 'negative'),
]
const config = (more: object = {}) => ({
  seed: 1,
  rubricDropout: rubricDropoutSchema.parse({ rate: 0.5, keepAtLeast: 1, ...more }),
})
const rollout = { key: 'k', stages: ['plan', 'research', '', 'answer'] as const }
const scores = Object.fromEntries(rubrics.map(({ id }, i) => [id, { level: ([2, 0, 1] as const)[i % 3] }]))
const judged = (rewards_K: (number | null)[], failure: string | null = null) =>
  ({ rollout, scores, rewards_K, failure }) as never

describe('rubric dropout for stages', () => {
  it('leaves out a part of the merits of each stage, never a flaw and never all', () => {
    const drawn = new Set<string>()
    for (let step = 1; step <= 30; step++) {
      const { places } = countedRubrics(config(), { key: 'q', rubrics }, step)
      const left = [...places!].map(i => rubrics[i].id)
      const of = (ids: string[]) => ids.filter(id => left.includes(id)).length
      expect([of(['a', 'b', 'c', 'd']), of(['e']), of(['f', 'g']), of(['flaw'])]).toEqual([2, 0, 1, 0])
      drawn.add(left.sort().join())
    }
    expect(drawn.size).toBeGreaterThan(5)
    expect(countedRubrics(config({ keepAtLeast: 3 }), { key: 'q', rubrics }, 1).places!.size).toBe(1)
  })

  it('has rubrics as criteria, flaws below 0, and no places where no option leaves any out', () => {
    const { criteria, places } = countedRubrics({ seed: 1 }, { key: 'q', rubrics }, 1)
    expect(places).toBeUndefined()
    expect(criteria[7]).toEqual({ id: 'flaw', points: -3 })
  })

  it('pays all rollouts of a question by the same rubrics; what is unknown stays so', () => {
    const whole = stageRewards(rubrics, rollout as never, scores as never)
    // a, c and f.
    const left = new Set([0, 2, 5])
    const group = { rubrics, rollouts: [judged(whole), judged([null, null, null, whole[3]], 'no level')] }
    expect(rewardsWithout({}, group, new Set())).toEqual([whole, [null, null, null, whole[3]]])
    const [paid, failed] = rewardsWithout({}, group, left)
    // Plan: b (level 0, weight 2) and d (level 2, weight 4). Answer: g (level 2) and the flaw (level 1).
    expect(scores.b.level).toBe(0)
    expect(scores.d.level).toBe(2)
    expect(paid[0]).toBeCloseTo(4 / 6, 12)
    expect(paid[1]).toBe(whole[1])
    expect(paid[2]).toBe(0)
    const gain = (2 * scores.g.level) / 2 + (3 * (2 - scores.flaw.level)) / 2
    expect(paid[3]).toBeCloseTo(gain / 5, 12)
    expect(failed).toEqual([null, null, null, paid[3]])
  })

  it('pays by the rule that is set, stage by stage', () => {
    const group = { rubrics, rollouts: [judged(stageRewards(rubrics, rollout as never, scores as never))] }
    const [paid] = rewardsWithout({ scoringRule: { name: 'mean', critical: [] } }, group)
    // Levels of a to d: 2, 0, 1, 2, each worth as much as the others.
    expect(paid[0]).toBeCloseTo((2 + 0 + 1 + 2) / 8, 12)
    const good = scores.f.level + scores.g.level + (2 - scores.flaw.level)
    expect(paid[3]).toBeCloseTo(good / 6, 12)
  })
})
