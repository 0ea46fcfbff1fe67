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
import { type PlannedTime, planTime, type StepWork } from './plan-time.ts'
import type { RunPlan } from './recipe.ts'
import { describeRemoteModel, shapeFolder } from './remote.ts'
import {
  type EvaluatedWork,
  evaluatedSamples,
  type RemoteWork,
  type RoleWork,
  reinforcementWork,
  remoteLines,
} from './remote-plan.ts'
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
    'model' | 'policy' | 'rollout' | 'loss' | 'optimizer' | 'steps' | 'minibatches' | 'epochs'
  > & { evaluation: EvaluatedWork }

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

const hasReference = ({ kl }: LossSpec): boolean => kl.kind !== 'none' && kl.coef > 0

const describeSize = (
  sizes: ReturnType<typeof modelTensors> | null,
  { model: { lora }, policy }: Pick<PlannedConfig, 'model' | 'policy'>,
) => {
  if (sizes === null) return 'unknown before the model is there'
  const own = lora ? ` (LoRA rank ${lora.rank}, alpha ${lora.alpha})` : ''
  const adapter = isRemote(policy) ? ` (LoRA rank ${policy.lora.rank}, scaled as the server has it)` : own
  return `${formatCount(sizes.total)}, trained ${formatCount(sizes.trained)}${adapter}`
}

/** What is trained in place of all weights. */
const adapterOf = ({ model, policy }: Pick<PlannedConfig, 'model' | 'policy'>): LoraConfig | null => {
  if (!isRemote(policy)) return model.lora
  const { rank, attention, mlp } = policy.lora
  const targetModules = loraModules.filter(name => (/^[qkvo]_/.test(name) ? attention : mlp))
  return { rank, alpha: 32, targetModules }
}

/** What a step samples, by role. */
const rolesOf = ({ rollout }: PlannedConfig, { tokens, roles }: PlannedPrompts): readonly RoleWork[] =>
  roles ?? [
    {
      ...{ groups: rollout.prompts, samples: rollout.samples },
      ...{ promptTokens: tokens, newTokens: rollout.maxTokens },
    },
  ]

/** A step in numbers, but for what only its recipe knows. */
const stepWorkOf = (
  config: PlannedConfig,
  shape: ModelConfig | null,
  lora: LoraConfig | null,
  prompts: PlannedPrompts,
): StepWork => {
  const { policy, steps, minibatches, epochs, loss } = config
  const own = isRemote(policy) ? null : policy
  const { frozen, passes } = prompts.teacher ?? { frozen: false, passes: 0 }
  return {
    ...{ model: describeStart(config), shape, lora, steps, minibatches, epochs },
    reference: hasReference(loss) || frozen,
    critic: prompts.critic ?? false,
    // That of a frozen teacher is the reference's.
    scorings: (prompts.scorings ?? 0) + passes - Number(frozen && !hasReference(loss)),
    roles: rolesOf(config, prompts).map(role => ({ name: 'policy', ...role })),
    judges: [],
    maxRows: own?.maxRows ?? Number.MAX_SAFE_INTEGER,
    microBatchTokens: own?.microBatchTokens ?? DEFAULT_MICRO_BATCH,
    recompute: recomputes(policy),
    supervised: false,
  }
}

/** Tokens of a micro-batch where a server says nothing of its own. */
const DEFAULT_MICRO_BATCH = 16_384

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

/** What a server would be asked for; null where the policy is in this process. */
const remoteWorkOf = (config: PlannedConfig, prompts: PlannedPrompts): RemoteWork | null => {
  const { policy, steps } = config
  return isRemote(policy)
    ? reinforcementWork(
        policy,
        steps,
        rolesOf(config, prompts),
        { ...config, taught: prompts.teacher?.passes },
        evaluatedWork(config, prompts),
      )
    : null
}

/** Of sampling, updates and evaluations in this process; null where they are elsewhere, or the model is not known. */
const timeOf = (
  config: PlannedConfig,
  prompts: PlannedPrompts,
  work: StepWork,
  parameters: number | undefined,
): PlannedTime | null => {
  if (parameters === undefined || isRemote(config.policy)) return null
  const { samples } = evaluatedSamples(config.steps, evaluatedWork(config, prompts))
  return planTime({ ...work, parameters, evaluatedTokens: samples * work.roles[0].newTokens })
}

/** The lines that such plans have in common, and their figures. */
const planTraining = (
  config: PlannedConfig,
  fresh: (shape: ModelShape) => ModelConfig,
  prompts: PlannedPrompts,
) => {
  const { policy, rollout, loss, optimizer } = config
  const shape = startShape(config, fresh)
  const rolloutsPerStep = rollout.prompts * rollout.samples
  const lora = adapterOf(config)
  const sizes = shape && modelTensors(shape, lora, false)
  const sequence = prompts.longest + rollout.maxTokens
  const stepWork = stepWorkOf(config, shape, lora, prompts)
  const memory =
    shape &&
    !isRemote(policy) &&
    estimateMemory(shape, {
      lora,
      reference: stepWork.reference,
      secondEngine: 'sampler' in policy && policy.sampler !== null,
      engines: enginesOf(policy, () => shape),
      microBatchTokens: policy.microBatchTokens,
      recompute: policy.recompute,
      arena: policy.arena,
      sequence,
      rows: Math.min(rolloutsPerStep, policy.maxRows),
      prompts: Math.min(prompts.together, policy.maxRows),
      promptTokens: prompts.tokens,
      newTokens: rollout.maxTokens,
    })
  const { learningRate: rate } = optimizer
  const tokensPerStep = rolloutsPerStep * rollout.maxTokens
  const remote = remoteWorkOf(config, prompts)
  const here = memory && !isRemote(policy) ? memoryLines(memory, { ...policy, sequence }) : []
  return {
    start: describeStart(config),
    parameters: `parameters   ${describeSize(sizes, config)}`,
    learning: `learning rate ${rate.peak} (${rate.kind}${rate.warmup > 0 ? `, warm-up of ${rate.warmup} steps` : ''}), KL ${hasReference(loss) ? `${loss.kl.kind} x ${loss.kl.coef}` : 'none'}`,
    time: timeOf(config, prompts, stepWork, sizes?.total),
    needs: remote ? remoteLines(remote, loss) : here,
    work: { rolloutsPerStep, tokensPerStep },
    stepWork,
    sizes: {
      parameters: sizes?.total ?? null,
      trainedParameters: sizes?.trained ?? null,
      memoryBytes: memory || null,
      ...(remote && { remote }),
    },
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
  const { start, parameters, learning, needs, work, stepWork, sizes, time } = planTraining(
    config,
    fresh,
    prompts,
  )
  const { steps, rollout } = config
  const machine = machinePlan(config, time, sizes.memoryBytes)
  const { algorithm = '', learning: further = '' } = words
  return {
    lines: [
      ...criticLines(machine.json.here, prompts.critic === true),
      `model        ${start}${words.start ?? ''}`,
      parameters,
      ...words.lines,
      `optimiser    ${algorithm}AdamW, ${further}${learning}`,
      ...words.evaluation,
      ...needs,
      ...machine.lines,
      ...(words.next ?? []),
    ],
    json: {
      ...{ steps, prompts: rollout.prompts, samples: rollout.samples },
      ...{ ...work, ...machine.json, ...sizes, ...words.json },
    },
    work: { ...stepWork, ...words.work },
  }
}
