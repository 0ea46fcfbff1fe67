/** @file What the plans of recipes that learn from rewards share: the model, what is trained of it, the optimiser, memory. */

import type { ModelConfig } from '../../model/config.ts'
import { type LoraConfig, loraModules } from '../../model/lora-files.ts'
import { modelTensors } from '../../policy/local/weight-sizes.ts'
import { enginesOf, isRemote, recomputes } from '../../policy/open.ts'
import type { LossSpec } from '../../rl/loss.ts'
import type { ModelShape } from '../../train/config.ts'
import { formatCount } from '../../util/format.ts'
import { criticLines, estimateMemory, machinePlan, memoryLines } from './feasible.ts'
import { knownShape, modelPlace } from './known-models.ts'
import type { RunPlan } from './recipe.ts'
import { describeRemoteModel, shapeFolder } from './remote.ts'
import {
  type EvaluatedWork,
  evaluatedSamples,
  type RoleWork,
  reinforcementWork,
  remoteLines,
} from './remote-plan.ts'
import { planTime } from './step-time.ts'
import type { StepWork } from './step-work.ts'
import type { TrainingConfig } from './training.ts'

/** What a model starts as: a checkpoint, or what a cold start makes. */
interface Start {
  policy: TrainingConfig['policy']
  model: { folder: string | null }
  coldStart: { steps: number; model: { shape: ModelShape } } | null
}

/** The checked settings; one of checkpoint and cold start is there. */
export type PlannedConfig = Start &
  Pick<
    TrainingConfig,
    'model' | 'policy' | 'rollout' | 'loss' | 'critic' | 'optimizer' | 'steps' | 'minibatches' | 'epochs'
  > & {
    evaluation: EvaluatedWork
    /** Of rubricem, for what a training service would refuse. */
    reflection?: { enabled: boolean; temperature: number }
  }

/** Lengths in tokens that memory depends on. */
export interface PlannedPrompts {
  /** On average, and the longest. */
  tokens: number
  longest: number
  /** Different prompts that are decoded together: those of problems, or of samples where each has its own. */
  together: number
  /** What a step samples and learns from, where it is not one role with the rollouts of the settings. */
  roles?: readonly RoleWork[]
  /** Sets that an evaluation samples. Default 1. */
  sets?: number
  /** Whether a critic reads all of it once more. Default false. */
  critic?: boolean
  /** Passes that score samples before they are learnt from, beside the reference's. Default 0. */
  scorings?: number
  /** Who teaches: a frozen model, or the policy; and its passes over what is learnt from, on average over the steps. */
  teacher?: { frozen: boolean; passes: number }
}

/** Shape of the model at the start; null where it is unknown before the model is there. @param fresh what a cold start makes */
export const startShape = (
  { coldStart, ...given }: Start,
  fresh: (shape: ModelShape) => ModelConfig,
): ModelConfig | null => (coldStart === null ? knownShape(shapeFolder(given)!) : fresh(coldStart.model.shape))

const describeStart = ({ coldStart, policy, model }: Start): string => {
  if (isRemote(policy)) return describeRemoteModel(policy)
  return coldStart === null
    ? modelPlace(model.folder!)
    : `cold start of ${coldStart.steps} steps, in this run`
}

/** A critic of its own: its shape, and what is trained of it; null where there is none, or its shape is not known yet. */
const ownCriticOf = ({ critic, model }: PlannedConfig, policyShape: ModelConfig | null) => {
  if (!critic?.own) return null
  const { folder, lora = model.lora } = critic.own
  const shape = folder === null ? policyShape : knownShape(folder)
  return shape && { shape, lora }
}

const criticLine = ({ critic, policy }: PlannedConfig, own: ReturnType<typeof ownCriticOf>): string[] => {
  if (!critic?.own || isRemote(policy)) return []
  const { folder } = critic.own
  const sizes = own && modelTensors(own.shape, own.lora)
  const counts = sizes && `: ${formatCount(sizes.total)} parameters, trained ${formatCount(sizes.trained)}`
  return [
    `critic       of its own, from ${folder === null ? "the policy's start" : modelPlace(folder)}${counts ?? ''}`,
  ]
}

const hasReference = ({ kl }: LossSpec): boolean => kl.kind !== 'none' && kl.coef > 0

/** What is trained in place of all weights. */
const adapterOf = ({ model, policy }: Pick<PlannedConfig, 'model' | 'policy'>): LoraConfig | null => {
  if (!isRemote(policy)) return model.lora
  const { rank, attention, mlp } = policy.lora
  const targetModules = loraModules.filter(name => (/^[qkvo]_/.test(name) ? attention : mlp))
  return { rank, alpha: 32, targetModules }
}

/** Tokens of a micro-batch where a server says nothing of its own. */
const DEFAULT_MICRO_BATCH = 16_384

/** A step in numbers, but for what only its recipe knows. */
const stepWorkOf = (
  config: PlannedConfig,
  shape: ModelConfig | null,
  { tokens, roles, critic = false, scorings = 0, teacher }: PlannedPrompts,
): StepWork => {
  const { policy, steps, minibatches, epochs, loss, rollout } = config
  const own = isRemote(policy) ? null : policy
  const { frozen, passes } = teacher ?? { frozen: false, passes: 0 }
  const usual = { groups: rollout.prompts, samples: rollout.samples, newTokens: rollout.maxTokens }
  return {
    ...{ model: describeStart(config), shape, lora: adapterOf(config), steps, minibatches, epochs, critic },
    reference: hasReference(loss) || frozen,
    // That of a frozen teacher is the reference's.
    scorings: scorings + passes - Number(frozen && !hasReference(loss)),
    roles: (roles ?? [{ ...usual, promptTokens: tokens }]).map(role => ({ name: 'policy', ...role })),
    judges: [],
    maxRows: own?.maxRows ?? Number.MAX_SAFE_INTEGER,
    microBatchTokens: own?.microBatchTokens ?? DEFAULT_MICRO_BATCH,
    recompute: recomputes(policy),
    supervised: false,
    ownCritic: Boolean(config.critic?.own),
  }
}

/** Evaluations of all sets as one. */
const evaluatedWork = ({ evaluation }: PlannedConfig, { sets = 1 }: PlannedPrompts): EvaluatedWork => {
  const times = (count?: number) => (count === undefined ? undefined : sets * count)
  return {
    ...evaluation,
    problems: sets * evaluation.problems,
    problemsAtStart: times(evaluation.problemsAtStart),
    problemsBetween: times(evaluation.problemsBetween),
  }
}

/** What this machine needs for it, and how long it takes; null where that is elsewhere, or the model is not known. */
const localNeeds = (config: PlannedConfig, prompts: PlannedPrompts, work: StepWork) => {
  const { policy, rollout } = config
  const { shape, lora, reference } = work
  if (isRemote(policy) || shape === null) return null
  const sequence = prompts.longest + rollout.maxTokens
  const { problems, problemsAtStart = 0, samples: perProblem = 1 } = config.evaluation
  const tested = Math.max(problems, problemsAtStart)
  const drawn = { promptTokens: prompts.tokens, newTokens: rollout.maxTokens, maxRows: policy.maxRows }
  const memory = estimateMemory(shape, {
    ...{ lora, reference, sequence },
    secondEngine: 'sampler' in policy && policy.sampler !== null,
    engines: enginesOf(policy, () => shape),
    critic: ownCriticOf(config, shape),
    ...{ microBatchTokens: policy.microBatchTokens, recompute: policy.recompute, arena: policy.arena },
    sampleBits: policy.sampleBits,
    draws: [
      { ...drawn, rows: rollout.prompts * rollout.samples, prompts: prompts.together },
      { ...drawn, rows: tested * perProblem, prompts: tested },
    ],
  })
  const { samples } = evaluatedSamples(config.steps, evaluatedWork(config, prompts))
  return {
    memory,
    time: planTime(work, { ...work.roles[0], samples }),
    lines: [
      ...memoryLines(memory, { ...policy, sequence }),
      ...(policy.sampleBits === 8
        ? ['sampling     with matrices rounded to 8 bits (policy.sampleBits)']
        : []),
    ],
  }
}

/** New tokens of a step, at most. */
export const stepTokens = ({ prompts, samples, maxTokens }: TrainingConfig['rollout']): number =>
  prompts * samples * maxTokens

/** What a plan says that is its method's own. */
export interface MethodDescription {
  /** Behind the model that it starts from. */
  start?: string
  /** Data, training, rewards, judges. */
  lines: readonly string[]
  /** Around the optimiser and its learning rate. */
  algorithm?: string
  learning?: string
  /** Evaluations, and what else follows the optimiser. */
  evaluation: readonly string[]
  /** At the end. */
  next?: readonly string[]
  json: Record<string, unknown>
  work?: Partial<StepWork>
}

/**
 * The plan of a method that learns from rewards.
 * @param config with the rollout that memory and time go by
 * @param fresh the model that a cold start makes
 */
export const methodPlan = (
  config: PlannedConfig,
  fresh: (shape: ModelShape) => ModelConfig,
  prompts: PlannedPrompts,
  words: MethodDescription,
): RunPlan => {
  const { policy, steps, rollout, loss, model } = config
  const { learningRate: rate } = config.optimizer
  const shape = startShape(config, fresh)
  const work = stepWorkOf(config, shape, prompts)
  const sizes = shape && modelTensors(shape, work.lora)
  const own = model.lora ? ` (LoRA rank ${model.lora.rank}, alpha ${model.lora.alpha})` : ''
  const adapter = isRemote(policy) ? ` (LoRA rank ${policy.lora.rank}, scaled as the server has it)` : own
  const taught = { ...config, taught: prompts.teacher?.passes }
  const remote = isRemote(policy)
    ? reinforcementWork(policy, steps, work.roles, taught, evaluatedWork(config, prompts))
    : null
  const here = localNeeds(config, prompts, work)
  const machine = machinePlan(config, here?.time ?? null, here?.memory ?? null)
  const { algorithm = '', learning = '' } = words
  return {
    lines: [
      ...criticLines(policy, machine.json.here, prompts.critic === true),
      `model        ${work.model}${words.start ?? ''}`,
      sizes === null
        ? 'parameters   unknown before the model is there'
        : `parameters   ${formatCount(sizes.total)}, trained ${formatCount(sizes.trained)}${adapter}`,
      ...criticLine(config, ownCriticOf(config, shape)),
      ...words.lines,
      `optimiser    ${algorithm}AdamW, ${learning}learning rate ${rate.peak} (${rate.kind}${rate.warmup > 0 ? `, warm-up of ${rate.warmup} steps` : ''}), KL ${hasReference(loss) ? `${loss.kl.kind} x ${loss.kl.coef}` : 'none'}`,
      ...words.evaluation,
      ...(remote ? remoteLines(remote, loss) : (here?.lines ?? [])),
      ...machine.lines,
      ...(words.next ?? []),
    ],
    json: {
      ...{ steps, prompts: rollout.prompts, samples: rollout.samples },
      ...{ rolloutsPerStep: rollout.prompts * rollout.samples, tokensPerStep: stepTokens(rollout) },
      ...machine.json,
      ...{ parameters: sizes?.total ?? null, trainedParameters: sizes?.trained ?? null },
      ...{ memoryBytes: here?.memory ?? null, ...(remote && { remote }), ...words.json },
    },
    work: { ...work, ...words.work },
  }
}
