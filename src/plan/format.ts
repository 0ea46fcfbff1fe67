/** @file Plans and checks in words. */

import type { TimedStep } from '../recipes/common/step-time.ts'
import { formatBytes, formatCount, formatInteger, threeDigits } from '../util/format.ts'
import { ASSUMPTIONS, type AssumptionName, type Pace } from './assumptions.ts'
import type { RunCheck, StageCheck } from './check-run.ts'
import type { EngineSpeed } from './engine-time.ts'
import type { Grading, PlanRequest, RangedPlan, StepPlan } from './step-plan.ts'

const secondsText = (seconds: number | null): string =>
  seconds === null ? 'unknown' : seconds === 0 ? '0 s' : `${threeDigits(seconds)} s`

/** `42 s (12 to 180)`: what is usual, and from a quick to a slow day. */
const ranged = (plan: RangedPlan, pick: (plan: StepPlan) => number | null): string => {
  const [quick, usual, slow] = [plan.quick, plan.usual, plan.slow].map(pick)
  if (usual === null || quick === null || slow === null) return 'unknown'
  const [low, high] = [Math.min(quick, usual, slow), Math.max(quick, usual, slow)]
  return `${threeDigits(usual)} s (${threeDigits(low)} to ${threeDigits(high)})`
}

const BOUND_WORDS: Readonly<Record<StepPlan['sampling'][number]['bound'], string>> = {
  weights:
    'reading the weights for every token: more rows at a time cost little more; more GPUs a copy or fewer bits make it shorter',
  cache: 'reading keys and values: shorter samples, or a model with fewer key heads',
  arithmetic: 'arithmetic: more GPUs, or fewer tokens',
  overhead:
    'what the sampler does between tokens: a shorter longest sample (rollout.maxTokens), or a leaner sampler',
}

const ADVICE: Readonly<Record<StepPlan['bottleneck'], (plan: StepPlan) => string>> = {
  sampling: ({ sampling }) => {
    const longest = sampling.reduce((a, b) => (b.seconds > a.seconds ? b : a))
    return `most of it is ${longest.prefill > longest.decode ? 'reading prompts: arithmetic' : BOUND_WORDS[longest.bound]}; pipeline: true samples beside learning`
  },
  grading: () =>
    'more judge servers, a smaller judge, or fewer calls: ask.shape rubric asks about all criteria at once',
  update: ({ update }) =>
    update.scoring > update.learning
      ? 'most of it is scoring: a loss without KL needs no reference'
      : 'arithmetic: more GPUs, LoRA (a third less), or fewer epochs',
}

const describeGrading = (grading: Grading): string => {
  if (grading.kind === 'model') return `${grading.gpus.gpu.name}:${grading.gpus.count} for the judge`
  if (grading.kind === 'rate') return `at ${formatInteger(grading.callsPerSecond)} calls a second`
  return 'say --judge-rate, or --judge-model and --judge-gpus'
}

const judgeLines = ({ usual }: RangedPlan, { grading }: PlanRequest): string[] => {
  const { judge } = usual
  if (judge === null) return ['judge        none: graded in this process']
  return [
    `judge        ${formatInteger(judge.callsPerStep)} calls a step: ${formatCount(judge.tokensIn)} tokens in, ${formatCount(judge.sharedIn)} of them in its prefix cache, ${formatCount(judge.tokensOut)} out (${describeGrading(grading)})`,
    `             hidden behind sampling from ${threeDigits(judge.callsPerSecond)} calls, ${formatInteger(judge.tokensInPerSecond)} tokens in and ${formatInteger(judge.tokensOutPerSecond)} out a second`,
  ]
}

const memoryLines = ({ usual: { memory } }: RangedPlan, { work }: PlanRequest): string[] => [
  `memory       of ${formatBytes(memory.perGpu)} a GPU: learning ${formatBytes(memory.learning)} (state ${formatBytes(memory.state)}, activations ${formatBytes(memory.activations)})${work.supervised ? '' : `, sampling ${formatBytes(memory.sampling)} with one row`}`,
  memory.fits
    ? '             fits'
    : `             does not fit: ${memory.activations > memory.state ? 'a smaller --micro-batch-tokens' : 'more GPUs, or LoRA (model.lora)'}`,
]

const costLines = ({ usual: { hours, gpuHours, cost } }: RangedPlan, { work }: PlanRequest): string[] => [
  `in all       ${formatInteger(work.steps)} steps: ${hours === null ? 'unknown' : `${threeDigits(hours)} h, ${threeDigits(gpuHours!)} GPU-hours`}, without evaluations`,
  ...(cost.gpus === null ? [] : [`cost         GPUs ${threeDigits(cost.gpus)}`]),
  ...(cost.judge === null ? [] : [`cost         judge ${threeDigits(cost.judge)}`]),
]

/** Settings that were assumed, and not given. */
const assumptionLines = ({ quick, usual, slow }: RangedPlan, { set }: PlanRequest): string[] => [
  'assumed      (--assume NAME=VALUE; from quick over usual to slow)',
  ...(Object.keys(ASSUMPTIONS) as AssumptionName[]).map(name => {
    const values =
      set[name] === undefined
        ? [quick, usual, slow].map(plan => plan.assumed[name]).join(' / ')
        : `${set[name]}, as told`
    return `             ${name} ${values}: ${ASSUMPTIONS[name].about}`
  }),
]

const stepText = (plan: RangedPlan): string => {
  const overlapped = ranged(plan, each => each.seconds.overlapped)
  if (plan.usual.judge === null) return overlapped
  return `${overlapped} with grading beside sampling, ${ranged(plan, each => each.seconds.inTurn)} in turn`
}

/** The plan of a set of GPUs. */
export const planLines = (plan: RangedPlan, request: PlanRequest): string[] => {
  const { usual } = plan
  const { work, gpus } = request
  const { together, copies, rows } = usual.sampling[0]?.placement ?? {
    together: 1,
    copies: gpus.count,
    rows: 0,
  }
  return [
    ...(work.critic
      ? [
          'critic       trained in one process here, on GPUs by a service that offers one (ppo_critic, as SkyRL does on its FSDP backend): else this is for a trainer of your own',
        ]
      : []),
    `model        ${work.model}`,
    `on           ${gpus.gpu.name}:${gpus.count}${work.supervised ? '' : `; sampler: ${copies} ${copies === 1 ? 'copy' : 'copies'} of ${together} GPU each, ${formatInteger(rows)} rows of memory a copy`}`,
    ...usual.sampling.map(
      (own, i) =>
        `sampling     ${own.role}: ${ranged(plan, each => each.sampling[i].seconds)}, of it reading prompts ${secondsText(own.prefill)}`,
    ),
    ...(usual.judge === null ? [] : [`grading      ${ranged(plan, each => each.seconds.grading)}`]),
    `update       ${ranged(plan, each => each.seconds.update)}: scoring ${secondsText(usual.update.scoring)}, learning ${secondsText(usual.update.learning)}, optimiser ${secondsText(usual.update.optimizer)}`,
    `between      ${ranged(plan, each => each.seconds.sync)}; a GPU sends ${formatBytes(usual.update.gradientBytes)} of gradients and takes ${formatBytes(usual.update.weightBytes)} of weights`,
    `a step       ${stepText(plan)}; ${formatCount(usual.sampledTokens)} new tokens, ${usual.update.flop.toExponential(1)} operations of learning`,
    `bottleneck   ${usual.bottleneck}: ${ADVICE[usual.bottleneck](usual)}`,
    ...judgeLines(plan, request),
    ...memoryLines(plan, request),
    ...costLines(plan, request),
    ...assumptionLines(plan, request),
  ]
}

/** The plan of this machine. */
export const enginePlanLines = (
  plan: Record<Pace, TimedStep>,
  speed: EngineSpeed,
  steps: number,
): string[] => {
  const of = (pick: (plan: TimedStep) => number) =>
    `${threeDigits(pick(plan.usual))} s (${threeDigits(pick(plan.quick))} to ${threeDigits(pick(plan.slow))})`
  return [
    `on           this machine: ${speed.threads} threads${speed.engines > 1 ? ` in ${speed.engines} engines` : ''}, learning from groups at ${threeDigits(speed.groupTrainGflops)} GFLOP/s`,
    `sampling     ${of(({ sampling }) => sampling)}`,
    `update       ${of(({ update }) => update)}`,
    `a step       ${of(({ step }) => step)}, without what graders take beyond sampling`,
    `in all       ${formatInteger(steps)} steps: ${threeDigits((steps * plan.usual.step) / 60)} minutes, without evaluations`,
  ]
}

const stageLine = (name: string, { planned, measured, ratio }: StageCheck): string =>
  `${name.padEnd(13)}${planned === null ? 'not planned' : `planned ${secondsText(planned)}`}, measured ${secondsText(measured)}${ratio === null ? '' : `: ${threeDigits(ratio)} of it`}`

/** A check in words. */
export const checkLines = ({
  steps,
  sampling,
  grading,
  update,
  known,
  lengths,
  learntShare,
}: RunCheck): string[] => [
  stageLine('sampling', sampling),
  stageLine('update', update),
  stageLine('both', known),
  stageLine('grading', grading),
  `lengths      ${Object.entries(lengths)
    .map(
      ([name, own]) =>
        `${name} ${threeDigits(own.newTokens)} tokens, longest ${threeDigits(own.longestTokens)}`,
    )
    .join(
      '; ',
    )}; ${learntShare === 1 ? 'all groups' : `${threeDigits(100 * learntShare)}% of the groups`} learnt from`,
  `over         ${steps} steps, medians`,
]
