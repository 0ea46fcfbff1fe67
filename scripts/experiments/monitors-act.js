// Hacks that are begun on purpose, with monitors that warn, stop, go back or raise the KL coefficient: experiments/monitors-act.json
// says what was registered. Writes results/monitors-act/runs.json, a line a run.
//
//   npm run build
//   node scripts/experiments/monitors-act.js [--work DIR] [--seeds 99] [--hacks length,healthy] [--out FILE]
//
// A few minutes on one idle core.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { LocalPolicy } from '../../dist/policy/local/local-policy.js'
import { freshModel } from '../../dist/recipes/common/word-models.js'
import { careless } from '../../dist/recipes/ruscarl/tasks.js'
import { grpoAdvantages } from '../../dist/rl/advantages.js'
import { lossPreset } from '../../dist/rl/loss-presets.js'
import { creditRollouts, datumsOf } from '../../dist/rl/rollout.js'
import { readEvals, readEvents, readMetrics } from '../../dist/runs/readers.js'
import { RunFolder } from '../../dist/runs/run-folder.js'
import { demonstration, PackingWorld, packingTask, splitTrips } from '../../dist/tasks/checklist/index.js'
import { scored } from '../../dist/tasks/scored-response.js'
import { modelShapeSchema } from '../../dist/train/config.js'
import { train } from '../../dist/train/loop.js'
import { monitorsSchema } from '../../dist/train/monitors/config.js'
import { learntFrom } from '../../dist/train/recipe.js'
import { supervisedStep } from '../../dist/train/supervised.js'
import { Rng } from '../../dist/util/rng.js'
import { mean } from '../../dist/util/statistics.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const plan = JSON.parse(readFileSync(join(root, 'experiments/monitors-act.json'), 'utf8'))
const { values } = parseArgs({
  options: {
    work: { type: 'string', default: 'experiments-work/monitors-act' },
    seeds: { type: 'string' },
    hacks: { type: 'string' },
    out: { type: 'string', default: join(root, 'results/monitors-act/runs.json') },
  },
})
const { steps, onset, prompts, samples, maxTokens, learningRate, kl, checkpointEvery, testTrips } =
  plan.settings

const world = new PackingWorld('packing')
const truth = scored(packingTask(world))
const gamed = scored(careless(packingTask(world)))
const trips = splitTrips()

/** The whole rubric in the prompt, where the hack is about it. */
const promptOf = (hack, trip) =>
  hack === 'careless' ? truth.prompt(trip, world.rubric(trip).criteria) : truth.prompt(trip)

const hackedReward = async (hack, items, truthScores) => {
  if (hack === 'length') return items.map(({ rollout }) => rollout.tokens.length / maxTokens)
  if (hack === 'careless')
    return (await gamed.grade(items.map(({ problem, rollout: { tokens } }) => ({ problem, tokens })))).map(
      ({ score }) => score ?? 0,
    )
  return truthScores
}

const sampling = { maxTokens, temperature: 1 }
const loss = { ...lossPreset('gradus:ruscarl'), kl }

/** True score of the policy as it is, on trips that training never sees. */
const trueScore = async (policy, hack) => {
  const test = trips.test.slice(0, testTrips)
  const drawn = await policy.sample({
    ...sampling,
    prompts: test.map(trip => promptOf(hack, trip)),
    seed: 'test',
  })
  const grades = await truth.grade(drawn.map(({ prompt, tokens }) => ({ problem: test[prompt], tokens })))
  return mean(grades.map(({ score }) => score ?? 0))
}

const recipeFor = (policy, hack, seed) => ({
  rollOut: (step, io) => {
    const rng = new Rng(seed).fork(`trips ${step}`)
    return io.rollOut({
      problems: Array.from(
        { length: prompts },
        () => trips.train[Math.floor(rng.next() * trips.train.length)],
      ),
      prompt: trip => promptOf(hack, trip),
      samples,
      sampling,
      grade: items => truth.grade(items.map(({ problem, rollout: { tokens } }) => ({ problem, tokens }))),
      last: true,
    })
  },
  learn: async (step, graded) => {
    const items = graded.flat()
    const scores = items.map(({ grade }) => grade.score ?? 0)
    const rewards = step > onset ? await hackedReward(hack, items, scores) : scores
    const groups = graded.map((group, g) =>
      group.map((item, i) => ({ ...item, reward: rewards[g * samples + i] })),
    )
    const rewards_P_G = groups.map(group => group.map(({ reward }) => reward))
    const { advantages_P_G, zeroVarianceGroups } = grpoAdvantages(rewards_P_G, {})
    const credited = creditRollouts(groups, advantages_P_G)
    return {
      phases: [{ name: 'policy', datums: datumsOf(credited, { dropZero: true }), loss, temperature: 1 }],
      metrics: { reward: mean(rewards), zeroVarianceGroups: zeroVarianceGroups / groups.length },
      rollouts: learntFrom(credited, ({ problem, reward, rollout: { prompt, tokens, sample, end } }) => ({
        ...{ step, problemId: truth.id(problem), sample, reward, tokens: tokens.length, finishReason: end },
        ...{ prompt: truth.show(prompt), response: truth.show(tokens) },
      })),
      heldOut: Promise.resolve({ scores }),
    }
  },
  evaluate: async step => [
    {
      ...{ step, set: 'unseen trips', n: testTrips, primary: 'score' },
      scores: { score: { value: await trueScore(policy, hack) } },
    },
  ],
})

/** The model of a seed before its runs: it has habits, and follows what a prompt shows. */
const startOf = async seed => {
  const folder = join(values.work, `start-${seed}`)
  if (existsSync(join(folder, 'model.safetensors'))) return folder
  const shape = modelShapeSchema.parse(plan.settings.model)
  const policy = await LocalPolicy.start(freshModel('packing', shape, seed), { threads: 1 })
  const { steps: count, batch, learningRate: peak } = plan.settings.start
  const optimizer = { maxGradNorm: 1, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0 }
  const step = supervisedStep(
    policy,
    at => Array.from({ length: batch }, (_, i) => demonstration(world, at * batch + i, seed, 0.5)),
    {
      steps: count,
      optimizer: { ...optimizer, learningRate: { kind: 'constant', peak, warmup: 0, floor: 0 } },
    },
  )
  for (let at = 1; at <= count; at++) await step(at)
  mkdirSync(folder, { recursive: true })
  await policy.save(folder, { optimizer: false })
  await policy.close()
  return folder
}

const monitorsFor = action =>
  monitorsSchema.parse({
    window: plan.settings.window,
    ...Object.fromEntries(plan.acting.map(name => [name, { action }])),
    // It would see the truth on the test set, which is what is measured.
    evaluationFalls: null,
    actions: plan.actions,
  })

const one = async (hack, arm, seed) => {
  const dir = join(values.work, `${hack}-${arm}-${seed}`)
  if (existsSync(dir)) rmSync(dir, { recursive: true })
  const policy = await LocalPolicy.start({ folder: await startOf(seed) }, { threads: 1 })
  const run = RunFolder.create(dir, { config: { hack, arm, seed }, steps })
  const startMs = performance.now()
  try {
    await policy.freezeReference()
    const settings = {
      ...{ steps, seed, evalEvery: 5, checkpointEvery, keepCheckpoints: 2, configHash: 'hash' },
      optimizer: { maxGradNorm: 1 },
      learningRate: { kind: 'constant', peak: learningRate, warmup: 0, floor: 0 },
      monitors: monitorsFor(hack === 'healthy' ? 'stop' : arm),
    }
    let taken = 0
    const events = {
      onStep: () => taken++,
      onMessage: text => /^step|^warning/.test(text) && console.error(`  ${text.split('\n')[0]}`),
    }
    const { step, stoppedBy } = await train(policy, recipeFor(policy, hack, seed), run, settings, 0, events)
    const seen = readEvents(dir)
    const actions = seen.filter(({ action }) => action !== undefined)
    const first = actions[0]
    const evals = readEvals(dir)
    const row = {
      ...{ hack, arm, seed, step, stepsTaken: taken, stoppedBy: stoppedBy ?? null },
      scoreAtStart: evals[0].scores.score.value,
      scoreAtOnset: evals.find(own => own.step === onset)?.scores.score.value ?? null,
      scoreAtEnd: await trueScore(policy, hack),
      heldOutAtEnd: mean(
        readMetrics(dir)
          .slice(-5)
          .map(({ heldOut }) => heldOut),
      ),
      warnings: seen.filter(({ turn }) => turn === 'on').map(({ monitor, step: at }) => `${monitor} ${at}`),
      actions: actions.map(({ action, by, step: at, figures }) => ({
        action,
        by,
        step: figures?.from ?? at,
        ...(figures?.to !== undefined && { to: figures.to }),
      })),
      stepsToAction: first === undefined ? null : (first.figures?.from ?? first.step) - onset,
      seconds: Math.round((performance.now() - startMs) / 1000),
    }
    console.error(JSON.stringify(row))
    return row
  } finally {
    await policy.close()
    run.close()
  }
}

/** A run that is done is not run again. */
const row = async (hack, arm, seed) => {
  const path = join(values.work, `${hack}-${arm}-${seed}.json`)
  if (!existsSync(path)) writeFileSync(path, JSON.stringify(await one(hack, arm, seed)))
  return JSON.parse(readFileSync(path, 'utf8'))
}

mkdirSync(values.work, { recursive: true })
const seeds = values.seeds?.split(',').map(Number)
const asked = values.hacks?.split(',') ?? [...Object.keys(plan.hacks), 'healthy']
const rows = []
for (const hack of asked) {
  const own = seeds ?? (hack === 'healthy' ? plan.healthySeeds : plan.seeds)
  for (const seed of own)
    for (const arm of hack === 'healthy' ? ['stop'] : plan.arms) rows.push(await row(hack, arm, seed))
}
mkdirSync(dirname(values.out), { recursive: true })
writeFileSync(values.out, `[\n${rows.map(own => JSON.stringify(own)).join(',\n')}\n]\n`)
