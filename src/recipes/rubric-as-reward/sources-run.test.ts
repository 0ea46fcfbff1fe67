import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { readEvents } from '../../runs/readers.ts'
import { loadReportData } from '../../runs/report/data.ts'
import { rubricAsRewardSchema } from './config.ts'
import { runRubricAsReward } from './run.ts'
import { folioRows, proofWriterRows, writeRows } from './sources.fixture.ts'

const SLOW_MS = 240_000

let folder: string
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-sources-run-'))
  writeTinyChat(at('chat'), 4096)
  const [bad] = folioRows(1, true, 90)
  writeRows(at('train.jsonl'), [...folioRows(5, false), { ...bad, 'premises-FOL': ['Owns('] }])
  writeRows(at('test.jsonl'), folioRows(3, true, 50))
  writeRows(at('pw.jsonl'), proofWriterRows(12))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const config = () =>
  rubricAsRewardSchema.parse({
    // Words count here, so that random text earns something and the policy is updated.
    condition: 'hybrid',
    model: { folder: at('chat') },
    policy: { threads: 1, spinning: false },
    task: {
      prompt: 'chat',
      formulas: 'shown',
      sources: [
        { kind: 'folio', path: at('train.jsonl'), weight: 2 },
        { kind: 'proofwriter', path: at('pw.jsonl'), part: 'train' },
        { kind: 'generated', name: 'prontoqa', hops: 1 },
      ],
    },
    steps: 2,
    rollout: { prompts: 4, samples: 2, maxTokens: 24 },
    checkpoint: { every: 1 },
    evaluation: {
      sources: [
        { kind: 'folio', path: at('test.jsonl'), weight: 2 },
        { kind: 'proofwriter', path: at('pw.jsonl'), part: 'test' },
      ],
      sets: [],
      problems: 3,
      samples: 1,
      greedy: false,
    },
  })

const run = async (name: string, stopAfter: number, resume = false) => {
  let steps = resume ? 1 : 0
  const logged: string[] = []
  await runRubricAsReward(config(), {
    dir: at(name),
    resume,
    events: {
      onStep: () => steps++,
      shouldStop: () => steps >= stopAfter,
      onMessage: text => logged.push(text),
    },
  })
  return { ...loadReportData(at(name)), logged }
}

describe('a run on FOLIO and ProofWriter rows with a chat model of random weights', () => {
  it(
    'tells metrics by source, names what it leaves out, and goes on after a stop with the same rows',
    async () => {
      const whole = await run('whole', 99)
      await run('parts', 1)
      const parts = await run('parts', 99, true)
      const rows = ({ metrics }: Pick<typeof whole, 'metrics'>) => metrics.map(({ time: _, ...row }) => row)
      expect(rows(whole)).toHaveLength(2)
      expect(rows(parts)).toEqual(rows(whole))
      expect(parts.evals).toEqual(whole.evals)

      expect(whole.metrics[0].shareBySource).toEqual({ folio: 0.5, proofwriter: 0.25, prontoqa: 0.25 })
      expect(whole.metrics[0].provedBySource).toMatchObject({ folio: null, prontoqa: 0 })
      expect(whole.metrics[0].C1BySource).toMatchObject({ folio: 0 })
      expect(whole.metrics[0].gradNorm).toBeGreaterThan(0)

      expect(whole.evals.map(({ step, set }) => [step, set])).toEqual([
        [0, 'folio + proofwriter'],
        [2, 'folio + proofwriter'],
      ])
      const { bySource } = whole.evals[1]
      expect(Object.entries(bySource!).map(([name, { n }]) => [name, n])).toEqual([
        ['folio', 2],
        ['proofwriter', 1],
      ])
      expect(bySource!.folio.scores).toHaveProperty('accuracy')
      expect(Object.keys(bySource!.folio.criteria!)).toEqual(['C1', 'C2', 'C3', 'C4', 'C5'])
      expect(Object.values(bySource!.folio.byLabel!).reduce((sum, { n }) => sum + n, 0)).toBe(2)
      expect(whole.info.primarySet).toBe('folio + proofwriter')

      const left = /training source folio: 1 row left out: folio-9000 \(premises-FOL/
      expect(whole.logged.join('\n')).toMatch(left)
      expect(
        readEvents(at('whole'))
          .map(({ message }) => message)
          .join('\n'),
      ).toMatch(left)
      expect(readFileSync(at('whole/report.html'), 'utf8')).toContain('By source')
    },
    SLOW_MS,
  )
})
