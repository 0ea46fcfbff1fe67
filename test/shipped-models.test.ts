import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LogicSolver } from '../src/grade/logic/solver.ts'
import { proposalSettingsSchema, readProposal } from '../src/grade/proposal/index.ts'
import { chatFormatOf } from '../src/model/chat-format.ts'
import { loadTokenizer } from '../src/model/tokenizer.ts'
import { LocalPolicy } from '../src/policy/local/local-policy.ts'
import { logicTokensOf } from '../src/recipes/common/starting-model.ts'
import { evaluateSet } from '../src/recipes/logic/evaluate.ts'
import { evaluateChat } from '../src/recipes/sft/requests-evaluation.ts'
import { ARITHMETIC_TEST_SEED, arithmeticProblem, arithmeticTask } from '../src/tasks/arithmetic/index.ts'
import { miniatureFormat } from '../src/tasks/logic/prompts.ts'
import { logicTask } from '../src/tasks/logic/task.ts'
import type { GeneratedTestSet } from '../src/tasks/logic/testset-names.ts'
import { logicTestSet } from '../src/tasks/logic/testsets.ts'
import { JUDGE_TEXTS } from '../src/tasks/requests/tokenizer.ts'
import { scored } from '../src/tasks/scored-response.ts'
import { resolveShipped } from '../src/util/package.ts'

/** Shares of 60 unseen problems of five hops that are correct and proved, greedily. */
const provedBy = async (name: string, sets: readonly GeneratedTestSet[]): Promise<number[]> => {
  const folder = resolveShipped(`package:models/${name}`)
  const policy = await LocalPolicy.start({ folder }, { threads: 1 })
  const solver = await LogicSolver.start({ backend: 'ground' })
  const task = logicTask(miniatureFormat(logicTokensOf(folder)), solver, { truth: 'only' })
  const shares: number[] = []
  for (const set of sets) {
    const problems = logicTestSet(set, { count: 60, hops: 5 })
    const settings = { samples: 0, greedy: true, sampling: { maxTokens: 112 } }
    const row = await evaluateSet({ policy, task }, set, 0, problems, settings)
    expect(row.n).toBe(60)
    shares.push(row.scores.correctAndProved.value!)
  }
  await policy.close()
  await solver.close()
  return shares
}

it('models/logic-full proves five-hop problems that it has not seen, in any order, with cues and without', async () => {
  const sets = ['shortcut-free', 'train-distribution', 'train-distribution-shuffled'] as const
  for (const share of await provedBy('logic-full', sets)) expect(share).toBeGreaterThan(0.95)
})

it('models/logic-short, which saw proofs of three hops, leaves room on five', async () => {
  const [share] = await provedBy('logic-short', ['varied'])
  expect(share).toBeGreaterThan(0.4)
  expect(share).toBeLessThan(0.9)
})

it('models/arithmetic-start is right about a third of the time, and writes rubrics in the format', async () => {
  const task = arithmeticTask()
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
    tokens,
    response: task.thinking.read(tokens),
  }))
  const right = (await scored(task).grade(items)).filter(({ score }) => score === 1).length
  expect(right / problems.length).toBeGreaterThan(0.2)
  expect(right / problems.length).toBeLessThan(0.55)
  const written = await policy.sample({
    ...sampling,
    prompts: items.map(({ problem, response }) =>
      task.rubricator.prompt(problem, task.rubricator.masked(problem, response)),
    ),
    maxTokens: 112,
  })
  const settings = proposalSettingsSchema.parse({})
  const formed = written.filter(
    ({ tokens }) => readProposal(task.rubricator.text(tokens), settings).wellFormed,
  )
  expect(formed.length / written.length).toBeGreaterThan(0.8)
  await policy.close()
})

it('models/smollm2-135m-instructions is an adapter for SmolLM2-135M-Instruct, in bfloat16, and small', () => {
  const folder = resolveShipped('package:models/smollm2-135m-instructions')
  const file = join(folder, 'adapter_model.safetensors')
  expect(statSync(file).size).toBeLessThan(15 * 2 ** 20)
  const { base_model_name_or_path: base, r } = JSON.parse(
    readFileSync(join(folder, 'adapter_config.json'), 'utf8'),
  )
  expect([base, r]).toEqual(['HuggingFaceTB/SmolLM2-135M-Instruct', 16])
  const bytes = readFileSync(file)
  const end = 8 + Number(bytes.readBigUInt64LE(0))
  const { __metadata__: _, ...tensors } = JSON.parse(bytes.subarray(8, end).toString())
  // 30 layers of 7 projections, two factors each; hidden 576, 9 heads of 64 with 3 for keys and values, feed-forward 1,536.
  expect(Object.keys(tensors)).toHaveLength(30 * 7 * 2)
  const layer = 'base_model.model.model.layers.29'
  expect(tensors[`${layer}.self_attn.k_proj.lora_B.weight`]).toMatchObject({
    dtype: 'BF16',
    shape: [192, 16],
  })
  expect(tensors[`${layer}.mlp.down_proj.lora_A.weight`]).toMatchObject({ dtype: 'BF16', shape: [16, 1536] })
  const values = new Uint16Array(bytes.subarray(end).slice().buffer)
  expect(values.every(bits => (bits & 0x7f80) !== 0x7f80)).toBe(true)
})

it('models/chat-start answers, follows its judge’s format, and is small', async () => {
  const folder = resolveShipped('package:models/chat-start')
  const policy = await LocalPolicy.start({ folder }, { threads: 1 })
  const [requests, judged] = await evaluateChat(
    policy,
    chatFormatOf(folder, 'a test'),
    { problems: 150, maxTokens: 100 },
    0,
  )
  expect(requests.scores.right.value!).toBeGreaterThan(0.45)
  expect(requests.scores.followed.value!).toBeGreaterThan(0.7)
  expect(judged.scores.balanced.value!).toBeGreaterThan(0.6)
  expect(judged.judgeNullRate!).toBeLessThan(0.05)
  // The judge of the how-to: what it is asked there.
  expect(judged.criteria!.offer).toBeGreaterThan(0.8)
  expect(statSync(join(folder, 'model.safetensors')).size).toBeLessThan(5 * 2 ** 20)
  await policy.close()
})

it('models/chat-start has the words of Gradus’s judge as single tokens: after a change to them it has to be trained again', () => {
  const tokenizer = loadTokenizer(resolveShipped('package:models/chat-start'))
  for (const text of JUDGE_TEXTS) expect(tokenizer.encode(text), text.slice(0, 60)).toHaveLength(1)
})
