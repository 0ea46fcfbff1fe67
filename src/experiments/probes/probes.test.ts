import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINIATURES } from '../../recipes/common/miniatures.ts'
import { ruscarlSchema } from '../../recipes/ruscarl/config.ts'
import { packingPhaseSchema, phaseConfig } from '../../recipes/sft/config.ts'
import { runSftRecipe } from '../../recipes/sft/run.ts'
import { scored } from '../../tasks/scored-response.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { fakeRegistration } from '../fake-paper.fixture.ts'
import type { ProbeResults } from '../metrics/probed.ts'
import { jobsOf, runDir, workFolders } from '../plan/jobs.ts'
import { probeFile } from '../run/finished.ts'
import { probe } from './probe.ts'
import { missingProbes, runProbes } from './run.ts'
import { type ProbeSettings, probeSchema } from './schema.ts'

const SLOW_MS = 120_000
const dir = mkdtempSync(join(tmpdir(), 'gradus-probes-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('probes of a policy against itself', { timeout: SLOW_MS }, () => {
  const found = new Map<string, unknown>()
  const of = <Name extends keyof ProbeResults>(name: Name) => found.get(name) as ProbeResults[Name]

  let start: string
  beforeAll(async () => {
    const phase = packingPhaseSchema.parse({
      steps: 2,
      batch: 8,
      model: { shape: { hiddenSize: 32, layers: 1, heads: 2 } },
      evaluation: { problems: 2 },
      policy: { threads: 1 },
    })
    const { checkpoint } = await runSftRecipe(phaseConfig(phase), { dir: join(dir, 'start'), resume: false })
    const probes: ProbeSettings[] = [
      { name: 'best-of-n', problems: 2, samples: 32, ns: [1, 4, 32] },
      { name: 'novelty', problems: 8, shares: [1, 0] },
      { name: 'diversity', problems: 4, samples: 4 },
      { name: 'internalisation', problems: 8, thresholds: [-100, 100] },
    ].map(probe => probeSchema.parse({ ...probe, arms: ['any'] }))
    const subject = { task: scored<unknown>(MINIATURES.packing.open({ world: 'packing' })), maxTokens: 12 }
    start = checkpoint!
    const folders = { trained: start, initial: start }
    for await (const { name, result } of probe(probes, subject, folders)) found.set(name, result)
  }, SLOW_MS)

  it('find nothing new in its own responses', () => {
    expect(of('novelty').n).toBe(8)
    expect(of('novelty').median).toBeCloseTo(1, 5)
    expect(of('novelty').mean).toBeCloseTo(1, 5)
    const { top, shares } = of('novelty')
    expect(top).toHaveLength(8)
    expect(top!.every(({ id, logRho }) => id !== '' && Math.abs(logRho) < 1e-4)).toBe(true)
    // The same policy on the same prompts with the same seed writes the same: nothing is gained.
    expect(top!.every(({ scoreDifference }) => scoreDifference === 0)).toBe(true)
    expect(shares!.map(({ share }) => share)).toEqual([1, 0])
    for (const { plain } of shares!) expect(plain.median).toBeCloseTo(1, 5)
    // What was shown all of the rubric is likelier after it than after the plain prompt, or less; without any it is the same.
    expect(shares![0].shown.median).not.toBeCloseTo(1, 3)
    expect(shares![1].shown.median).toBeCloseTo(1, 5)
  })

  it('find the responses of a policy as diverse as those of its start', () => {
    const { n, samples, trained, initial } = of('diversity')
    expect([n, samples]).toEqual([4, 4])
    expect(trained).toEqual(initial)
    for (const value of Object.values(trained)) {
      expect(value).toBeGreaterThan(0)
      expect(value).toBeLessThanOrEqual(1)
    }
  })

  it('find the best of more samples better', () => {
    const scores = of('best-of-n').curve.map(({ score }) => score)
    expect(scores[1]).toBeGreaterThan(scores[0])
    expect(scores[2]).toBeGreaterThanOrEqual(scores[1])
  })

  it('keep the best of N of each problem, whose mean is the curve', () => {
    const { byProblem, curve } = of('best-of-n')
    expect(new Set(byProblem!.map(({ id }) => id)).size).toBe(2)
    curve.forEach(({ score }, i) => {
      expect((byProblem![0].best[i] + byProblem![1].best[i]) / 2).toBeCloseTo(score, 12)
    })
  })

  it('find two samples as far apart as two policies that are one', () => {
    const all = of('internalisation')['-100']
    expect(all.n).toBe(8)
    expect(all.initialToPlain).toBeGreaterThan(0)
    expect(Math.abs(all.initialToPlain! - all.plainToItself!)).toBeLessThan(0.3)
    expect(of('internalisation')['100']).toEqual({
      n: 0,
      initialToPlain: null,
      plainToScaffolded: null,
      plainToItself: null,
    })
  })

  it('leave what they found before one of them fails', async () => {
    const registration = fakeRegistration()
    const [, job] = jobsOf(registration, workFolders(join(dir, 'work'), registration), () => ({}))
    const config = ruscarlSchema.parse({ rollout: { prompts: 2, samples: 2, maxTokens: 12 } })
    const run = {
      ...{ id: 'run', createdAt: '2026-01-01T00:00:00.000Z' },
      config: { ...config, model: { ...config.model, folder: start } },
    }
    writeFileAtomic(join(runDir(job), 'config.json'), JSON.stringify(run))
    symlinkSync(join(dir, 'start', 'checkpoints'), join(runDir(job), 'checkpoints'))
    const arms = [job.arm]
    const probes = [
      { name: 'diversity', problems: 2, samples: 2, arms },
      { name: 'best-of-n', problems: 1, samples: 2, ns: [4], arms },
    ].map(probe => probeSchema.parse(probe))
    await expect(runProbes(probes, job)).rejects.toThrow('expected an integer of 1..2, got 4')
    expect(missingProbes(probes, job).map(({ name }) => name)).toEqual(['best-of-n'])
    expect(JSON.parse(readFileSync(probeFile(job, 'diversity'), 'utf8')).n).toBe(2)
  })

  it('ask the conversations that a run was about', async () => {
    const registration = fakeRegistration()
    const [, job] = jobsOf(registration, workFolders(join(dir, 'talk'), registration), () => ({}))
    const verifier = { kind: 'rule', fn: 'length', params: { min: 1 } }
    const rows = ['Say hello.', 'Name a river.', 'Name a town.'].map((prompt, i) =>
      JSON.stringify({
        id: `row-${i}`,
        prompt,
        criteria: [{ id: 'some', text: 'Says something', points: 1, verifier }],
      }),
    )
    const file = join(dir, 'rows.jsonl')
    writeFileAtomic(file, `${rows.join('\n')}\n`)
    const config = ruscarlSchema.parse({
      model: { folder: 'models/chat-start' },
      task: { kind: 'conversations', file, holdOut: 1 },
      rollout: { prompts: 2, samples: 2, maxTokens: 6 },
    })
    const run = { id: 'run', createdAt: '2026-01-01T00:00:00.000Z', config }
    writeFileAtomic(join(runDir(job), 'config.json'), JSON.stringify(run))
    const checkpoint = join(runDir(job), 'checkpoints', 'step-000001')
    cpSync('models/chat-start', checkpoint, { recursive: true })
    writeFileAtomic(join(checkpoint, 'run-state.json'), '{}')
    const probes = [
      probeSchema.parse({ name: 'best-of-n', problems: 1, samples: 2, ns: [2], arms: [job.arm] }),
    ]
    await runProbes(probes, job)
    const { byProblem, curve } = JSON.parse(readFileSync(probeFile(job, 'best-of-n'), 'utf8'))
    expect(byProblem[0].id).toMatch(/^row-/)
    expect(curve).toEqual([{ n: 2, score: 1 }])
  })
})
