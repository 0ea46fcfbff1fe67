import { expect, it } from 'vitest'
import { LogicSolver } from '../src/grade/logic/solver.ts'
import { proposalSettingsSchema, readProposal } from '../src/grade/proposal/index.ts'
import { LocalPolicy } from '../src/policy/local/local-policy.ts'
import { evaluateSet } from '../src/recipes/logic/evaluate.ts'
import { miniatureFormat } from '../src/recipes/logic/format.ts'
import { ArithmeticTask } from '../src/recipes/reasoning/arithmetic.ts'
import { ARITHMETIC_TEST_SEED, arithmeticProblem } from '../src/tasks/arithmetic/index.ts'
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

it('models/arithmetic-start is right about a third of the time, and writes rubrics in the format', async () => {
  const task = new ArithmeticTask()
  const problems = Array.from({ length: 120 }, (_, i) => arithmeticProblem(ARITHMETIC_TEST_SEED, i))
  const policy = await LocalPolicy.start(
    { folder: resolveShipped('package:models/arithmetic-start') },
    { threads: 1 },
  )
  const sampling = { stopTokens: task.stopTokens, seed: 'shipped', samplesPerPrompt: 1 }
  const thought = await policy.sample({
    ...sampling,
    prompts: problems.map(problem => task.prompt(problem)),
    maxTokens: 96,
  })
  const items = thought.map(({ prompt, tokens }) => ({
    problem: problems[prompt],
    response: task.read(tokens),
  }))
  const right = (await task.gradeAnswers(items)).filter(({ score }) => score === 1).length
  expect(right / problems.length).toBeGreaterThan(0.2)
  expect(right / problems.length).toBeLessThan(0.55)
  const written = await policy.sample({
    ...sampling,
    prompts: items.map(({ problem, response }) =>
      task.rubricatorPrompt(problem, task.masked(problem, response)),
    ),
    maxTokens: 112,
  })
  const settings = proposalSettingsSchema.parse({})
  const formed = written.filter(
    ({ tokens }) => readProposal(task.rubricatorText(tokens), settings).wellFormed,
  )
  expect(formed.length / written.length).toBeGreaterThan(0.8)
  await policy.close()
})
