import { expect, it } from 'vitest'
import type { Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { spoiltRewards, trainingRubrics } from './spoilt-rewards.ts'

const verdict = (more: Partial<Verdict>): Verdict => ({ criterionId: 'x', met: true, source: 'llm', ...more })

it('turns a verdict round whatever it is graded on, and leaves one that was not given', () => {
  const noise = spoiltRewards.noise!({ flipRate: 1, reward: 'rubric' })!
  const given = [
    verdict({}),
    verdict({ met: false }),
    verdict({ credit: 0.75 }),
    verdict({ level: 2 }),
    verdict({ met: false, level: 0 }),
    verdict({ met: false, level: 1 }),
    verdict({ met: null }),
  ]
  expect(noise.verdicts(given, 'rollout').map(creditOf)).toEqual([0, 1, 0.25, 0, 1, 0.5, null])
})

it('takes no rubric of another problem where training lists none', () => {
  const source = { id: String, rubric: () => ({ criteria: [] }) }
  const rubrics = (problems: number[]) => trainingRubrics({ noise: 'shuffled', seed: 1 }, source, problems)
  expect(() => rubrics([])).toThrow('noise: expected another than "shuffled"')
  expect(rubrics([1, 2])(1)).toEqual({ criteria: [] })
})
