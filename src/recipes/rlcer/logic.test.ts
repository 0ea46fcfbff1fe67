import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { saveCheckpoint } from '../../model/checkpoint.ts'
import { initWeights } from '../../model/weights.ts'
import { readEvals, readMetrics } from '../../runs/readers.ts'
import { LOGIC_RUBRIC_VOCABULARY, logicRubricTokenizer } from '../../tasks/logic/thinking/index.ts'
import { modelShapeSchema } from '../../train/config.ts'
import { wordModel } from '../common/word-models.ts'
import { rlcerSchema } from './config.ts'
import { rlcerEntry } from './entry.ts'
import { runRlcer } from './run.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rlcer-logic-'))
  const shape = modelShapeSchema.parse({ hiddenSize: 32, layers: 1, heads: 2, maxPositions: 224 })
  const config = wordModel(LOGIC_RUBRIC_VOCABULARY)(shape)
  saveCheckpoint(join(folder, 'start'), {
    config,
    weights: initWeights(config, 1),
    files: new Map(Object.entries(logicRubricTokenizer(224))),
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings = (changes: object = {}) => ({
  model: { folder: join(folder, 'start') },
  task: { kind: 'logic', hops: [1], nodes: [2, 2] },
  ...{ steps: 2, policy: { threads: 1 }, rollout: { prompts: 2, samples: 3, maxTokens: 12 } },
  rubricator: { maxTokens: 80, constrained: true, format: { minCriteria: 5, maxCriteria: 6 } },
  evaluation: { problems: 3, rubrics: 2 },
  checkpoint: { every: 2 },
  ...changes,
})

describe('rlcer on the logic task', () => {
  it('trains with rubrics of its grammar, all of them executed', { timeout: 180_000 }, async () => {
    const config = rlcerSchema.parse(settings())
    const { finished, dir } = await runRlcer(config, { dir: join(folder, 'run'), resume: false })
    expect(finished).toBe(true)
    const rows = readMetrics(dir)
    expect(rows).toHaveLength(2)
    for (const row of rows) {
      expect(row).toMatchObject({ judgeNullRatePositive: 0, judgeNullRateNegative: 0 })
      expect(row.criteriaPerRubric).toBeGreaterThan(0)
    }
    const sets = readEvals(dir).map(({ step, set }) => `${step} ${set}`)
    expect(sets).toEqual(expect.arrayContaining(['0 unseen', '2 unseen', '2 hinted', '2 rubrics']))
  })

  it('says what it would do, and refuses what cannot be', () => {
    const plan = (changes: object = {}) => rlcerEntry.plan(rlcerSchema.parse(settings(changes)))
    expect(plan().lines.join('\n')).toContain('logic, 1 hops, new questions without end')
    expect(() => plan({ model: { folder: 'package:models/logic-start' } })).toThrow(
      /expected a model of the logic task with rubrics's \d+ tokens/,
    )
    expect(() => plan({ coldStart: {}, model: { folder: null } })).toThrow(
      /whose model logic-rubric-start makes/,
    )
    expect(() => plan({ rollout: { maxTokens: 200 } })).toThrow(/exceed the context of 224/)
    expect(() => plan({ scaffold: {} })).toThrow(/task\.pool: expected a number/)
  })
})
