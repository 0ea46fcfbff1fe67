/** @file The rubric-as-reward recipe as the command line knows it, with its presets: the miniature in minutes, the long run, the paper's numbers. */

import { longestPrompt } from '../../tasks/logic/lengths.ts'
import { formatInteger } from '../../util/format.ts'
import { type DataFile, withDataFiles } from '../common/data-files.ts'
import { shorterStart } from '../common/evaluation-config.ts'
import { methodPlan, stepTokens } from '../common/plan.ts'
import type { Presets, RecipeEntry, RunPlan } from '../common/recipe.ts'
import { optionLines } from '../options/options.ts'
import { THREE_HOPS } from '../sft/logic-presets.ts'
import { checkRubricAsReward, modelOf } from './check.ts'
import {
  type RubricAsRewardConfig,
  rubricAsRewardSchema,
  type SourceSettings,
  trainingSteps,
} from './config.ts'
import { primarySet } from './evaluation.ts'
import { goalOf } from './lengths.ts'
import { conditionWeights } from './rewards.ts'
import { describeSmallerTest, describeSources, sourceSizes, testSources, trainingSources } from './sources.ts'

/** Proofs, all or nothing by verification: two updates a step, no KL. */
const VERIFIED_PROOFS = {
  condition: 'proof',
  minibatches: 2,
  loss: { preset: 'gradus:rar5', kl: { kind: 'none', coef: 0 } },
}

/**
 * Proofs longer than any that was shown. Problems without cues, sentences in any order, no proofs; one hop more whenever the
 * longest are proved. A proof that says the property of each kind it passes takes 18 tokens a hop.
 */
const longerThanThree = (to: number) => ({
  ...VERIFIED_PROOFS,
  task: {
    style: 'varied',
    hops: {
      kind: 'growing',
      ...{ from: 4, to, shortest: 1, longestShare: 0.5, threshold: 0.7, window: 3 },
    },
  },
  rollout: { prompts: 16, samples: 8, maxTokens: 18 * to + 1 },
})

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const rubricAsRewardPresets: Presets = {
  longer: {
    summary:
      'a small shipped model that knows proofs of three hops learns longer ones by verification, two minutes',
    config: {
      model: { folder: 'package:models/logic-short' },
      ...longerThanThree(8),
      optimizer: { learningRate: { kind: 'constant', peak: 3e-4, warmup: 3 }, beta2: 0.95 },
      steps: 50,
      evaluation: {
        // The set `varied` is of eight hops.
        ...{ problems: 150, problemsBetween: 50, samples: 1, every: 25, sets: ['varied'] },
        ...{ hops: [3, 6], hopProblems: 100 },
      },
    },
  },
  quick: {
    summary: "five-hop proofs in the style of ProntoQA's rows, cues included, a few minutes on 2 cores",
    config: {
      model: { folder: 'package:models/logic-start' },
      ...VERIFIED_PROOFS,
      task: { hops: 5, style: 'real' },
      optimizer: { learningRate: { kind: 'linear', peak: 3e-4, warmup: 5, floor: 0.1 }, beta2: 0.95 },
      steps: 80,
      rollout: { prompts: 32, samples: 8 },
      evaluation: { problems: 250, samples: 2, every: 20, problemsBetween: 100 },
    },
  },
  full: {
    summary:
      'from nothing: a cold start of three hops, then reinforcement to eleven, up to two hours on 2 cores',
    config: {
      coldStart: THREE_HOPS,
      ...longerThanThree(11),
      optimizer: { learningRate: { kind: 'linear', peak: 3e-4, warmup: 3, floor: 0.1 }, beta2: 0.95 },
      steps: 300,
      evaluation: {
        ...{ problems: 500, problemsBetween: 100, samples: 1, every: 50, sets: ['varied'] },
        ...{ hops: [1, 2, 3, 4, 5, 6, 8, 10, 14, 16], hopProblems: 200 },
      },
      checkpoint: { every: 50 },
    },
  },
  paper: {
    summary: "the paper's setting: Qwen2.5-3B-Instruct with LoRA, 250 steps (needs far more than a laptop)",
    config: {
      model: { folder: 'models/Qwen2.5-3B-Instruct', lora: { rank: 32, alpha: 64 } },
      // The paper says what it tests on (109 FOLIO and 57 ProntoQA problems) and nothing of what it trains on: FOLIO's own
      // training rows, and ProntoQA's generator, in the same proportion. ProntoQA has no Unknown.
      task: {
        prompt: 'chat',
        hops: 5,
        style: 'real',
        sources: [
          { kind: 'folio', path: 'folio-train.jsonl', weight: 109 },
          { kind: 'generated', name: 'prontoqa', weight: 57 },
        ],
      },
      condition: 'rubric',
      steps: 250,
      // The paper gives no length; a five-hop proof takes about 250 tokens. One sequence at a time is the least memory.
      rollout: { prompts: 8, samples: 8, maxTokens: 512 },
      policy: { microBatchTokens: 1024, recompute: true },
      optimizer: { learningRate: { kind: 'constant', peak: 5e-6 }, beta2: 0.999 },
      loss: { preset: 'gradus:rar5', kl: { kind: 'k3', coef: 0.04 } },
      dropZero: false,
      evaluation: {
        sources: [
          { kind: 'folio', path: 'folio-validation.jsonl', weight: 109 },
          { kind: 'prontoqa', path: 'prontoqa-dev.jsonl', weight: 57 },
        ],
        sets: [],
        problems: 166,
        problemsBetween: 166,
        samples: 1,
        every: 50,
      },
      checkpoint: { every: 25 },
    },
  },
}

/** Tokens of a prompt, roughly: 15 sentences as words, or with instructions through a chat template. */
const PROMPT_TOKENS = { miniature: 130, chat: 600 }

const rewardLine = ({ condition, weights, credit, method, scoringRule }: RubricAsRewardConfig): string => {
  const used = Object.entries(weights ?? conditionWeights(condition))
  const sum = used.map(([id, weight]) => `${Number(weight.toFixed(3))} ${id}`).join(' + ')
  const how = method === 'rejection' ? 'rejection' : `${credit} credit, ${method}`
  const made = scoringRule?.name ?? (sum === '' ? null : `3 x (${sum})`)
  return `${condition}${made === null ? '' : `: ${made}`}, ${how}`
}

const plan = (config: RubricAsRewardConfig): RunPlan => {
  checkRubricAsReward(config, 'plan')
  const { rollout, task, evaluation } = config
  const trained = trainingSources(config, true)
  const tested = testSources(config, true)
  const steps = trainingSteps(config)
  const promptTokens = Math.max(PROMPT_TOKENS[task.prompt], longestPrompt({ hops: goalOf(task.hops) }))
  const prompts = {
    ...{ tokens: promptTokens, longest: promptTokens, together: rollout.prompts },
    sets: evaluation.sets.length + Number(tested !== null),
  }
  return methodPlan({ ...config, steps }, modelOf(config), prompts, {
    lines: [
      `task         ${trained?.map(({ name }) => name).join(' + ') ?? task.file ?? `generated, hops ${JSON.stringify(task.hops)}, ${task.style}`}, ${task.prompt} prompt`,
      ...describeSources('training', trained ?? []),
      ...describeSources('test', tested ?? []),
      ...describeSmallerTest(tested ?? [], tested === null ? 0 : evaluation.problems),
      `reward       ${rewardLine(config)}`,
      ...optionLines(config),
      `steps        ${steps}, each ${rollout.prompts} problems x ${rollout.samples} samples, at most ${rollout.maxTokens} tokens: up to ${formatInteger(stepTokens(rollout))} new tokens a step`,
    ],
    evaluation: [
      'grading      by rules and solver in this process: no judge model, no network',
      `evaluation   ${evaluation.problems} problems on ${[...(tested === null ? [] : [primarySet(config)]), ...evaluation.sets].join(', ')}, before and after${shorterStart({ steps, evaluation })}`,
    ],
    json: {
      ...(trained && { trainingSources: sourceSizes(trained) }),
      ...(tested && { testSources: sourceSizes(tested) }),
    },
  })
}

const sourceFiles = (sources: readonly SourceSettings[] = []): DataFile[] =>
  sources.map(source => ({ path: 'path' in source ? source.path : null }))

export const rubricAsRewardEntry: RecipeEntry<RubricAsRewardConfig> = withDataFiles(
  {
    name: 'rubric-as-reward',
    summary: 'reinforcement learning against the five-criterion logic rubric, every step checked by a solver',
    schema: rubricAsRewardSchema,
    presets: rubricAsRewardPresets,
    plan,
    run: async (config, options) => (await import('./run.ts')).runRubricAsReward(config, options),
  },
  ({ task, evaluation }) => [
    { path: task.file },
    { path: evaluation.realFile },
    ...sourceFiles(task.sources),
    ...sourceFiles(evaluation.sources),
  ],
)
