/** @file A made-up run with plausible curves and texts, for tests of the report and for looking at it. */

import { mean } from '../../util/descriptive.ts'
import { Rng } from '../../util/rng.ts'
import type { CriterionChange, EvalItem, EvalRow, MetricsRow, RolloutRow, RolloutStep } from '../rows.ts'
import { RunFolder } from '../run-folder.ts'

const NOUNS = [
  'yumpus',
  'zumpus',
  'wumpus',
  'tumpus',
  'rompus',
  'numpus',
  'jompus',
  'dumpus',
  'vumpus',
  'impus',
]
const NAMES = ['Stella', 'Max', 'Fae', 'Rex', 'Wren', 'Polly', 'Sam', 'Alex']
const PROPERTIES = ['bright', 'earthy', 'sour', 'opaque', 'feisty', 'floral', 'wooden', 'shy']

const clamp = (value: number): number => Math.min(1, Math.max(0, value))
/** Rises from 0 to 1 over the run, fast at first. */
const learned = (share: number): number => 1 / (1 + Math.exp(-7 * (share - 0.38)))
const skillAt = (share: number) => ({
  accuracy: 0.83 + 0.07 * learned(share),
  whole: 0.41 + 0.29 * learned(share),
  valid: 0.52 + 0.22 * learned(share),
  C2: 0.72 + 0.2 * learned(share),
  C3: 0.97 + 0.025 * learned(share),
  C4: 0.81 - 0.06 * learned(share),
  C5: 0.7 + 0.16 * learned(share),
})

const fakeMetrics = (step: number, steps: number, rng: Rng): MetricsRow => {
  const share = step / steps
  const skill = skillAt(share)
  const noisy = (value: number, size: number) => clamp(value + size * rng.normal())
  const criteria = {
    C1: noisy(skill.accuracy, 0.025),
    C2: noisy(skill.C2, 0.02),
    C3: noisy(skill.C3, 0.006),
    C4: noisy(skill.C4, 0.02),
    C5: noisy(skill.C5, 0.02),
  }
  const reward =
    3 * (0.3 * criteria.C1 + 0.25 * criteria.C2 + 0.1 * criteria.C3 + 0.15 * criteria.C4 + 0.2 * criteria.C5)
  const sample = 0.31 + 0.02 * Math.abs(rng.normal()) - 0.04 * share
  const update = 0.36 + 0.02 * Math.abs(rng.normal())
  const grade = 0.05 + 0.01 * Math.abs(rng.normal())
  return {
    step,
    reward,
    rewardStd: 0.5 - 0.2 * share + 0.03 * rng.normal(),
    correctAndProved: noisy(skill.whole, 0.03),
    correctAndValid: noisy(skill.valid, 0.02),
    accuracy: criteria.C1,
    criteria,
    entropy: 0.21 - 0.11 * learned(share) + 0.008 * rng.normal(),
    kl: 0.02 * share + 0.002 * Math.abs(rng.normal()),
    loss: 0.01 * rng.normal(),
    gradNorm: 0.6 + 0.2 * Math.abs(rng.normal()) + (step === 71 ? 2.4 : 0),
    clipFraction: clamp(0.01 + 0.005 * rng.normal()),
    learningRate: 3e-4 * Math.min(1, step / 10),
    logprobGapMean: 2e-6 * Math.exp(0.3 * rng.normal()),
    logprobGapMax: 4e-5 * Math.exp(0.4 * rng.normal()),
    responseTokens: 61 + 12 * learned(share) + 1.5 * rng.normal(),
    reasoningSteps: 6.1 + 1.6 * learned(share) + 0.15 * rng.normal(),
    truncationRate: clamp(0.03 - 0.02 * share + 0.006 * rng.normal()),
    zeroVarianceGroups: clamp(0.12 + 0.25 * learned(share) + 0.04 * rng.normal()),
    tokens: Math.round(256 * (61 + 12 * learned(share))),
    rollouts: 256,
    exploits: {
      restated: clamp(0.2 + 0.02 * rng.normal()),
      repeated: clamp(0.05 * share + 0.01 * rng.normal()),
    },
    time: { sample, grade, update, total: sample + update + 0.02 + 0.01 * rng.next() },
  }
}

const SETS = [
  { name: 'training distribution', ease: 0, n: 500 },
  { name: 'ProntoQA, real rows', ease: 0.06, n: 500 },
  { name: 'shortcut-free', ease: -0.12, n: 500 },
]

const interval = (values: readonly number[]): [number, number] => {
  const m = mean(values)
  const reach = (1.96 * Math.sqrt(mean(values.map(v => (v - m) ** 2)))) / Math.sqrt(values.length)
  return [clamp(m - reach), clamp(m + reach)]
}

const fakeItems = (n: number, accuracy: number, whole: number, rng: Rng): EvalItem[] =>
  Array.from({ length: n }, (_, index) => {
    const hardness = 0.25 * new Rng(`item ${index}`).normal()
    const right = clamp(accuracy + hardness * 0.5)
    const proved = Math.min(right, clamp(whole + hardness))
    const samples = Array.from({ length: 4 }, () => rng.next())
    return {
      id: `problem-${index}`,
      scores: {
        correctAndProved: mean(samples.map(draw => Number(draw < proved))),
        accuracy: mean(samples.map(draw => Number(draw < right))),
        correctAndValid: mean(samples.map(draw => Number(draw < (proved + right) / 2))),
      },
    }
  })

const fakeTax = (step: number, skill: ReturnType<typeof skillAt>): Pick<EvalRow, 'tax'> => {
  if (step === 0) return {}
  const start = skillAt(0)
  const change = (id: 'C2' | 'C4' | 'C5', unseen: boolean): CriterionChange => {
    const difference = skill[id] - start[id]
    const interval = [difference - 0.02, difference + 0.02] as const
    return { n: 500, before: start[id], after: skill[id], change: difference, interval, unseen }
  }
  return { tax: { C2: change('C2', false), C4: change('C4', true), C5: change('C5', true) } }
}

const fakeEval = (set: (typeof SETS)[number], step: number, share: number, rng: Rng): EvalRow => {
  const skill = skillAt(share)
  const items = fakeItems(set.n, clamp(skill.accuracy + set.ease), clamp(skill.whole + set.ease), rng)
  const scoreOf = (name: string) => {
    const values = items.map(item => item.scores[name]!)
    return { value: mean(values), interval: interval(values) }
  }
  const whole = scoreOf('correctAndProved')
  const answers = scoreOf('accuracy')
  const accuracy = answers.value
  return {
    step,
    set: set.name,
    n: set.n,
    samples: 4,
    temperature: 1,
    scores: {
      correctAndProved: whole,
      accuracy: answers,
      correctAndValid: scoreOf('correctAndValid'),
      'greedy.correctAndProved': { value: clamp(whole.value + 0.06) },
      'greedy.accuracy': { value: clamp(accuracy + 0.02) },
    },
    primary: 'correctAndProved',
    scoreNames: {
      correctAndProved: 'correct and proved',
      accuracy: 'answers right',
      correctAndValid: 'correct and valid',
    },
    criteria: { C1: accuracy, C2: skill.C2, C3: skill.C3, C4: skill.C4, C5: skill.C5 },
    byLabel: {
      True: { n: 170, scores: { accuracy: clamp(accuracy + 0.03) } },
      False: { n: 165, scores: { accuracy: clamp(accuracy - 0.01) } },
      Unknown: { n: 165, scores: { accuracy: clamp(accuracy - 0.02) } },
    },
    ...fakeTax(step, skill),
    balance: {
      macroRecall: accuracy,
      minClassRecall: clamp(accuracy - 0.02),
      predicted: { True: 0.37, False: 0.32, Unknown: 0.3, none: 0.01 },
      trueBias: 0.03,
    },
    items,
    baselines: {
      'majority label': {
        scores: { accuracy: { value: 0.34 } },
        n: set.n,
        note: 'always the commonest label',
      },
      'word overlap': {
        scores: { accuracy: { value: clamp(0.66 + 4 * set.ease) } },
        n: set.n,
        note: 'negation in question against context',
      },
      'first mention': { scores: { accuracy: { value: 0.52 } }, n: set.n },
      'last mention': { scores: { accuracy: { value: 0.48 } }, n: set.n },
      'query negation': { scores: { accuracy: { value: 0.41 } }, n: set.n },
    },
  }
}

const fakeSteps = (rng: Rng, share: number): RolloutStep[] => {
  const name = rng.pick(NAMES)
  const chain = rng.sample(NOUNS, 4)
  const steps: RolloutStep[] = [
    { text: `${name} is a ${chain[0]}.`, status: 'entailed', credit: 1, flags: ['premise'] },
  ]
  for (let hop = 1; hop < chain.length; hop++) {
    const sound = rng.next() < 0.6 + 0.35 * share
    const slip = rng.pick(['consistent', 'contradicted', 'unverifiable', 'unparsed'])
    steps.push({
      text: `Every ${chain[hop - 1]} is a ${chain[hop]}.`,
      status: 'entailed',
      credit: 1,
      flags: ['premise'],
    })
    const text =
      sound || slip !== 'unparsed'
        ? `${name} is ${sound ? '' : 'not '}a ${chain[hop]}.`
        : `${name} a is ${chain[hop]} a a.`
    steps.push({
      text,
      status: sound ? 'entailed' : slip,
      credit: sound ? 1 : slip === 'consistent' ? 0.5 : 0,
    })
  }
  return steps
}

const fakeRollout = (step: number, sample: number, share: number, rng: Rng): RolloutRow => {
  const steps = fakeSteps(rng, share)
  const valid = steps.every(item => item.status === 'entailed')
  const gold = rng.pick(['True', 'False', 'Unknown'])
  const answer = valid || rng.next() < 0.7 ? gold : rng.pick(['True', 'False', 'Unknown', ''])
  const rules = steps.filter(item => item.text.startsWith('Every')).map(item => item.text)
  const noise = Array.from({ length: 5 }, () => `${rng.pick(NOUNS)}es are ${rng.pick(PROPERTIES)}.`)
  const parts = {
    C1: Number(answer === gold),
    C2: mean(steps.map(item => item.credit ?? 0)),
    C3: 1,
    C4: clamp(0.7 + 0.1 * rng.normal()),
    C5: clamp(0.8 + 0.1 * rng.normal()),
  }
  return {
    step,
    problemId: `train-${step}-${sample}`,
    sample,
    prompt: `${rng.shuffle([...rules, ...noise, steps[0].text]).join(' ')} True or false: ${steps.at(-1)!.text}`,
    response: `<reasoning>\n${steps.map((item, index) => `${index + 1}. ${item.text}`).join('\n')}\n</reasoning>\n<answer>${answer}</answer>`,
    reward: 3 * (0.3 * parts.C1 + 0.25 * parts.C2 + 0.1 * parts.C3 + 0.15 * parts.C4 + 0.2 * parts.C5),
    answer,
    gold,
    correct: answer === gold,
    valid,
    proved: valid,
    tokens: 12 + 7 * steps.length,
    finishReason: 'stop',
    parts,
    flags: { restatedPremises: steps.filter(item => item.flags).length },
    steps,
  }
}

/** Builds the folder `dir`; the same seed gives the same metrics. */
export const buildFakeRun = (dir: string, { seed = 1, steps = 150 } = {}): string => {
  const rng = new Rng(seed)
  const run = RunFolder.create(dir, {
    recipe: 'rubric-as-reward',
    preset: 'quick',
    model: 'models/logic-start (Llama, 1.1 M parameters)',
    seed,
    steps,
    version: '0.1.0',
    criterionNames: {
      C1: 'answer',
      C2: 'step validity',
      C3: 'format',
      C4: 'premise use',
      C5: 'completeness',
    },
    config: {
      recipe: 'rubric-as-reward',
      condition: 'rubric_hybrid',
      steps,
      seed,
      group: { problems: 32, samples: 8 },
      policy: {
        learningRate: 3e-4,
        maxTokens: 160,
        temperature: 1,
        clip: { low: 0.2, high: 0.28 },
        klCoefficient: 0,
      },
      weights: { C1: 0.3, C2: 0.25, C3: 0.1, C4: 0.15, C5: 0.2 },
      init: null,
    },
  })
  for (const set of SETS) run.appendEvals([fakeEval(set, 0, 0, rng)])
  for (let step = 1; step <= steps; step++) {
    run.appendMetrics(fakeMetrics(step, steps, rng))
    if (step % 5 === 0 || step === 1) {
      run.appendRollouts(Array.from({ length: 4 }, (_, i) => fakeRollout(step, i, step / steps, rng)))
    }
    if (step % Math.round(steps / 5) === 0) {
      run.appendEvals(SETS.map(set => fakeEval(set, step, step / steps, rng)))
    }
  }
  run.appendEvent({
    level: 'warning',
    step: 71,
    message: 'gradient norm 3.2 is four times its recent median',
  })
  run.appendEvent({ level: 'info', step: 100, message: 'checkpoint saved' })
  run.close()
  return dir
}
