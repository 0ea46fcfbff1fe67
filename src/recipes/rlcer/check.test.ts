import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseWith } from '../../util/schema.ts'
import { decidingHash } from '../common/deciding.ts'
import { refusals } from '../common/refusals.fixture.ts'
import { ritSchema } from '../rit/config.ts'
import { rlcerSchema } from './config.ts'
import { rlcerEntry } from './entry.ts'
import { planRlcer } from './plan.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-check-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SHAPE = { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 256 }
const SMALL = {
  coldStart: {
    ...{ steps: 1, batch: 2, policy: { threads: 1 }, evaluation: { problems: 1 } },
    model: { shape: SHAPE },
  },
  policy: { threads: 1 },
  steps: 1,
  rollout: { prompts: 2, samples: 2 },
  evaluation: { problems: 2, rubrics: 0 },
}
const shape = (changes: object) => ({
  coldStart: { ...SMALL.coldStart, model: { shape: { ...SHAPE, ...changes } } },
})
const withoutRubricators = { rubricator: { enabled: false } }

describe('plan and run refuse the same, before anything is trained', () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['nothing to start from', { coldStart: null }, /model\.folder: expected a checkpoint to start from/],
    [
      'a model of other words',
      { coldStart: null, model: { folder: 'package:models/packing-start' } },
      /expected a model of the arithmetic task's \d+ tokens/,
    ],
    [
      'no room for a rubric behind the thinking',
      shape({ maxPositions: 200 }),
      /with 96 tokens of thinking, for a rubric .* exceed the context of 200/,
    ],
    [
      'a rubric from the answer alone',
      { ...withoutRubricators, reasonerReward: 'rubric' },
      /reasonerReward: expected "outcome" or "random" without rubricators, got "rubric"/,
    ],
    [
      'a scaffold that nobody fills',
      { ...withoutRubricators, reasonerReward: 'outcome', scaffold: {} },
      /scaffold: expected null without rubricators/,
    ],
    [
      'a critic of other words',
      {
        ...{ coldStart: null, model: { folder: 'package:models/arithmetic-start' } },
        critic: { own: { folder: 'package:models/packing-start' } },
      },
      /critic\.own\.folder: .*packing-start has another tokenizer than .*arithmetic-start/,
    ],
    ['anchors of no kind', { anchors: {} }, /anchors: expected either file or start, got neither/],
    [
      'labels of a file for made-up questions',
      { anchors: { file: 'anchors.jsonl' } },
      /anchors\.file: expected nothing with a task whose questions are made up/,
    ],
    [
      'anchors for nothing',
      { ...withoutRubricators, reasonerReward: 'outcome', anchors: { start: 4 } },
      /anchors: expected nothing where no criterion is proposed/,
    ],
    [
      'a scaffold for questions that never recur',
      { scaffold: {} },
      /task\.pool: expected a number of questions/,
    ],
    ['a ratio without a scaffold', { ratio: 'sampled' }, /ratio: expected "plain" without a scaffold/],
    ['a group of one', { rollout: { prompts: 2, samples: 1 } }, /rollout\.samples: expected at least 2/],
    [
      'a veto of criteria that nobody knows',
      { scoringRule: { name: 'veto(mean)' } },
      /scoringRule\.name: expected a rule without a veto, got veto\(mean\)/,
    ],
    [
      'a control without rubricators',
      { ...withoutRubricators, reasonerReward: 'outcome', control: 'flipped' },
      /control: expected nothing with rubricator.enabled false, got "flipped"/,
    ],
    [
      'a control of a reward without verdicts',
      { reasonerReward: 'outcome', control: 'flipped' },
      /control: expected nothing with reasonerReward "outcome", which no criterion is part of/,
    ],
    [
      'a control across questions where criteria are chosen',
      { control: 'other-question', controlAt: 'verdicts' },
      /controlAt: expected "reward" with control "other-question"/,
    ],
    [
      'a control across questions with one of them',
      { control: 'other-question', rollout: { prompts: 1, samples: 4 } },
      /rollout\.prompts: expected at least 2 with control "other-question".*raise rollout\.prompts/,
    ],
    [
      'a place for no control',
      { controlAt: 'verdicts' },
      /controlAt: expected nothing set without a control/,
    ],
    [
      'group advantages with a critic',
      { advantage: { perPart: true } },
      /advantage: expected nothing set with a critic/,
    ],
    [
      'a scale that parts have no use for',
      { critic: null, advantage: { perPart: true, scale: 'group' } },
      /advantage\.scale: expected "batch" with advantage\.perPart/,
    ],
    [
      'more criteria at least than at most',
      { rubricator: { format: { minCriteria: 9, maxCriteria: 7 } } },
      /rubricator\.format\.minCriteria: expected at most 7/,
    ],
    ['a buffer longer than responses', { overlong: { buffer: 97 } }, /overlong\.buffer: expected at most 96/],
    [
      'the best of more samples than there are',
      { evaluation: { ...SMALL.evaluation, samples: 4, bestOf: [8] } },
      /evaluation\.bestOf: expected at most 4, evaluation\.samples, got 8/,
    ],
    [
      'questions that nothing can execute',
      {
        coldStart: null,
        model: { folder: 'package:models/packing-start' },
        task: { kind: 'questions', file: 'x.jsonl' },
      },
      /verifier\.kind: expected "judge", "rules" or "learned" with task "questions"/,
    ],
    [
      'a grammar for questions',
      {
        coldStart: null,
        model: { folder: 'package:models/packing-start' },
        task: { kind: 'questions', file: 'x.jsonl' },
        verifier: {
          kind: 'judge',
          judge: { fleet: { endpoints: [{ url: 'http://127.0.0.1:9', model: 'm' }] } },
        },
        rubricator: { constrained: true },
      },
      /rubricator\.constrained: expected false/,
    ],
    [
      'a group of one without a critic',
      {
        ...{ ...withoutRubricators, reasonerReward: 'outcome', critic: null },
        rollout: { prompts: 2, samples: 1 },
      },
      /rollout\.samples: expected at least 2 without a critic/,
    ],
    [
      'a second engine that never works beside the first',
      { policy: { threads: 1, sampler: {} } },
      /policy\.sampler: expected null without pipeline/,
    ],
    [
      'no room for a whole rubric',
      { rubricator: { maxTokens: 30 } },
      /rubricator\.maxTokens: expected at least \d+, which the shortest rubric of 5 criteria has, got 30/,
    ],
    [
      'categories that the grammar does not have',
      { rubricator: { format: { categories: ['style'] } } },
      /rubricator\.format\.categories: expected some of the grammar's .*, got style/,
    ],
    [
      'a verifier at an address that is none',
      { verifier: { kind: 'judge', judge: { fleet: { endpoints: [{ url: 'nope', model: 'm' }] } } } },
      /verifier\.judge\.fleet: judge url: expected an address .*, got nope/,
    ],
    [
      'a verifier that is not there',
      { verifier: { kind: 'learned', folder: 'package:README.md' } },
      /verifier\.folder/,
    ],
  ])('%s', async (_, settings, message) => {
    const { plan, run, trained } = await refusals(rlcerEntry, { ...SMALL, ...settings }, folder)
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })

  it("keeps no term of a critic in the loss, which is the setting critic's, and refuses one", () => {
    for (const schema of [rlcerSchema, ritSchema]) {
      expect(schema.parse({ loss: 'gradus:rlcer' }).loss.value).toBe(null)
      const settings = { loss: { preset: 'gradus:rlcer', value: { coef: 0.3, clip: null } } }
      expect(() => parseWith(schema, settings, 'mine.yaml')).toThrow(
        "mine.yaml: loss.value: expected nothing, got an object; the critic's term is said by critic.coef and critic.clip",
      )
    }
  })

  it('takes what it has no reason to refuse', async () => {
    const config = rlcerSchema.parse({ ...SMALL, critic: null, advantage: { perPart: true } })
    expect(() => planRlcer(config)).not.toThrow()
    // Where no rubric is ever written none needs room.
    const alone = { ...withoutRubricators, reasonerReward: 'outcome' }
    const short = (hinted: boolean) =>
      planRlcer(
        rlcerSchema.parse({
          ...{ ...SMALL, ...shape({ maxPositions: 200 }), ...alone },
          evaluation: { ...SMALL.evaluation, hinted },
        }),
      )
    expect(() => short(true)).toThrow('for a rubric')
    expect(() => short(false)).not.toThrow()
  })
})

describe('a plan', () => {
  const planOf = (settings: object = {}) =>
    planRlcer(rlcerSchema.parse({ ...SMALL, steps: 10, rollout: { prompts: 16, samples: 8 }, ...settings }))

  it('counts tokens of both roles and every rubric on every response', () => {
    const { json, lines } = planOf()
    expect(json).toMatchObject({
      ...{ steps: 10, prompts: 16, samples: 8, rolloutsPerStep: 256 },
      ...{ reasonerTokens: 128 * 96, rubricatorTokens: 128 * 112, tokensPerStep: 128 * (96 + 112) },
      // N x N a question.
      ...{ verifierCallsPerQuestion: 64, verifierCallsPerStep: 1024 },
    })
    expect(json.hours).toBeGreaterThan(0)
    expect(lines.join('\n')).toMatch(/exact: 64 calls a question .*, 1,024 a step, 10,240 in all/)
  })

  it('of the paper needs neither model nor data nor verifier', () => {
    const { json, lines } = planRlcer(rlcerSchema.parse(rlcerEntry.presets.paper.config))
    expect(json).toMatchObject({
      ...{ steps: 1500, prompts: 32, samples: 8, rolloutsPerStep: 512 },
      ...{ tokensPerStep: 512 * 12_288, verifierCallsPerQuestion: 64, verifierCallsPerStep: 2048 },
      parameters: 8_190_735_360,
    })
    const text = lines.join('\n')
    // What can be done about a critic of this size comes first.
    expect(lines[0]).toMatch(
      /^critic +is not learnt at this size in this process, .*ppo_critic.* With critic: null any service trains it: a reward/,
    )
    expect(text).toContain('or train it elsewhere (policy.kind: tinker, critic: null unless it offers one)')
    const loo = rlcerSchema.parse({ ...rlcerEntry.presets.paper.config, critic: null })
    expect(planRlcer(loo).lines.join()).not.toMatch(/critic +is not learnt|critic: null/)
    expect(text).toMatch(
      /data\/dapo-math-17k\.jsonl and data\/aime24\.jsonl and data\/aime25\.jsonl and .*17,000 questions to train on, 598 to test on/,
    )
    expect(text).toMatch(/judge: 64 calls a question/)
    expect(text).toMatch(/memory/)
    expect(text).toMatch(/time +about [\d.]+ million h to about [\d.]+ million h on two cores/)
    expect(text).toMatch(/learning rate 0\.000001 \(constant, warm-up of 10 steps\)/)
    expect(text).toMatch(
      /198 questions x 16 and once greedily at the start and the end, of each of 7 sets, .*, 40 x \d+ every 50 steps between/,
    )
  })

  it('counts a critic of its own: the same weights, optimiser and activations again, its values and its learning', () => {
    const start = { coldStart: null, model: { folder: 'package:models/arithmetic-start' }, steps: 1000 }
    const [shared, own] = [planOf(start), planOf({ ...start, critic: { own: {} } })]
    const [head, model] = [shared, own].map(({ json }) => json.memoryBytes as Record<string, number>)
    expect(model.optimizer).toBe(2 * head.optimizer)
    expect(model.activations).toBeCloseTo(2 * head.activations, 0)
    expect(model.total - head.total).toBeCloseTo(
      model.weights - head.weights + head.optimizer + head.activations,
      0,
    )
    expect(own.json.hours).toBeGreaterThan(shared.json.hours as number)
    expect(own.lines.join('\n')).toMatch(
      /critic +of its own, from the policy's start: [\d.]+ thousand parameters, trained [\d.]+ thousand/,
    )
    expect(shared.lines.join('\n')).not.toMatch(/^critic +of its own/m)
  })

  it('tells of a scaffold, and no minutes where there is not one', () => {
    const { lines } = planOf({ scaffold: {}, task: { kind: 'arithmetic', pool: 4 }, steps: 1 })
    expect(lines.join('\n')).toMatch(/scaffold +linear in the group, sigmoid over the steps/)
    expect(lines.join('\n')).toMatch(/time +under a minute on two cores/)
  })

  it('has none of it without rubricators', () => {
    const { json } = planOf({ ...withoutRubricators, reasonerReward: 'outcome' })
    expect(json).toMatchObject({ rolloutsPerStep: 128, rubricatorTokens: 0, verifierCallsPerStep: 0 })
  })
})

it.each(Object.keys(rlcerEntry.presets))('preset %s is a configuration', name => {
  expect(() => rlcerSchema.parse(rlcerEntry.presets[name].config)).not.toThrow()
})

it('of prompts in files the hash that decides takes the words, and not where they lie', () => {
  const hashOf = (name: string, words: string) => {
    const path = join(folder, name)
    writeFileSync(path, words)
    const prompts = { reasoner: path, rubricator: 'Of {question}: {response}' }
    const judge = {
      fleet: { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'm' }] },
      prompt: `{question} {response} ${words.length} {rubrics}`,
    }
    const config = rlcerSchema.parse({
      task: { kind: 'questions', prompts },
      verifier: { kind: 'judge', judge },
    })
    // What a fork or a sweep reads again is what it was.
    expect(rlcerSchema.parse(JSON.parse(JSON.stringify(config)))).toEqual(config)
    return decidingHash(config)
  }
  const first = hashOf('a.txt', 'Answer {question}')
  expect(hashOf('b.txt', 'Answer {question}')).toBe(first)
  expect(hashOf('a.txt', 'Please answer {question}')).not.toBe(first)
  expect(rlcerSchema.parse({ task: { kind: 'questions' } }).task).not.toHaveProperty('prompts')
  expect(() =>
    parseWith(
      rlcerSchema,
      { task: { kind: 'questions', prompts: { reasoner: 'No {place}' } } },
      'train.yaml',
    ),
  ).toThrow(
    'train.yaml: task.prompts.reasoner: expected a prompt with {question}, got "No {place}"; write {question} where that is to stand',
  )
})
