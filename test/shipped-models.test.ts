import { expect, it } from 'vitest'
import { LogicSolver } from '../src/grade/logic/solver.ts'
import { LocalPolicy } from '../src/policy/local/local-policy.ts'
import { evaluateSet } from '../src/recipes/logic/evaluate.ts'
import { miniatureFormat } from '../src/recipes/logic/format.ts'
import { logicTestSet } from '../src/tasks/logic/testsets.ts'
import { resolveShipped } from '../src/util/package.ts'

it('models/logic-full proves five-hop problems that it has not seen', async () => {
  const problems = logicTestSet('train-distribution', { count: 60, hops: 5 })
  const policy = await LocalPolicy.start(
    { folder: resolveShipped('package:models/logic-full') },
    { threads: 1 },
  )
  const solver = await LogicSolver.start({ backend: 'ground' })
  const settings = { samples: 0, greedy: true, sampling: { maxTokens: 96 } }
  const row = await evaluateSet({ policy, solver, format: miniatureFormat() }, 'test', 0, problems, settings)
  expect(row.n).toBe(60)
  expect(row.scores.correctAndValid.value).toBeGreaterThan(0.85)
  await policy.close()
  await solver.close()
})
