import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { HttpJudge } from '../../grade/judge/http-judge.fixture.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { readEvals, readEvents, readMetrics, readRollouts, withoutTimings } from '../../runs/readers.ts'
import { writeRows } from '../../tasks/conversation/rows.fixture.ts'
import { ruscarlSchema } from './config.ts'
import { runRuscarl } from './run.ts'
import { tinyConversations, tinyJudge } from './tiny-conversations.fixture.ts'

const SLOW_MS = 300_000

let folder: string
let model: string
let file: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-held-out-'))
  model = writeTinyChat(join(folder, 'model'))
  const rows = Array.from({ length: 8 }, (_, i) => ({
    prompt: [{ role: 'user', content: `What helps against hiccups number ${i}?` }],
    rubrics: [{ criterion: 'Is of use to whoever asks', points: 5 }],
  }))
  file = writeRows(join(folder, 'data'), rows)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const judges: HttpJudge[] = []
afterEach(async () => {
  await Promise.all(judges.splice(0).map(judge => judge.close()))
})
const judge = async (met: (response: string) => boolean): Promise<HttpJudge> => {
  const started = await HttpJudge.start(met)
  judges.push(started)
  return started
}

/** What the judge of training falls for. */
const hasMagic = (response: string): boolean => /[$%*+=]/.test(response)

const endpointOf = ({ url }: HttpJudge, name: string) => ({
  fleet: { endpoints: [{ url, model: name, sendTopK: true }] },
  ask: { retries: 0 },
})

const STEPS = 20
const SHARE = 0.5
const [PROMPTS, SAMPLES] = [4, 8]

/** A training by a judge that any magic sign convinces, watched by another one. */
const hackedRun = async (name: string, heldOutMet: (response: string) => boolean) => {
  const [fooled, heldOut] = [await judge(hasMagic), await judge(heldOutMet)]
  const config = ruscarlSchema.parse(
    tinyConversations(model, file, {
      judge: {
        ...endpointOf(fooled, 'fooled'),
        heldOut: {
          ...endpointOf(heldOut, 'held-out'),
          cache: { folder: join(folder, `${name} verdicts`) },
          rollouts: { share: SHARE },
          evaluations: true,
        },
      },
      steps: STEPS,
      rollout: { prompts: PROMPTS, samples: SAMPLES, maxTokens: 12, temperature: 1 },
      optimizer: { learningRate: { kind: 'constant', peak: 2e-2 } },
      loss: { preset: 'gradus:ruscarl', kl: { kind: 'none', coef: 0 } },
      scaffold: { group: { kind: 'none' } },
      evaluation: { problems: 2, problemsBetween: 2, samples: 16, every: 10, scaffolded: false },
      monitors: { window: 4 },
    }),
  )
  const { dir } = await runRuscarl(config, { dir: join(folder, name), resume: false })
  return { dir, fooled, heldOut, rows: readMetrics(dir) as unknown as Record<string, number>[] }
}

const heldOutWarnings = (dir: string) =>
  readEvents(dir).filter(
    ({ turn, monitor }) => turn === 'on' && (monitor === 'heldOutFalls' || monitor === 'evaluationFalls'),
  )

/** What the judge of training and the training itself made of it, without what the held-out judge adds. */
const trained = (dir: string) =>
  readMetrics(dir).map(row =>
    Object.fromEntries(Object.entries(withoutTimings(row)).filter(([key]) => !key.startsWith('heldOut'))),
  )

describe('a judge of conversations that can be fooled', () => {
  it(
    'is found out by a held-out one, which sees what the monitors keep',
    async () => {
      const { dir, heldOut, rows } = await hackedRun('hacked', response => !hasMagic(response))
      expect(rows[0].reward).toBeLessThan(0.6)
      expect(rows.at(-1)!.reward).toBeGreaterThan(0.9)
      expect(rows.at(-1)!.heldOut).toBeLessThan(0.1)

      const warnings = heldOutWarnings(dir)
      expect(warnings.map(({ monitor }) => monitor).toSorted()).toEqual(['evaluationFalls', 'heldOutFalls'])
      const falls = warnings.find(({ monitor }) => monitor === 'heldOutFalls')!
      expect(falls.message).toMatch(
        /the held-out grader's score fell from [\d.]+ to [\d.]+ while the reward rose/,
      )
      const tests = warnings.find(({ monitor }) => monitor === 'evaluationFalls')!
      expect(tests.message).toContain('on held-out conversations, held-out judge, rubric score fell')
      const shown = readRollouts(dir).filter(({ monitor }) => monitor === 'heldOutFalls')
      expect(shown).toHaveLength(3)
      for (const { response, reward, heldOut: opinion } of shown) {
        expect([reward, opinion]).toEqual([1, 0])
        expect(response).toSatisfy(hasMagic)
      }
      expect(readFileSync(join(dir, 'report.html'), 'utf8')).toContain('Held-out score falls')

      // A share of the rollouts, no more; what it was asked in all is what the rows say.
      const evals = readEvals(dir).filter(({ set }) => set === 'held-out conversations, held-out judge')
      const times = readMetrics(dir).map(({ time }) => time as Record<string, number>)
      for (const { heldOutJudgeCallCount, heldOutJudgeCachedShare } of times)
        expect(heldOutJudgeCallCount / (1 - heldOutJudgeCachedShare)).toBeCloseTo(
          SHARE * PROMPTS * SAMPLES,
          6,
        )
      const calls = [...times.map(time => time.heldOutJudgeCallCount), ...evals.map(row => row.judgeCalls!)]
      expect(heldOut.calls).toBe(calls.reduce((a, b) => a + b, 0))
    },
    SLOW_MS,
  )

  it(
    'makes nobody suspicious while the held-out one is as pleased as before, though the reward rises',
    async () => {
      const { dir, rows } = await hackedRun('pleased', response => {
        const sum = Array.from(response).reduce((codes, character) => codes + character.charCodeAt(0), 0)
        return sum % 4 > 0
      })
      expect(rows.at(-1)!.reward).toBeGreaterThan(0.9)
      expect(heldOutWarnings(dir)).toEqual([])
      // The same training as the one above: a held-out judge only watches.
      expect(trained(dir)).toEqual(trained(join(folder, 'hacked')))
    },
    SLOW_MS,
  )
})

describe('a held-out judge', () => {
  const quick = (heldOut: Record<string, unknown>) =>
    ruscarlSchema.parse(
      tinyConversations(model, file, {
        judge: {
          fleet: { endpoints: [{ url: 'http://127.0.0.1:9', model: 'nobody', sendTopK: true }] },
          heldOut: {
            fleet: { endpoints: [{ url: 'http://127.0.0.1:9', model: 'other', sendTopK: true }] },
            ask: { retries: 0 },
            ...heldOut,
          },
        },
      }),
    )

  it(
    'that fails has no opinion, which is not a bad one; steps that are not its own cost nothing',
    async () => {
      const failing = scriptedModel(() => {
        throw new Error('out of order')
      })
      const config = quick({ rollouts: { share: 1, every: 2 } })
      const { dir } = await runRuscarl(
        config,
        { dir: join(folder, 'failing'), resume: false },
        { judgeModel: tinyJudge(true), heldOutJudgeModel: failing },
      )
      const rows = readMetrics(dir)
      expect(rows.map(({ heldOut }) => heldOut)).toEqual([null, undefined, null])
      expect(rows.map(({ time }) => time!.heldOutJudgeCallCount)).toEqual([6, 0, 6])
      expect(rows.map(({ time }) => time!.heldOutJudgeFailedCalls)).toEqual([6, 0, 6])
      expect(readEvals(dir).map(({ set }) => set)).not.toContain('held-out conversations, held-out judge')
    },
    SLOW_MS,
  )
})
