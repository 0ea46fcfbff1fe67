import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ScriptedServer } from '../../grade/judge/scripted/server.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { readEvals, readEvents, readMetrics, readRollouts, withoutTimings } from '../../runs/readers.ts'
import { ROWS, writeRows } from '../../tasks/conversation/rows.fixture.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { ruscarlSchema } from './config.ts'
import { runRuscarl } from './run.ts'
import { tinyConversations, tinyJudge } from './tiny-conversations.fixture.ts'

const SLOW_MS = 120_000

let folder: string
let model: string
let file: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-ruscarl-'))
  model = writeTinyChat(join(folder, 'model'))
  file = writeRows(join(folder, 'data'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const configOf = (more: Record<string, unknown> = {}) =>
  ruscarlSchema.parse(tinyConversations(model, file, more))

interface HowToRun {
  resume?: boolean
  stopAfter?: number
  judge?: ReturnType<typeof tinyJudge>
}

const run = (
  name: string,
  config: ReturnType<typeof configOf>,
  { resume = false, stopAfter = Number.MAX_VALUE, judge = tinyJudge() }: HowToRun = {},
) => {
  let steps = 0
  const events = { onStep: () => steps++, shouldStop: () => steps >= stopAfter }
  return runRuscarl(config, { dir: join(folder, name), resume, events }, { judgeModel: judge })
}

describe('ruscarl on conversations', () => {
  it(
    'trains end to end with a judge, and says what judging took',
    async () => {
      const result = await run('whole', configOf())
      expect(result).toMatchObject({ step: 3, finished: true })
      const metrics = readMetrics(result.dir)
      expect(metrics).toHaveLength(3)
      // 2 prompts x 3 samples x 3 criteria that no rule checks.
      for (const row of metrics) {
        const { judgeCallCount, judgeCachedShare } = row.time as Record<string, number>
        expect(judgeCallCount / (1 - judgeCachedShare)).toBeCloseTo(18, 6)
        expect(row.time).toHaveProperty('judgeCalls')
        // What the clock decides is in no other place.
        expect(Object.keys(row).filter(key => /judge.*(call|share)/i.test(key))).toEqual([])
        expect(row.criteria).toHaveProperty(['accuracy (penalties)'])
        expect(row.leakRate).toBe(0)
      }
      const nulls = metrics.map(row => row.judgeNullRate as number)
      expect(Math.max(...nulls)).toBeGreaterThan(0)
      expect(metrics[0].scaffoldTokens).toBeGreaterThan(0)
      expect(metrics[2].scaffoldTokens).toBe(0)
      const evals = readEvals(result.dir)
      expect(evals.map(({ step, set }) => [step, set])).toEqual([
        [0, 'held-out conversations'],
        [0, 'full scaffold'],
        [3, 'held-out conversations'],
        [3, 'full scaffold'],
      ])
      expect(evals[0].judgeCalls).toBe(12)
      // What is kept for reading is what the policy was asked, the scaffold with it.
      const [{ prompt: plain }, { prompt: scaffolded, plainPrompt }] = evals.map(row => row.items![0].sample!)
      expect(plainPrompt).toBe(plain)
      expect(scaffolded.length).toBeGreaterThan(plain.length)
      expect(scaffolded).toContain('hiccups')
      const [rollout] = readRollouts(result.dir)
      expect(rollout.prompt).toContain('hiccups')
      expect(rollout.verdicts).toHaveLength(4)
    },
    SLOW_MS,
  )

  it(
    'asks a judge over HTTP, of which some answers cannot be read, and remembers verdicts in a folder',
    async () => {
      const server = new ScriptedServer({ latencyMs: 20, faults: { unusableEvery: 2 } })
      const url = await server.listen()
      // The scripted judge goes by tags: the case in the question, the rule in the criterion.
      const rows = ROWS.map((row, i) => ({
        prompt: [{ role: 'user', content: `What about case-${i}?` }],
        rubrics: row.rubrics.slice(0, 3).map((each, j) => ({ ...each, criterion: `Follows rule-${j}` })),
      }))
      const tagged = writeRows(join(folder, 'tagged'), rows)
      const endpoints = [{ url, model: 'scripted', sendTopK: true }]
      const cache = { folder: join(folder, 'verdicts') }
      const config = configOf({
        task: { kind: 'conversations', file: tagged, holdOut: 2 },
        judge: { fleet: { endpoints, backoffMs: 1 }, ask: { retries: 0 }, cache },
        // All cases in every step: one without any answer that can be read would end the run.
        rollout: { prompts: 4, samples: 2, maxTokens: 12 },
        steps: 2,
      })
      const { dir } = await runRuscarl(config, { dir: join(folder, 'http'), resume: false })
      await server.close()
      const metrics = readMetrics(dir)
      const evals = readEvals(dir)
      const calls = [
        ...metrics.map(({ time }) => time!.judgeCallCount!),
        ...evals.map(row => row.judgeCalls!),
      ]
      expect(server.stats().requests).toBe(calls.reduce((a, b) => a + b, 0))
      // Every other case is never answered so that it can be read: null, by the sign of the points.
      const nulls = [
        ...metrics.map(row => row.judgeNullRatePositive as number),
        ...evals.map(row => row.judgeNullRate!),
      ]
      expect(Math.max(...nulls)).toBeGreaterThan(0)
      for (const { time } of readMetrics(dir)) expect(time?.judgeCall).toBeGreaterThan(0.015)
      // Evaluated again by another run, nothing that was answered is asked again.
      const again = await runRuscarl(
        { ...config, steps: 0 },
        { dir: join(folder, 'http again'), resume: false },
      )
      expect(evals[0].judgeCalls).toBe(12)
      // What could not be read is asked about again, and nothing else.
      expect(readEvals(again.dir)[0].judgeCalls).toBeLessThan(evals[0].judgeCalls!)
    },
    SLOW_MS,
  )

  it(
    'writes the same rows after a stop and a resume, with noisy verdicts and an entropy bonus',
    async () => {
      const config = configOf({
        exploration: { entropyBonus: {} },
        flipRate: 0.3,
        steps: 3,
        checkpoint: { every: 1 },
      })
      // Verdicts depend on the text alone, so that only the run's own randomness is left.
      const judge = tinyJudge(true)
      await run('uninterrupted', config, { judge })
      const stopped = await run('stopped', config, { judge, stopAfter: 1 })
      expect(stopped).toMatchObject({ step: 1, finished: false })
      await run('stopped', config, { judge, resume: true })
      const rowsOf = (name: string) => readMetrics(join(folder, name)).map(withoutTimings)
      expect(rowsOf('stopped')).toEqual(rowsOf('uninterrupted'))
      expect(rowsOf('stopped')).toHaveLength(3)
    },
    SLOW_MS,
  )

  it(
    'begins with demonstrations that the policy writes under the scaffold, and keeps their phase',
    async () => {
      const sft = { problems: 4, samples: 4, minScore: -10, best: 2, steps: 2, batch: 2 }
      const tries = configOf({ sft, steps: 1, rollout: { prompts: 2, samples: 2, maxTokens: 400 } })
      const result = await run('sft', tries)
      expect(result.finished).toBe(true)
      const written = readJsonl(join(result.dir, 'sft', 'demonstrations.jsonl')) as { tokens: number[] }[]
      expect(written.length).toBeGreaterThan(0)
      // Only what ended by itself is learnt.
      for (const { tokens } of written) expect(tokens.at(-1)).toBe(257)
      expect(readMetrics(join(result.dir, 'sft'))).toHaveLength(2)
      const [found] = readEvents(join(result.dir, 'sft'))
      expect(found.message).toMatch(/demonstrations kept of 16/)
    },
    SLOW_MS,
  )

  it(
    'keeps the order of a curriculum in the run',
    async () => {
      const result = await run(
        'curriculum',
        configOf({ exploration: { curriculum: { samples: 2 } }, steps: 1 }),
      )
      const scores = JSON.parse(readFileSync(join(result.dir, 'curriculum.json'), 'utf8')) as object
      expect(Object.keys(scores)).toHaveLength(4)
    },
    SLOW_MS,
  )

  it('refuses before anything runs: no judge for judged criteria, a file without prompts', async () => {
    await expect(run('no-judge', configOf({ judge: null }))).rejects.toThrow('judge: expected one')
    expect(existsSync(join(folder, 'no-judge'))).toBe(false)
    const bare = writeRows(join(folder, 'bare'), [
      { id: 'x', rubric: { criteria: [{ id: 'a', text: 'b', points: 1 }] } },
    ])
    await expect(
      run('no-prompts', configOf({ task: { kind: 'conversations', file: bare, holdOut: 1 } })),
    ).rejects.toThrow('item x: expected a conversation to answer, got no prompt')
  })

  it(
    'trains on real HealthBench rows',
    async ({ skip }) => {
      const path = sharedData('healthbench/rows.jsonl')
      if (path === null) return skip('no ../shared/data/healthbench here')
      const rows = readJsonl(path).slice(0, 8)
      const real = writeRows(join(folder, 'real'), rows)
      const wide = writeTinyChat(join(folder, 'wide'), 16_384)
      const config = ruscarlSchema.parse({
        ...tinyConversations(wide, real),
        steps: 1,
        evaluation: { problems: 1, scaffolded: false },
      })
      const result = await run('healthbench', config)
      expect(result.finished).toBe(true)
      const [metrics] = readMetrics(result.dir)
      const criteria = readRubricFile(real).items.map(({ rubric }) => rubric.criteria.length)
      const { judgeCallCount, judgeCachedShare } = metrics.time as Record<string, number>
      const questions = judgeCallCount / (1 - judgeCachedShare)
      expect(questions).toBeGreaterThanOrEqual(2 * 3 * Math.min(...criteria))
      expect(questions).toBeLessThanOrEqual(2 * 3 * Math.max(...criteria))
    },
    SLOW_MS,
  )

  it('has rows that its own format reads', () => {
    expect(readRubricFile(file).items).toHaveLength(ROWS.length)
  })
})
