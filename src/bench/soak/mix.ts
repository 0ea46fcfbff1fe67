/** @file The requests of a soak: what each kind sends, how it sends it, and what may come of it. */

import { caseTag, ruleTag, scriptedTruth } from '../../grade/judge/scripted/index.ts'
import { Rng } from '../../util/rng.ts'

/**
 * How a request is sent: `whole` over a pool of connections; the others on a connection of their own. `half`: the client goes
 * away in the middle of the body; `gone`: behind it, before the answer; `slow`: the body comes in pieces; `stuck`: it never
 * ends; `pipelined`: three requests at once.
 */
type Manner = 'whole' | 'half' | 'gone' | 'slow' | 'stuck' | 'pipelined'

export interface SoakRequest {
  kind: string
  manner: Manner
  path: string
  body: string
  /** Statuses that are right. */
  expected: readonly number[]
  /** What is wrong with a 200, or null. */
  check?(answer: unknown): string | null
  /** Verdicts of judges in a 200: how many, and how many of them null. */
  verdicts?(answer: unknown): { all: number; nulls: number }
}

const JUDGED_RULES = 4
/** The soak's server takes no larger body, so that one that is too large costs little to send. */
const BODY_BYTES = 2 * 1024 ** 2
const RESPONSE_CHARACTERS = 500_000
const BODY_MS = 2_000

const rule = (id: string, points: number, fn: string, params: object) => ({
  id,
  text: id,
  points,
  verifier: { kind: 'rule', fn, params },
})

/** The server that is soaked. @param judgeUrl of the scripted judge */
export const soakConfig = (judgeUrl: string) => ({
  rubrics: {
    short: {
      criteria: [
        { id: 'right', text: 'Is right', points: 5, verifier: { kind: 'rule', fn: 'exact_answer' } },
        rule('brief', 2, 'length', { max: 60 }),
        rule('rude', -4, 'contains', { any: ['stupid', 'idiot'] }),
      ],
    },
    judged: {
      criteria: Array.from({ length: JUDGED_RULES }, (_, index) => ({
        id: `c${index}`,
        text: `Does as ${ruleTag(index)} asks`,
        points: 1,
      })),
    },
  },
  judges: {
    main: {
      kind: 'llm',
      fleet: { endpoints: [{ url: judgeUrl, model: 'scripted', concurrency: 64 }] },
    },
  },
  judge: 'main',
  routes: [
    { kind: 'grade', path: '/v1/grade', rubric: 'short' },
    { kind: 'openrlhf', path: '/openrlhf', rubric: 'short' },
    { kind: 'slime', path: '/slime', rubric: 'short' },
    { kind: 'nemo-gym', path: '/verify', rubric: 'short' },
  ],
  limits: {
    bodyBytes: BODY_BYTES,
    bodyMs: BODY_MS,
    responseCharacters: RESPONSE_CHARACTERS,
    deadlineMs: 60_000,
  },
})

/** Faults of its judge, as shares of its answers. */
export const JUDGE_FAULTS = {
  serverError: 0.02,
  rateLimit: 0.02,
  malformed: 0.03,
  cut: 0.01,
  unusableEvery: 40,
}

const item = (index: number) => ({
  id: `r${index}`,
  prompt: `What is ${index} plus one?`,
  response: `The answer is ${index + (index % 2)}.`,
  reference: String(index + 1),
})
/** Right and brief, or brief alone, of 7 points. */
const rewardOf = (index: number): number => (index % 2 === 1 ? 1 : 2 / 7)

const rewardFault = (given: unknown, index: number): string | null =>
  typeof given === 'number' && Math.abs(given - rewardOf(index)) < 1e-9
    ? null
    : `reward ${JSON.stringify(given)} where ${rewardOf(index)} is right`

/** What is wrong with the first of rewards that is; null: nothing. */
const firstFault = (given: readonly unknown[], index: number): string | null =>
  given.map((reward, n) => rewardFault(reward, index + n)).find(fault => fault !== null) ?? null

interface GradeAnswer {
  results: { reward: number | null; verdicts: { criterionId: string; met: boolean | null }[] }[]
}

const post = (kind: string, path: string, body: unknown, rest: Partial<SoakRequest> = {}): SoakRequest => ({
  kind,
  manner: 'whole',
  path,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  expected: [200],
  ...rest,
})

const grade = (index: number, count: number): SoakRequest =>
  post(
    count === 1 ? 'one item' : 'many items',
    '/v1/grade',
    { items: Array.from({ length: count }, (_, n) => item(index + n)) },
    {
      check: answer =>
        firstFault(
          (answer as GradeAnswer).results.map(({ reward }) => reward),
          index,
        ),
    },
  )

const openRlhf = (index: number): SoakRequest => {
  const items = Array.from({ length: 8 }, (_, n) => item(index + n))
  const body = {
    query: items.map(({ prompt, response }) => `${prompt}${response}</s>`),
    prompts: items.map(({ prompt }) => prompt),
    labels: items.map(({ reference }) => reference),
  }
  return post('openrlhf', '/openrlhf', body, {
    check: answer => firstFault((answer as { rewards: number[] }).rewards, index),
  })
}

const slime = (index: number): SoakRequest => {
  const { prompt, response, reference } = item(index)
  const body = { prompt, response, label: reference }
  return post('slime', '/slime', body, { check: answer => rewardFault(answer, index) })
}

const nemoGym = (index: number): SoakRequest => {
  const { prompt, response, reference } = item(index)
  const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: response }] }]
  const body = {
    responses_create_params: { input: prompt },
    response: { output },
    expected_answer: reference,
  }
  const check = (answer: unknown) => rewardFault((answer as { reward: number }).reward, index)
  return post('nemo-gym', '/verify', body, { check })
}

const judged = (index: number): SoakRequest => {
  const body = { items: [{ prompt: 'p', response: `An answer to ${caseTag(index)}.`, rubric: 'judged' }] }
  const verdictsOf = (answer: unknown) => (answer as GradeAnswer).results[0].verdicts
  return post('judged', '/v1/grade', body, {
    check: answer => {
      const invented = verdictsOf(answer).find(
        ({ criterionId, met }) => met !== null && met !== scriptedTruth(index, Number(criterionId.slice(1))),
      )
      return invented === undefined ? null : `an invented verdict on ${invented.criterionId}`
    },
    verdicts: answer => {
      const all = verdictsOf(answer)
      return { all: all.length, nulls: all.filter(({ met }) => met === null).length }
    },
  })
}

const inline = (kind: string, criteria: object[], response: string, rest: Partial<SoakRequest> = {}) =>
  post(kind, '/v1/grade', { items: [{ response, rubric: { criteria } }] }, rest)

/** Bodies that want to do harm; each with the status that it must get. */
const HOSTILE: readonly ((index: number) => SoakRequest)[] = [
  () => post('no JSON', '/v1/grade', '{"items": [', { expected: [400] }),
  () => post('another shape', '/slime', { prompt: 7 }, { expected: [400] }),
  () => post('no such path', '/grade', {}, { expected: [404] }),
  () => post('deep', '/slime', `{"label":${'['.repeat(9_000)}${']'.repeat(9_000)}}`, { expected: [400] }),
  () => post('many values', '/v1/grade', `{"items":[${'{},'.repeat(400_000)}{}]}`, { expected: [400] }),
  () =>
    post(
      'huge points',
      '/v1/grade',
      {
        items: [{ response: 'x', rubric: { criteria: [rule('a', 1e308, 'length', { max: 1 })] } }],
      },
      { expected: [400] },
    ),
  () =>
    inline('long response', [rule('a', 1, 'length', { max: 1 })], 'x'.repeat(RESPONSE_CHARACTERS + 1), {
      expected: [422],
    }),
  () => post('large body', '/v1/grade', 'x'.repeat(BODY_BYTES + 500_000), { expected: [413] }),
  index => inline('slow regex', [rule('a', 1, 'regex', { pattern: `(a+)+${index}$` })], 'a'.repeat(2_000)),
  () => inline('sentences', [rule('a', 1, 'length', { unit: 'sentences', max: 5 })], 'Ab. '.repeat(20_000)),
  () =>
    inline(
      'unique items',
      [rule('a', 1, 'json_schema', { schema: { type: 'array', uniqueItems: true } })],
      JSON.stringify(Array.from({ length: 5_000 }, (_, n) => ({ n }))),
    ),
  () =>
    inline(
      'async schema',
      [rule('a', 1, 'json_schema', { schema: { $async: true, type: 'object' } })],
      '[]',
      { expected: [400] },
    ),
]

const large = (index: number): SoakRequest =>
  inline('large', [rule('words', 1, 'length', { max: 10 })], `${index} ${'word '.repeat(60_000)}`, {
    check: answer => ((answer as GradeAnswer).results[0].reward === 0 ? null : 'a long text counts as short'),
  })

/** Kinds with their weights. */
const MIX: readonly [weight: number, make: (index: number) => SoakRequest][] = [
  [380, index => grade(index, 1)],
  [20, index => grade(index, 64)],
  [100, openRlhf],
  [100, slime],
  [80, nemoGym],
  [150, judged],
  [10, large],
  [60, index => HOSTILE[index % HOSTILE.length](index)],
  [30, index => ({ ...grade(index, 1), kind: 'gone in the body', manner: 'half', expected: [] })],
  [30, index => ({ ...judged(index), kind: 'gone before the answer', manner: 'gone', expected: [] })],
  [19, index => ({ ...grade(index, 1), kind: 'slow body', manner: 'slow' })],
  [1, index => ({ ...grade(index, 1), kind: 'stuck body', manner: 'stuck', expected: [408] })],
  [20, index => ({ ...slime(index), kind: 'pipelined', manner: 'pipelined' })],
]
const WHOLE = MIX.reduce((sum, [weight]) => sum + weight, 0)

/** Request so many of a soak: the same for the same seed and number. */
export const soakRequest = (seed: string, index: number): SoakRequest => {
  let left = new Rng(`${seed}/${index}`).next() * WHOLE
  for (const [weight, make] of MIX) {
    left -= weight
    if (left < 0) return make(index)
  }
  return grade(index, 1)
}
