import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseWith } from '../../util/schema.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { decidingHash } from '../common/deciding.ts'
import type { JudgePlan } from '../common/judge-plan.ts'
import { checkRuscarl, checkRuscarlSettings } from './check.ts'
import { ruscarlSchema } from './config.ts'
import { ruscarlEntry } from './entry.ts'

const parse = (config: Record<string, unknown>) => ruscarlSchema.parse(config)
const check = (config: Record<string, unknown>) => () => checkRuscarlSettings(parse(config))

const endpoint = { url: 'http://127.0.0.1:9', model: 'nobody', sendTopK: true }
const conversations = {
  task: { kind: 'conversations', file: 'rows.jsonl', holdOut: 10 },
  judge: { fleet: { endpoints: [endpoint] } },
}

const other = { ...endpoint, model: 'other' }
/** Settings with a held-out judge. */
const watchedBy = (heldOut: Record<string, unknown>) => ({
  ...conversations,
  judge: { ...conversations.judge, heldOut },
})

describe('rows that are decoded together', () => {
  const localOf = (config: Record<string, unknown>) =>
    z.object({ maxRows: z.int(), threads: z.int() }).parse(parse(config).policy)
  const rowsOf = (config: Record<string, unknown>) => localOf(config).maxRows
  it('are fewer where a judge grades beside sampling, unless set, or sampled ahead', () => {
    expect(rowsOf({})).toBe(128)
    expect(rowsOf(conversations)).toBe(64)
    expect(rowsOf({ ...conversations, policy: { threads: 1 } })).toBe(64)
    expect(rowsOf({ ...conversations, policy: { maxRows: 16 } })).toBe(16)
    expect(rowsOf({ ...conversations, pipeline: true })).toBe(128)
    expect(localOf({ ...conversations, policy: { threads: 3 } }).threads).toBe(3)
  })
})

describe('settings that would silently be ignored are refused', () => {
  it.each<[string, Record<string, unknown>]>([
    ['scaffold.showPoints', { scaffold: { showPoints: false } }],
    ['scaffold.place', { scaffold: { place: 'user' } }],
    ['scaffold.whenEmpty', { scaffold: { whenEmpty: 'Hello' } }],
    ['judge', { judge: conversations.judge }],
    ['task.file', { task: { kind: 'conversations', holdOut: 1 } }],
    ['task.holdOut', { ...conversations, task: { kind: 'conversations', file: 'a' } }],
    [
      'task.holdOut',
      { ...conversations, task: { kind: 'conversations', file: 'a', holdOut: 1, testFile: 'b' } },
    ],
    ['coldStart', { ...conversations, coldStart: {} }],
    [
      'judge.ask.topK',
      {
        ...conversations,
        judge: { fleet: { endpoints: [{ ...endpoint, sendTopK: false }] }, ask: { topK: 20 } },
      },
    ],
    [
      'judge.heldOut.ask.topK',
      watchedBy({ fleet: { endpoints: [{ ...other, sendTopK: false }] }, ask: { topK: 20 } }),
    ],
    [
      'judge.heldOut.rollouts',
      watchedBy({ fleet: { endpoints: [other] }, rollouts: null, evaluations: false }),
    ],
    ['judge.heldOut.fleet', watchedBy({ fleet: { endpoints: [endpoint] } })],
    ['exploration.dynamicSampling', { exploration: { dynamicSampling: {}, curriculum: {} } }],
    ['exploration.dynamicSampling', { exploration: { dynamicSampling: {} }, rollout: { samples: 1 } }],
    ['flipRate', { reward: 'random', flipRate: 0.1 }],
    ['scaffold.group.full', { scaffold: { group: { kind: 'binary', full: 9 } } }],
  ])('%s', (key, config) => {
    expect(check(config)).toThrow(`${key}: expected`)
  })

  it.each([
    ['policy.sampler', { policy: { sampler: {} } }],
    ['loss.value', { loss: { preset: 'gradus:ruscarl', value: { coef: 0.5 } } }],
  ])('%s, as of every method', (key, config) => {
    expect(() => checkRuscarl(ruscarlSchema.parse(config), 'plan')).toThrow(`${key}: expected`)
  })

  it.each([
    [
      { task: { kind: 'packing', file: 'rows.jsonl' } },
      'task.file',
      'it belongs to task.kind: conversations',
    ],
    [{ task: { kind: 'conversations', world: 7 } }, 'task.world', 'it belongs to task.kind: packing'],
    [{ world: 7 }, 'world', 'did you mean task.world?'],
    [{ ...conversations, heldOutTopics: 4 }, 'heldOutTopics', 'did you mean task.heldOutTopics?'],
    [{ carelessJudge: true }, 'carelessJudge', 'did you mean task.carelessJudge?'],
  ])('keys of another task, and those that moved into task: %j', (config, key, hint) => {
    const wrong = () => parseWith(ruscarlSchema, config, 'x')
    expect(wrong).toThrow(`x: ${key}: expected one of `)
    expect(wrong).toThrow(`got an unknown key; ${hint}`)
  })

  it('and the rest is allowed', () => {
    for (const config of [
      {},
      conversations,
      watchedBy({ fleet: { endpoints: [other] } }),
      watchedBy({ fleet: { endpoints: [other] }, rollouts: null, evaluations: true }),
      watchedBy({ fleet: { endpoints: [endpoint] }, ask: { shape: 'rubric' } }),
      {
        ...conversations,
        judge: { fleet: { endpoints: [{ ...endpoint, sendTopK: false }] }, ask: { topK: null } },
      },
      { sft: {}, coldStart: {} },
      { sft: {}, model: { lora: {} } },
      { exploration: { entropyBonus: {} } },
      { pipeline: true, policy: { sampler: { threads: 2 } } },
    ])
      expect(check(config)).not.toThrow()
    // A model of given shape is never made here.
    expect(() => parse({ model: { shape: {} } })).toThrow()
  })
})

describe('topK of a judge', () => {
  const asked = (...sendTopK: (boolean | undefined)[]) => {
    const { sendTopK: _, ...plain } = endpoint
    const endpoints = sendTopK.map(each => (each === undefined ? plain : { ...plain, sendTopK: each }))
    const config = parse(
      watchedBy({ fleet: { endpoints: endpoints.map(each => ({ ...each, model: 'other' })) } }),
    )
    const { judge } = parse({ ...conversations, judge: { fleet: { endpoints } } })
    expect(check({ ...conversations, judge: { fleet: { endpoints } } })).not.toThrow()
    return [judge!.ask.topK, config.judge!.heldOut!.ask.topK]
  }

  it('is asked for by default only where every endpoint is sent it', () => {
    expect(asked(undefined)).toEqual([null, null])
    expect(asked(false)).toEqual([null, null])
    expect(asked(true)).toEqual([20, 20])
    expect(asked(true, true)).toEqual([20, 20])
    expect(asked(true, false)).toEqual([null, null])
  })

  it('stays what it was when a resolved configuration is read again', () => {
    const once = parse({ ...conversations, judge: { fleet: { endpoints: [endpoint] } } })
    expect(parse(once as unknown as Record<string, unknown>)).toEqual(once)
  })
})

describe('what must stay the same for a resume', () => {
  const hashed = (config: unknown) => decidingHash(config as object)

  it('is who judges and how, not where', () => {
    const hashOf = (more: object, ask: object = {}) =>
      hashed(parse({ ...conversations, judge: { fleet: { endpoints: [{ ...endpoint, ...more }] }, ask } }))
    expect(hashOf({ url: 'http://other:1', concurrency: 3 })).toBe(hashOf({}))
    expect(hashOf({ model: 'other' })).not.toBe(hashOf({}))
    expect(hashOf({ extraBody: { temperature: 0 } })).not.toBe(hashOf({}))
    expect(hashOf({}, { temperature: 0 })).not.toBe(hashOf({}))
    const heldOutBy = (model: string, rollouts = {}) =>
      hashed(parse(watchedBy({ fleet: { endpoints: [{ ...other, model }] }, rollouts })))
    expect(heldOutBy('other', { share: 0.5, every: 2 })).toBe(heldOutBy('other'))
    expect(heldOutBy('third')).not.toBe(heldOutBy('other'))
    expect(hashed(parse({ ratio: 'sampled' }))).not.toBe(hashed(parse({})))
    expect(hashed(parse({ out: 'elsewhere' }))).toBe(hashed(parse({})))
    // One engine or two: the numbers are the same.
    expect(hashed(parse({ policy: { threads: 1, sampler: {} } }))).toBe(hashed(parse({})))
  })
})

describe('preset paper', () => {
  const config = parse(ruscarlEntry.presets.paper.config)

  it('has the numbers of the paper and its code', () => {
    checkRuscarlSettings(config)
    expect(config).toMatchObject({
      steps: 350,
      rollout: { prompts: 64, samples: 8, temperature: 0.7, topP: 0.8, topK: 20, maxTokens: 4096 },
      scaffold: {
        group: { kind: 'linear' },
        decay: { kind: 'sigmoid', alpha: 125, t0: 0.2 },
        showPoints: true,
        forbidMention: true,
        whenEmpty: null,
      },
      ratio: 'plain',
      minibatches: 2,
      epochs: 1,
      optimizer: {
        learningRate: { kind: 'constant', peak: 1e-6 },
        weightDecay: 0.01,
        maxGradNorm: 1,
        beta1: 0.9,
      },
      loss: {
        policy: { kind: 'clip', clipLow: 0.2, clipHigh: 0.2, dualClip: 3 },
        kl: { kind: 'k3', coef: 1e-3 },
        entropyCoef: 0,
        aggregation: { mode: 'token-mean' },
      },
      advantage: { scale: 'group', ddof: 1, epsilon: 1e-6 },
      task: { kind: 'conversations', maxPromptTokens: 4096, nulls: 'as-false' },
      judge: {
        ask: {
          shape: 'criterion',
          retries: 10,
          temperature: 0.7,
          topP: 0.8,
          topK: 20,
          presencePenalty: 1.5,
          maxTokens: 4096,
          showSystem: false,
        },
        fleet: { endpoints: [{ concurrency: 512 }], longestBackoffMs: 300_000 },
      },
      evaluation: { every: 5, problems: 500 },
      checkpoint: { every: 20 },
    })
  })

  it('plans 64 x 8 x 11.5 judge calls a step where the file is not there', () => {
    const { json, lines } = ruscarlEntry.plan(config)
    expect(json).toMatchObject({ judge: { callsPerStep: 5888, trainingCalls: 5888 * 350, cost: null } })
    expect(json.parameters).toBeGreaterThan(7.6e9)
    expect(json.parameters).toBeLessThan(7.7e9)
    expect(lines.join('\n')).toMatch(/cost unknown/)
    // Before, at 5, 10, ..., 345, and after: 71 times 500 responses, and greedy ones before and after.
    expect((json.judge as { evaluationCalls: number }).evaluationCalls).toBe(73 * 500 * 11.5)
  })

  it('knows what it costs when prices are given', () => {
    const { fleet } = config.judge!
    const priced = fleet.endpoints.map(each => ({
      ...each,
      price: { inputPerMillion: 0.1, outputPerMillion: 0.3 },
    }))
    const { json } = ruscarlEntry.plan({
      ...config,
      judge: { ...config.judge!, fleet: { ...fleet, endpoints: priced } },
    })
    const { cost, promptTokens, completionTokens } = json.judge as Record<string, number>
    expect(cost).toBeCloseTo((0.1 * promptTokens + 0.3 * completionTokens) / 1e6, 0)
  })

  it('counts what a held-out judge is asked: a share of some steps, and evaluations if they are its', () => {
    const planOf = (heldOut: Record<string, unknown>) => {
      const { fleet } = config.judge!
      const endpoints = [{ ...fleet.endpoints[0], model: 'other' }]
      const judge = { ...config.judge!, heldOut: { fleet: { endpoints }, ...heldOut } }
      return ruscarlEntry.plan(parse({ ...config, judge }))
    }
    // A tenth of 512 rollouts is 52, in each of 350 steps or in every tenth.
    const { json, lines } = planOf({})
    expect(json.heldOutJudge).toMatchObject({
      callsPerStep: 52 * 11.5,
      trainingCalls: 52 * 11.5 * 350,
      evaluationCalls: 0,
    })
    expect(lines.join('\n')).toContain('held-out     another judge: about 598 calls in each step')
    expect(planOf({ rollouts: { every: 10 } }).json.heldOutJudge).toMatchObject({
      trainingCalls: 52 * 11.5 * 35,
    })
    expect(
      planOf({ rollouts: null, evaluations: true, ask: { shape: 'rubric' } }).json.heldOutJudge,
    ).toMatchObject({
      callsPerStep: 0,
      trainingCalls: 0,
      evaluationCalls: 71 * 500,
    })
    expect(planOf({}).json.judge).toEqual(ruscarlEntry.plan(config).json.judge)
    expect(ruscarlEntry.plan(config).json.heldOutJudge).toBeNull()
  })

  it('counts real rows where they are there', ({ skip }) => {
    const file = sharedData('healthbench/rows.jsonl')
    if (file === null) return skip('no ../shared/data/healthbench here')
    const { json } = ruscarlEntry.plan(parse({ ...config, task: { ...config.task, file, holdOut: 20 } }))
    const { data, judge } = json as { data: Record<string, number>; judge: Record<string, number> }
    expect(data).toMatchObject({ train: 180, test: 20, assumed: false })
    // 2428 criteria in 200 rows, counted outside this code.
    expect(data.criteria).toBeCloseTo(2428 / 200, 6)
    expect(judge.callsPerStep).toBeCloseTo(512 * data.judged, 6)
  })
})

describe('the plan of the miniature', () => {
  it('needs no judge', () => {
    const { json, lines } = ruscarlEntry.plan(parse(ruscarlEntry.presets.quick.config))
    expect(json.judge).toBeNull()
    expect(lines.join('\n')).toContain('no judge, no network')
  })

  it('says what groups without a spread may cost', () => {
    const quick = ruscarlEntry.presets.quick.config
    const linesOf = (exploration: object) =>
      ruscarlEntry.plan(parse({ ...quick, exploration })).lines.join('\n')
    expect(linesOf({ dynamicSampling: { rounds: 4 } })).toContain('dynamic sampling: up to 5 times')
    expect(linesOf({})).not.toContain('dynamic sampling')
  })

  it('counts a shorter evaluation of the start', () => {
    const { config } = ruscarlEntry.presets.paper
    const evaluation = config.evaluation as Record<string, number>
    const planOf = (more: object) =>
      ruscarlEntry.plan(parse({ ...config, evaluation: { ...evaluation, ...more } }))
    const callsOf = (plan: ReturnType<typeof planOf>) => (plan.json.judge as JudgePlan).evaluationCalls
    const [whole, shorter] = [planOf({}), planOf({ problemsAtStart: 100 })]
    const sets = evaluation.scaffolded === undefined || evaluation.scaffolded ? 2 : 1
    const fewer = (evaluation.problems - 100) * ((evaluation.samples ?? 1) * sets + 1)
    expect(callsOf(whole) - callsOf(shorter)).toBeCloseTo(fewer * 11.5, 6)
    expect(shorter.lines.join('\n')).toContain(', 100 before the first step')
    // The supervised phase begins with a shorter one, too.
    const withSft = (more: object) =>
      callsOf(ruscarlEntry.plan(parse({ ...config, sft: {}, evaluation: { ...evaluation, ...more } })))
    expect(withSft({}) - withSft({ problemsAtStart: 100 })).toBeCloseTo(2 * fewer * 11.5, 6)
  })

  it('counts what a curriculum and demonstrations add to the judge', () => {
    const paper = ruscarlEntry.presets.paper.config
    const callsOf = (more: Record<string, unknown>) =>
      (ruscarlEntry.plan(parse({ ...paper, ...more })).json.judge as { trainingCalls: number }).trainingCalls
    const plain = callsOf({})
    expect(callsOf({ exploration: { curriculum: { samples: 2 } } }) - plain).toBe(4500 * 2 * 11.5)
    expect(callsOf({ sft: { problems: 100, samples: 4 } }) - plain).toBe(400 * 11.5)
  })
})
