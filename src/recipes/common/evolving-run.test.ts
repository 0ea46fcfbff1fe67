import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  DEFAULT_EVOLVING,
  EvolvingBuffers,
  evolvingMetrics,
  type JudgedGroup,
  judgeGroup,
  rubricRow,
  type Stage,
  scriptedStageJudge,
} from '../../grade/evolving/index.ts'
import { lossPreset } from '../../rl/loss-presets.ts'
import { datumsOf, type Graded } from '../../rl/rollout.ts'
import { creditStages, stageAdvantages } from '../../rl/stage-credit.ts'
import { evalRow } from '../../runs/eval-row.fixture.ts'
import { readMetrics, withoutTimings } from '../../runs/readers.ts'
import { RunFolder } from '../../runs/run-folder.ts'
import { FakePolicy } from '../../train/fake-policy.fixture.ts'
import { type LoopSettings, train } from '../../train/loop.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { Rng } from '../../util/rng.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-evolving-run-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

interface Rolled {
  groups: Graded<string, number>[][]
  judged: JudgedGroup[]
}

const judge = scriptedStageJudge<string>({
  seed: 3,
  propose: ({ rng }) =>
    Array.from({ length: rng.int(4) }, () => ({
      ...{ stage: (1 + rng.int(4)) as Stage, sign: rng.pick(['positive', 'negative'] as const) },
      ...{ title: `thing ${rng.int(9)}`, description: `Names thing ${rng.int(9)}`, weight: 1 + rng.int(3) },
    })),
  level: ({ rollout: { key }, rubric: { title } }) => new Rng(`${key}/${title}`).pick([0, 1, 2] as const),
  noise: { seed: 3, flipRate: 0.2, failRate: 0.1 },
})

/** Two questions that come back every second step; judged by rubrics that evolve, credited by stage. */
const recipeOf = (buffers: EvolvingBuffers): Recipe<Rolled> => ({
  async rollOut(step, io) {
    const questions = [`q${step % 2}`, `r${step % 2}`]
    const before = questions.map(key => buffers.of(key))
    const groups = await io.rollOut({
      problems: questions,
      prompt: () => [1],
      samples: 4,
      sampling: { maxTokens: 4, temperature: 1 },
      grade: async items => items.map(({ rollout }) => rollout.sample),
      last: true,
    })
    const judged = await Promise.all(
      groups.map((group, p) => {
        const rollouts = group.map(({ rollout: { key } }) => ({
          ...{ key, stages: ['plan', 'research', 'review', 'answer'] as const },
        }))
        const [key, question] = [questions[p], questions[p]]
        return judgeGroup(judge, { step, question, key, rollouts, before: before[p] }, DEFAULT_EVOLVING)
      }),
    )
    return { groups, judged }
  },
  async learn(_step, { groups, judged }) {
    for (const { key, after } of judged) buffers.keep(key, after)
    const { advantages_P_G_K } = stageAdvantages(
      judged.map(({ rollouts }) => rollouts.map(({ rewards_K }) => rewards_K)),
    )
    const credited = creditStages(groups, advantages_P_G_K, ({ rollout: { tokens } }) =>
      Array.from(tokens, (_, t) => 1 + (t % 4)),
    )
    const datums = datumsOf(credited)
    return {
      phases: [{ name: 'task', datums, loss: lossPreset('trl:grpo'), temperature: 1 }],
      metrics: evolvingMetrics(judged),
      rollouts: learntFrom(credited, ({ problem, reward }) => ({
        ...{ step: _step, problemId: problem, prompt: '', response: '', reward },
      })),
      rubrics: judged.map(own => rubricRow(own)),
    }
  },
  evaluate: async step => [evalRow(0.5, { step })],
  state: { save: () => buffers.save(), load: value => buffers.load(value) },
})

const settings: LoopSettings = {
  ...{ steps: 7, seed: 5, learningRate: { kind: 'linear', peak: 1, warmup: 0, floor: 0 } },
  ...{ checkpointEvery: 2, keepCheckpoints: 10, configHash: 'hash' },
}

const rowsOf = (run: RunFolder) => ({
  rubrics: readFileSync(run.path('rubrics.jsonl'), 'utf8'),
  metrics: readMetrics(run.dir).map(withoutTimings),
})

it.each([false, true])(
  'buffers and rows are the same after a kill and a resume; pipeline %s',
  async pipeline => {
    const own = { ...settings, pipeline }
    const whole = RunFolder.create(join(root, 'whole'), { config: {} })
    const buffers = new EvolvingBuffers()
    await train(new FakePolicy(), recipeOf(buffers), whole, own)
    expect(buffers.active).toBeGreaterThan(0)
    expect(rowsOf(whole).rubrics.trim().split('\n')).toHaveLength(14)

    const killed = RunFolder.create(join(root, 'killed'), { config: {} })
    const first = new FakePolicy()
    const broken = recipeOf(new EvolvingBuffers())
    const learn = broken.learn.bind(broken)
    broken.learn = async (step, rolled) => {
      if (step === 6) throw new Error('killed')
      return learn(step, rolled)
    }
    await expect(train(first, broken, killed, own)).rejects.toThrow('killed')
    // What step 5 left behind the checkpoint of step 4.
    expect(rowsOf(killed).rubrics.trim().split('\n')).toHaveLength(10)
    const { step } = killed.resume('hash')
    expect(step).toBe(4)
    const again = new EvolvingBuffers()
    await train(new FakePolicy(), recipeOf(again), killed, own, step)
    expect(again.save()).toEqual(buffers.save())
    expect(rowsOf(killed).rubrics).toBe(rowsOf(whole).rubrics)
    expect(rowsOf(killed).metrics.map(({ step: at, stageScores }) => [at, stageScores])).toEqual(
      rowsOf(whole).metrics.map(({ step: at, stageScores }) => [at, stageScores]),
    )
    whole.close()
    killed.close()
  },
)
