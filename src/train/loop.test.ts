import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Policy } from '../policy/policy.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { type Credited, creditRollouts, datumsOf, type Graded } from '../rl/rollout.ts'
import { evalRow } from '../runs/eval-row.fixture.ts'
import { readEvals, readEvents, readMetrics, readRollouts, withoutTimings } from '../runs/readers.ts'
import type { RolloutRow } from '../runs/rows.ts'
import { RunFolder } from '../runs/run-folder.ts'
import { checkpointName, configHash, isFinished, loadRunState } from '../runs/run-state.ts'
import { FakePolicy } from './fake-policy.fixture.ts'
import { type LoopSettings, train } from './loop.ts'
import { learntFrom, type Phase, type Recipe, type StepUpdate } from './recipe.ts'
import { type StepEvents, trainedMsOf } from './steps.ts'

const settings = (changes: Partial<LoopSettings> = {}): LoopSettings => ({
  steps: 4,
  seed: 7,
  optimizer: { maxGradNorm: 1 },
  learningRate: { kind: 'linear', peak: 1, warmup: 0, floor: 0 },
  evalEvery: 0,
  checkpointEvery: 0,
  keepCheckpoints: 10,
  maxMinutes: null,
  configHash: 'hash',
  ...changes,
})

type Rolled = Graded<string, number>[][]

interface Changes {
  samples?: number
  /** What a rollout is taught, by step and its index. */
  advantage?: (step: number, g: number) => number
  /** Prompts to sample from in place of the plain ones. */
  scaffolded?: boolean
  /** Called for every batch that is graded. */
  onGrade?: () => Promise<void> | void
  metrics?: StepUpdate['metrics']
  epochs?: number
  rowOf?: (step: number, item: Credited<string, number>) => RolloutRow
  onEvaluate?: () => void
}

/** Two problems a step; a rollout's grade is its index, its advantage -1 or 1. */
const recipeOf = (calls: string[], changes: Changes = {}): Recipe<Rolled> => {
  const { samples = 2, advantage = (_, g) => 2 * g - 1, metrics = { reward: 0.25 }, epochs = 1 } = changes
  const row = (step: number, { problem, reward }: Credited<string, number>): RolloutRow => {
    calls.push(`row of ${problem}`)
    return { step, problemId: problem, prompt: '', response: '', reward }
  }
  return {
    rollOut: (step, io) => {
      calls.push(`draw ${step}`)
      return io.rollOut({
        problems: [`${step}a`, `${step}b`],
        prompt: problem => [problem.charCodeAt(1)],
        ...(changes.scaffolded && { sampledFrom: [0, 1].map(p => [[90 + p], [80]]) }),
        samples,
        sampling: { maxTokens: 4, temperature: 0.9 },
        grade: async items => {
          calls.push('grade')
          await changes.onGrade?.()
          return items.map(({ rollout }) => rollout.sample)
        },
        reward: grade => ({ reward: grade, parts: {} }),
        last: true,
      })
    },
    learn: async (step, groups) => {
      calls.push('learn')
      const advantages_P_G = groups.map(group => group.map(({ grade }) => advantage(step, grade)))
      const credited = creditRollouts(groups, advantages_P_G)
      const datums = datumsOf(credited, { dropZero: true })
      const how = { loss: lossPreset('trl:grpo'), temperature: 0.9, minibatches: 1, epochs }
      return {
        phases: [{ name: 'policy', datums, ...how }],
        metrics,
        rollouts: learntFrom(credited, item => (changes.rowOf ?? row)(step, item)),
      }
    },
    evaluate: async (now, last) => {
      calls.push(last ? `evaluate ${now}, the last` : `evaluate ${now}`)
      changes.onEvaluate?.()
      return [evalRow(0.5, { step: now })]
    },
  }
}

describe('train', () => {
  let folder: string
  let run: RunFolder
  let policy: FakePolicy
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-loop-'))
    run = RunFolder.create(join(folder, 'run'), { config: {} })
    policy = new FakePolicy()
  })
  afterEach(() => {
    run.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('tells at the end, once, what a recipe says of the whole run', async () => {
    const recipe = {
      ...recipeOf([]),
      atEnd: (rows: readonly { step: number }[]) => [`steps ${rows.map(({ step }) => step).join(' ')}`],
    }
    const said: string[] = []
    const events = { onMessage: (text: string) => said.push(text), shouldStop: () => said.length === 0 }
    await train(policy, recipe, run, settings({ steps: 3 }), 0, events)
    expect(said).toEqual([])
    await train(policy, recipe, run, settings({ steps: 3 }), 1, { onMessage: events.onMessage })
    expect(said).toEqual(['steps 1 2 3'])
    expect(readEvents(run.dir).map(({ step, level, message }) => ({ step, level, message }))).toEqual([
      { step: 3, level: 'warning', message: 'steps 1 2 3' },
    ])
  })

  const checkpoints = () =>
    readdirSync(run.path('checkpoints'))
      .filter(name => name !== 'latest')
      .map(name => Number(/\d+/.exec(name)![0]))
      .toSorted((a, b) => a - b)

  it('goes through a step in the order of the design', async () => {
    const { calls } = policy
    const result = await train(policy, recipeOf(calls), run, settings({ steps: 1 }))
    expect(calls).toEqual([
      'evaluate 0',
      'draw 1',
      'sample',
      'grade',
      'learn',
      'update',
      ...['row of 1a', 'row of 1b'],
      'evaluate 1, the last',
      'save',
    ])
    expect(result).toEqual({ step: 1, finished: true })
  })

  it('needs no settings of the frame: evaluates and saves at the ends, by the hash of the configuration', async () => {
    const { calls } = policy
    const learningRate = settings().learningRate
    await train(policy, recipeOf(calls), run, { steps: 3, seed: 7, learningRate })
    const frame = calls.filter(call => call === 'save' || call.startsWith('evaluate'))
    expect(frame).toEqual(['evaluate 0', 'evaluate 3, the last', 'save'])
    expect(loadRunState(run.path('checkpoints', checkpointName(3)), configHash({}, [])).step).toBe(3)
  })

  it('samples ahead in a pipeline, but never across an evaluation or the end', async () => {
    const { calls } = policy
    const only = ['sample', 'update', 'save', 'evaluate 3']
    const pipelined = settings({ steps: 5, evalEvery: 3, checkpointEvery: 2, pipeline: true })
    await train(policy, recipeOf(calls), run, pipelined)
    const seen = calls.filter(call => only.includes(call) || call.startsWith('draw'))
    expect(seen).toEqual([
      ...['draw 1', 'sample', 'draw 2', 'sample', 'update', 'draw 3', 'sample', 'update', 'save', 'update'],
      ...['evaluate 3', 'draw 4', 'sample', 'draw 5', 'sample', 'update', 'save', 'update', 'save'],
    ])
    expect(policy.sampled.map(({ seed }) => seed)).toEqual([1, 2, 3, 4, 5].map(step => `7/${step}`))
    expect(readMetrics(run.dir).map(({ step }) => step)).toEqual([1, 2, 3, 4, 5])
  })

  it('samples two steps ahead, one after the other, before what is graded is learnt from', async () => {
    const { calls } = policy
    const only = ['sample', 'update', 'save', 'evaluate 4']
    const pipelined = settings({ steps: 6, evalEvery: 4, checkpointEvery: 3, pipeline: 2 })
    await train(policy, recipeOf(calls), run, pipelined)
    const seen = calls.filter(call => only.includes(call) || call.startsWith('draw'))
    expect(seen).toEqual([
      ...['draw 1', 'sample', 'draw 2', 'sample', 'draw 3', 'sample', 'update', 'draw 4', 'sample', 'update'],
      ...[
        'update',
        'save',
        'update',
        'evaluate 4',
        'draw 5',
        'sample',
        'draw 6',
        'sample',
        'update',
        'update',
      ],
      'save',
    ])
    expect(policy.sampled.map(({ seed }) => seed)).toEqual([1, 2, 3, 4, 5, 6].map(step => `7/${step}`))
  })

  describe('a pipelined run that is stopped and gone on with', () => {
    /** How many updates the weights had that sampled each step; `stopAfter` steps it is stopped and resumed by another policy. */
    const weightsThatSampled = async (name: string, changes: Partial<LoopSettings>, stopAfter = 0) => {
      const own = RunFolder.create(join(folder, name), { config: {} })
      const part = async (done: number, events: StepEvents) => {
        const now: FakePolicy = new FakePolicy(() => [done + now.updates.length])
        const recipe = recipeOf(now.calls, {
          scaffolded: true,
          rowOf: (step, { problem, reward, rollout: { tokens, oldLogprobs } }) => ({
            step,
            problemId: problem,
            prompt: '',
            response: `${tokens[0]} by ${oldLogprobs![0]}`,
            reward,
          }),
        })
        await train(now, recipe, own, settings({ pipeline: true, ...changes }), done, events)
        return now
      }
      const first = await part(0, { shouldStop: () => readMetrics(own.dir).length === stopAfter })
      if (stopAfter > 0) {
        expect(first.updates).toHaveLength(stopAfter)
        await part(own.resume('hash').step, {})
      }
      own.close()
      return readRollouts(own.dir)
    }

    it('learns from the same rollouts as one that went through, whatever is saved between', async () => {
      const whole = await weightsThatSampled('whole', {})
      const first = [1, 2, 3, 4].map(step => whole.find(row => row.step === step)!)
      expect(first.map(({ response }) => response.split(' ')[0])).toEqual(['0', '0', '1', '2'])
      for (const stopAfter of [1, 2, 3])
        expect(await weightsThatSampled(`stopped after ${stopAfter}`, {}, stopAfter)).toEqual(whole)
      for (const checkpointEvery of [1, 2])
        expect(await weightsThatSampled(`saved every ${checkpointEvery}`, { checkpointEvery })).toEqual(whole)
    })

    it('two steps ahead: the same, by weights that are two updates behind', async () => {
      const two = (name: string, changes: Partial<LoopSettings> = {}, stopAfter = 0) =>
        weightsThatSampled(`two ahead, ${name}`, { steps: 6, pipeline: 2, ...changes }, stopAfter)
      const whole = await two('whole')
      const first = [1, 2, 3, 4, 5, 6].map(step => whole.find(row => row.step === step)!)
      expect(first.map(({ response }) => response.split(' ')[0])).toEqual(['0', '0', '0', '1', '2', '3'])
      for (const stopAfter of [1, 2, 3, 4, 5])
        expect(await two(`stopped after ${stopAfter}`, {}, stopAfter)).toEqual(whole)
      for (const checkpointEvery of [1, 2])
        expect(await two(`saved every ${checkpointEvery}`, { checkpointEvery })).toEqual(whole)
    })

    it('samples anew where a checkpoint of an older version says nothing of it', async () => {
      const stop = { shouldStop: () => policy.updates.length === 2 }
      await train(policy, recipeOf([]), run, settings({ pipeline: true }), 0, stop)
      const { dir, step } = run.resume('hash')
      for (const name of ['sampled-ahead.safetensors', 'sampled-ahead.json']) rmSync(join(dir, name))
      const next = new FakePolicy()
      await train(next, recipeOf([]), run, settings({ pipeline: true }), step)
      expect(next.sampled.map(({ seed }) => seed)).toEqual(['7/3', '7/4'])
    })

    it('names a file that is not of these rollouts', async () => {
      const stop = { shouldStop: () => policy.updates.length === 2 }
      await train(policy, recipeOf([]), run, settings({ pipeline: true }), 0, stop)
      const other = recipeOf([], { samples: 3 })
      const piped = settings({ pipeline: true })
      await expect(train(policy, other, run, piped, run.resume('hash').step)).rejects.toThrow(
        'rollouts of seed 7/3: expected 6 that were sampled ahead, got 4',
      )
    })

    it('never pairs what was sampled with other prompts', async () => {
      const stop = { shouldStop: () => policy.updates.length === 2 }
      await train(policy, recipeOf([]), run, settings({ pipeline: true }), 0, stop)
      const other = recipeOf([], { scaffolded: true })
      const piped = settings({ pipeline: true })
      await expect(train(policy, other, run, piped, run.resume('hash').step)).rejects.toThrow(
        'rollouts of seed 7/3: expected the prompts that were sampled from before the stop, got others',
      )
    })

    it('evaluates alone when its time is over: what was begun has ended', async () => {
      let grading = 0
      const recipe = recipeOf(policy.calls, {
        onGrade: async () => {
          grading++
          await new Promise(resolve => setTimeout(resolve, 20))
          grading--
        },
        onEvaluate: () => expect(grading).toBe(0),
      })
      const result = await train(policy, recipe, run, settings({ pipeline: true, maxMinutes: 1e-9 }))
      expect(result).toEqual({ step: 1, finished: true })
      expect(policy.sampled).toHaveLength(2)
      expect(readdirSync(run.resume('hash').dir)).not.toContain('sampled-ahead.safetensors')
    })
  })

  describe('of rollouts sampled ahead from scaffolds', () => {
    const rows = (calls: readonly string[]) => calls.filter(call => !/draw|grade|learn|row/.test(call))
    const scaffolded = (own: FakePolicy) => recipeOf(own.calls, { scaffolded: true })

    it('the plain log-probs come before the update, where both use the same weights', async () => {
      // Grading is over long before the sampling ahead of it.
      policy = new FakePolicy(undefined, 5)
      await train(policy, scaffolded(policy), run, settings({ steps: 3, pipeline: true }))
      expect(rows(policy.calls)).toEqual([
        ...['evaluate 0', 'sample', 'score', 'sample', 'score', 'update', 'sample', 'score', 'update'],
        ...['update', 'evaluate 3, the last', 'save'],
      ])
      expect(policy.scored.map(({ options }) => options?.weights)).toEqual(Array(3).fill('sampling'))
    })

    it('the update does not wait where sampling has weights of its own, and these change between rollouts', async () => {
      policy = new FakePolicy(undefined, 20)
      const { calls } = policy
      const paired: Policy = Object.assign(policy, {
        syncWeights: async () => {
          calls.push('sync')
        },
      })
      await train(paired, scaffolded(policy), run, settings({ steps: 3, checkpointEvery: 2, pipeline: true }))
      expect(rows(calls)).toEqual([
        ...['sync', 'evaluate 0', 'sync', 'sample', 'score', 'sync', 'sample', 'update', 'score', 'sync'],
        ...['sample', 'update', 'save', 'score', 'sync', 'update'],
        ...['sync', 'evaluate 3, the last', 'save'],
      ])
      const { weights } = readMetrics(run.dir)[0].time as Record<string, number>
      expect(weights).toBeGreaterThanOrEqual(0)
    })
  })

  it('samples from the prompts that the recipe gives and trains on the plain ones', async () => {
    await train(policy, recipeOf([], { scaffolded: true }), run, settings({ steps: 1 }))
    expect(policy.sampled[0]).toMatchObject({ prompts: [[90], [80], [91], [80]], samplesPerPrompt: 1 })
    expect(policy.updates[0].datums.map(({ promptTokens }) => promptTokens)).toEqual([[97], [97], [98], [98]])
  })

  it("writes a metrics row of the recipe's metrics, the samples' and the update's", async () => {
    policy = new FakePolicy((_, index) => (index === 0 ? [1] : [1, 2, 3]))
    await train(policy, recipeOf([]), run, settings({ steps: 1 }))
    const [row] = readMetrics(run.dir)
    expect(withoutTimings(row)).toEqual({
      step: 1,
      reward: 0.25,
      responseTokens: 2,
      truncationRate: 0.5,
      tokens: 8,
      rollouts: 4,
      loss: 0.5,
      kl: 0.25,
      entropy: 1.5,
      gradNorm: 2,
      clipFraction: 0,
      oldKl: 0,
      logprobGapMean: 1e-6,
      ratioMax: 1,
      ratioMin: 1,
      logprobGapMax: 1e-5,
      repetition: 0,
      lengthAdvantage: 1,
      learningRate: 1,
    })
    const time = row.time as Record<string, number>
    expect(Object.keys(time).toSorted()).toEqual(['grade', 'gradeBusy', 'sample', 'total', 'update'])
    expect(time.total).toBeGreaterThanOrEqual(time.sample + time.grade + time.update)
    expect(readRollouts(run.dir).map(({ reward }) => reward)).toEqual([1, 0])
  })

  it('samples every step under a seed of its own, and follows the schedule', async () => {
    await train(policy, recipeOf([]), run, settings())
    expect(policy.sampled.map(({ seed }) => seed)).toEqual(['7/1', '7/2', '7/3', '7/4'])
    expect(policy.sampled[0]).toMatchObject({ temperature: 0.9, maxTokens: 4, samplesPerPrompt: 2 })
    const rates = policy.updates.map(({ options }) => options.optimizer.learningRate)
    expect(rates).toEqual([1, 0.75, 0.5, 0.25])
    expect(policy.updates[0].options).toMatchObject({ temperature: 0.9, optimizer: { maxGradNorm: 1 } })
  })

  it('the log-prob gap is that of the first optimiser step', async () => {
    await train(policy, recipeOf([], { epochs: 3 }), run, settings({ steps: 1 }))
    expect(policy.updates).toHaveLength(3)
    expect(readMetrics(run.dir)[0].logprobGapMax).toBe(1e-5)
  })

  it('has the angle between the gradients of phases that are compared, null where one learnt nothing', async () => {
    let step = 0
    const cosines = async (earlier: Partial<Phase>) => {
      step++
      policy.updates.length = 0
      const recipe = recipeOf([])
      const { learn } = recipe
      recipe.learn = async (...args) => {
        const update = await learn(...args)
        const [task] = update.phases
        const first = { ...task, name: 'reflection', compared: true, ...earlier }
        return { ...update, phases: [first, { ...task, compared: true, epochs: 2 }] }
      }
      await train(policy, recipe, run, settings({ steps: step }), step - 1)
      const asked = policy.updates.map(({ options }) => options.optimizer.gradient)
      return { asked, found: readMetrics(run.dir).at(-1)!.gradientCosines }
    }
    // Only the first step of a phase is of weights that it has not changed itself.
    expect(await cosines({})).toEqual({
      asked: [
        { keepAs: 'reflection', against: [] },
        { keepAs: 'policy', against: ['reflection'] },
        undefined,
      ],
      found: { 'reflection/policy': 0.5 },
    })
    expect(await cosines({ datums: [] })).toEqual({
      asked: [{ keepAs: 'policy', against: [] }, undefined],
      found: { 'reflection/policy': null },
    })
    expect(await cosines({ compared: false })).toMatchObject({ found: {} })
  })

  it('of several phases the gap is that of the first optimiser step, unless that is stale; each has its loss', async () => {
    let step = 0
    const trained = async (earlier: Partial<Phase>) => {
      step++
      policy.updates.length = 0
      const recipe = recipeOf([])
      const { learn } = recipe
      recipe.learn = async (...args) => {
        const update = await learn(...args)
        const [task] = update.phases
        return { ...update, phases: [{ ...task, name: 'reflection', stale: true, ...earlier }, task] }
      }
      await train(policy, recipe, run, settings({ steps: step }), step - 1)
      return { updates: policy.updates.length, row: readMetrics(run.dir).at(-1) }
    }
    const phaseLoss = { reflection: 0.5, policy: 0.5 }
    const phaseEntropy = { reflection: 1.5, policy: 1.5 }
    expect(await trained({})).toMatchObject({
      updates: 2,
      row: { logprobGapMax: null, ratioMax: null, loss: 0.5, phaseLoss, phaseEntropy },
    })
    expect(await trained({ stale: false })).toMatchObject({
      updates: 2,
      row: { logprobGapMax: 1e-5, phaseLoss },
    })
    // Nothing to learn from the step before: the weights are still those that sampled.
    expect(await trained({ datums: [] })).toMatchObject({ updates: 1, row: { logprobGapMax: 1e-5 } })
  })

  it('evaluates at the start, in between, and once at the end', async () => {
    const calls: string[] = []
    await train(policy, recipeOf(calls), run, settings({ evalEvery: 2 }))
    expect(calls.filter(call => call.startsWith('evaluate'))).toEqual([
      'evaluate 0',
      'evaluate 2',
      'evaluate 4, the last',
    ])
    expect(readEvals(run.dir).map(({ step }) => step)).toEqual([0, 2, 4])
  })

  it('saves as planned and at the end', async () => {
    await train(policy, recipeOf([]), run, settings({ steps: 5, checkpointEvery: 2 }))
    expect(checkpoints()).toEqual([2, 4, 5])
    const last = run.path('checkpoints', readFileSync(run.path('checkpoints', 'latest'), 'utf8').trim())
    expect(readFileSync(join(last, 'model.txt'), 'utf8')).toBe('after 5 updates')
  })

  it('keeps as many checkpoints as it was told', async () => {
    await train(policy, recipeOf([]), run, settings({ steps: 5, checkpointEvery: 1, keepCheckpoints: 2 }))
    expect(checkpoints()).toEqual([4, 5])
  })

  it('stops when asked: the step is finished, saved, and can be gone on from', async () => {
    const calls: string[] = []
    const events = { shouldStop: () => policy.updates.length === 2 }
    const result = await train(policy, recipeOf(calls), run, settings(), 0, events)
    expect(result).toEqual({ step: 2, finished: false })
    expect(checkpoints()).toEqual([2])
    expect(calls).not.toContain('evaluate 2, the last')
    const { state, step } = run.resume('hash')
    expect(step).toBe(2)
    expect(isFinished(state.recipe)).toBe(false)

    const after = await train(policy, recipeOf(calls), run, settings(), step)
    expect(after).toEqual({ step: 4, finished: true })
    expect(readMetrics(run.dir).map(row => row.step)).toEqual([1, 2, 3, 4])
    expect(calls.filter(call => call === 'evaluate 0')).toHaveLength(1)
    expect(isFinished(run.resume('hash').state.recipe)).toBe(true)
  })

  it('stops with an evaluation when its time is over', async () => {
    const calls: string[] = []
    const result = await train(policy, recipeOf(calls), run, settings({ maxMinutes: 1e-9 }))
    expect(result).toEqual({ step: 1, finished: true })
    expect(calls).toContain('evaluate 1, the last')
    expect(checkpoints()).toEqual([1])
  })

  it('the time before a resume counts against the limit', async () => {
    const events = { shouldStop: () => policy.updates.length === 2 }
    await train(policy, recipeOf([]), run, settings({ maxMinutes: 60 }), 0, events)
    const { state, step } = run.resume('hash')
    const trainedMs = trainedMsOf(state.recipe)
    const timed = readMetrics(run.dir).reduce((sum, { time }) => sum + 1000 * time!.total!, 0)
    expect(trainedMs).toBeGreaterThanOrEqual(timed)
    expect(trainedMsOf(undefined)).toBe(0)

    const almostOver = settings({ maxMinutes: trainedMs / 60_000, trainedMs })
    const result = await train(policy, recipeOf([]), run, almostOver, step)
    expect(result).toEqual({ step: 3, finished: true })
    expect(trainedMsOf(run.resume('hash').state.recipe)).toBeGreaterThan(trainedMs)
  })

  it('a step without a datum makes no update, and its metrics have no value', async () => {
    const recipe = recipeOf([], { advantage: (step, g) => (step === 2 ? 0 : 2 * g - 1) })
    await train(policy, recipe, run, settings({ steps: 3 }))
    expect(policy.updates).toHaveLength(2)
    const rows = readMetrics(run.dir)
    expect(rows.map(({ loss }) => loss)).toEqual([0.5, null, 0.5])
    expect(rows[1]).toMatchObject({ kl: null, entropy: null, logprobGapMax: null, reward: 0.25, rollouts: 4 })
  })

  it('only evaluates when there is nothing to train', async () => {
    const { calls } = policy
    const result = await train(policy, recipeOf(calls), run, settings({ steps: 0 }))
    expect(calls).toEqual(['evaluate 0'])
    expect(result).toEqual({ step: 0, finished: true })
    expect(existsSync(run.path('metrics.jsonl'))).toBe(false)
  })

  it('tells what happens as it happens', async () => {
    const seen: string[] = []
    const events = {
      onStep: ({ step }: { step: number }) => seen.push(`step ${step}`),
      onEvaluating: (step: number) => seen.push(`evaluating ${step}`),
      onEval: (rows: readonly { step: number }[]) => seen.push(`evaluated ${rows[0].step}`),
    }
    await train(policy, recipeOf([]), run, settings({ steps: 2 }), 0, events)
    expect(seen).toEqual(['evaluating 0', 'evaluated 0', 'step 1', 'step 2', 'evaluating 2', 'evaluated 2'])
  })

  it('a metric that is not a number ends the run before it is written', async () => {
    const recipe = recipeOf([], { metrics: { reward: Number.NaN } })
    await expect(train(policy, recipe, run, settings())).rejects.toThrow(/reward is NaN/)
    expect(readMetrics(run.dir)).toEqual([])
    expect(checkpoints()).toEqual([])
  })

  it('what the policy cannot tell of its steps is null in the row, never zero', async () => {
    policy.accumulate = async () => {
      await FakePolicy.prototype.accumulate.call(policy, [], { loss: lossPreset('trl:grpo') })
      return { loss: 0.5, tokens: 4 }
    }
    policy.step = async () => ({})
    await train(policy, recipeOf([]), run, settings({ steps: 1 }))
    const [row] = readMetrics(run.dir)
    expect(row.loss).toBe(0.5)
    const { kl, entropy, gradNorm, clipFraction, oldKl, logprobGapMean, logprobGapMax, ratioMax, ratioMin } =
      row
    const untold = {
      kl,
      entropy,
      gradNorm,
      clipFraction,
      oldKl,
      logprobGapMean,
      logprobGapMax,
      ratioMax,
      ratioMin,
    }
    expect(Object.values(untold).every(value => value === null)).toBe(true)
  })

  it('a failing update ends the run and keeps the checkpoint there is', async () => {
    const { accumulate } = policy
    policy.accumulate = async (...args) => {
      if (policy.updates.length === 2) throw new Error('loss is not finite')
      return accumulate.apply(policy, args)
    }
    await expect(train(policy, recipeOf([]), run, settings({ checkpointEvery: 2 }))).rejects.toThrow(
      'loss is not finite',
    )
    expect(checkpoints()).toEqual([2])
    expect(readMetrics(run.dir).map(({ step }) => step)).toEqual([1, 2])
  })
})
