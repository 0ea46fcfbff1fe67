import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { PackingWorld, packingTask, splitTrips, type Trip } from '../../tasks/checklist/index.ts'
import { scored } from '../../tasks/scored-response.ts'
import { drawAnswers, gradeSamples } from '../common/answers.ts'
import { scoredRow } from '../common/evaluated-set.ts'

const SLOW_MS = 120_000
const MODEL = fileURLToPath(new URL('../../../models/packing-start', import.meta.url))
/** Met by what habit never packs: the exploration bottleneck. */
const RARE = ['needed-1', 'needed-2', 'companion']

describe('the policy that the miniature starts from', () => {
  let policy: LocalPolicy
  let plain: EvalRow
  let scaffolded: EvalRow
  beforeAll(async () => {
    policy = await LocalPolicy.start({ folder: MODEL }, { threads: 1 })
    const task = scored(packingTask(new PackingWorld()))
    const problems = splitTrips().test.slice(0, 300)
    const settings = { samples: 4, sampling: { maxTokens: 26, temperature: 1, seed: 'start' } }
    const full = (trip: Trip) => task.prompt(trip, task.rubric(trip).criteria)
    const rowOf = async (set: string, promptOf: (trip: Trip) => TokenIds) => {
      const drawn = await drawAnswers(policy, problems, settings, promptOf)
      const head = { set, step: 0, samples: 4, temperature: 1 }
      return scoredRow(task, head, await gradeSamples(task, problems, drawn))
    }
    plain = await rowOf('plain', trip => task.prompt(trip))
    scaffolded = await rowOf('full', full)
  }, SLOW_MS)
  afterAll(() => policy?.close())

  it('knows the format, and scores between 30% and 50%', () => {
    expect(plain.scores.wellFormed.value).toBeGreaterThanOrEqual(0.95)
    expect(plain.scores.rubric.value!).toBeGreaterThan(0.3)
    expect(plain.scores.rubric.value!).toBeLessThan(0.5)
  })

  it('meets what habit never packs less than once in 200 lists', () => {
    for (const id of RARE) expect(plain.criteria![id], id).toBeLessThan(1 / 200)
  })

  it('can follow a scaffold that it is shown', () => {
    expect(scaffolded.scores.rubric.value! - plain.scores.rubric.value!).toBeGreaterThan(0.1)
    for (const id of RARE) expect(scaffolded.criteria![id], id).toBeGreaterThan(0.25)
  })
})
