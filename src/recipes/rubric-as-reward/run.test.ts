import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadReportData } from '../../runs/report/data.ts'
import { rubricAsRewardSchema } from './config.ts'
import { rubricAsRewardEntry } from './entry.ts'
import { runRubricAsReward } from './run.ts'

const SLOW_MS = 120_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rubric-as-reward-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a baseline', () => {
  const config = rubricAsRewardSchema.parse({
    condition: 'baseline',
    model: { folder: 'package:models/logic-start' },
    policy: { threads: 1, spinning: false },
    steps: 80,
    evaluation: { problems: 3, problemsAtStart: 2, samples: 1, greedy: false, sets: ['train-distribution'] },
  })

  it('plans no steps', () => {
    const { lines, json } = rubricAsRewardEntry.plan(config)
    expect(json.steps).toBe(0)
    expect(lines.join('\n')).not.toContain('before the first step')
  })

  it(
    'is finished after its only evaluation, which has all problems',
    async () => {
      const dir = join(folder, 'baseline')
      expect(await runRubricAsReward(config, { dir, resume: false })).toMatchObject({
        step: 0,
        finished: true,
      })
      const { info, status, evals } = loadReportData(dir)
      expect(info.steps).toBe(0)
      expect(status).toBe('finished')
      expect(evals.map(({ step, n }) => [step, n])).toEqual([[0, 3]])
    },
    SLOW_MS,
  )
})
