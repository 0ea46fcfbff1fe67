/**
 * @file RubricEM (arXiv 2605.10899): agents that plan, research, review and answer; a judge whose rubrics evolve stage by stage;
 * credit by stage (SS-GRPO); a reflection policy whose accepted lessons later attempts are shown.
 *
 * Algorithm 1. A window has K steps of fresh questions, then the same batches once more:
 *
 *   agents      n attempts at each question, shown lessons: fresh ones of similar questions, repeated ones of their first attempt
 *   judge       proposes rubrics for each stage from all n, scores every attempt, R[i, j] in [0, 1] for stage j of attempt i, and
 *               drops rubrics that do not discriminate
 *   SS-GRPO     G[i, k] = Σ_{j ≥ k} Λ[k, j] R[i, j];  A[i, k] = (G[i, k] - mean_i G[i, k]) / (std_i G[i, k] + ε), on the tokens of
 *               stage k. Λ, rows plan, research, review, answer:  1 .4 .6 .8 | 0 1 .4 .8 | 0 0 1 .8 | 0 0 0 1
 *   reflection  the same policy looks back at one attempt of each fresh question, m times; a judge says how useful each is, u; the
 *               best, if it reaches a threshold, goes into the bank; A = (u - mean u) / (std u + ε)
 *   update      Phase A on reflections, one step later, then Phase B on attempts: clipped, with a KL term (k3)
 *
 * Where the paper is silent or contradicts itself, with the settings; docs/recipes/rubricem.md has the rest:
 * - Reflections in fresh steps alone (`window.reflectOnRepeat`); utility by the prompt's weights (`reflection.utility`).
 * - What a failed scoring leaves (`credit.failed`), and a stage that an attempt lacks (`credit.missing`).
 * - A mean over tokens, where the paper adds up the tokens of a sequence (`loss`).
 * - But for preset `paper` the judge is not shown the middle of long parts (`evolving.shownCharacters`).
 */

import { assertScored, EvolvingBuffers, rubricRow, type StageAnchors } from '../../grade/evolving/index.ts'
import { type RubricBank, windowRetrieval, windowStep } from '../../memory/index.ts'
import { grpoAdvantages } from '../../rl/advantages.ts'
import { advantagesOf, type Credited, creditRollouts, datumsOf, type Groups } from '../../rl/rollout.ts'
import type { StagedRead } from '../../tasks/stages.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { learntFrom, type Phase, type Recipe, type StepUpdate } from '../../train/recipe.ts'
import { joinedState } from '../../train/recipe-state.ts'
import type { StepIo } from '../../train/rollout.ts'
import { type ProblemStream, problemsOf } from '../common/problem-order.ts'
import { phaseOf } from '../common/training.ts'
import { attempt, creditAttempts, type RolledStep } from './attempts.ts'
import { type RubricemConfig, topOf } from './config.ts'
import { agentRow, reflectorRow, rubricemMetrics } from './metrics.ts'
import {
  DeferredBatch,
  judgementsOf,
  type Reflected,
  type ReflectionGrade,
  reflect,
  rewardReflections,
} from './reflections.ts'

export interface RubricemParts<Problem> {
  task: TaskWith<Problem, 'world' | 'stages'>
  /** Null: no memory. */
  bank: RubricBank | null
  /** What new rubrics have to tell apart; absent: nothing. */
  anchors?: StageAnchors<Problem>
  evaluate: Recipe<unknown>['evaluate']
  /** Called when the bank has changed. */
  onBank?(step: number): void
}

/** The parts of a run, and what lives across its steps. */
interface Own<Problem> extends RubricemParts<Problem> {
  config: RubricemConfig
  problem: ProblemStream<Problem>
  buffers: EvolvingBuffers
  deferred: DeferredBatch
}

export const rubricem = <Problem>(
  config: RubricemConfig,
  parts: RubricemParts<Problem>,
): Recipe<RolledStep<Problem>> => {
  const { bank, task, evaluate } = parts
  const [buffers, deferred] = [new EvolvingBuffers(), new DeferredBatch()]
  const own = { ...parts, config, problem: problemsOf(task, config.seed), buffers, deferred }
  return {
    rollOut: (step, io) => rollOut(own, step, io),
    learn: (step, rolled) => learn(own, step, rolled),
    evaluate,
    ...joinedState({ buffers, deferred, bank }),
  }
}

/** A step of the window: its problems with their lessons, attempts at them, and in fresh steps reflections on those. */
const rollOut = async <Problem>(own: Own<Problem>, step: number, io: StepIo) => {
  const { config, task, bank, buffers } = own
  const { reflection, rollout } = config
  const plan = windowStep(step, config.window)
  const first = plan.batch * rollout.prompts
  const problems = Array.from({ length: rollout.prompts }, (_, i) => own.problem(first + i))
  // Read before anything is waited for: the step before may be learnt from meanwhile.
  const before = problems.map(problem => buffers.of(task.id(problem)))
  const asked = problems.map(problem => task.question(problem))
  const retrievals = bank ? await bank.retrieve(asked, windowRetrieval(plan, topOf(config))) : null
  const reflects = reflection.enabled && plan.reflects
  const { agents, judging } = await attempt(own, io, { step, problems, before, retrievals, last: !reflects })
  const reflections = reflects ? await reflect(own, io, step, agents, judgementsOf(agents, judging)) : []
  return { plan, retrievals, agents, judged: await Promise.all(judging), reflections }
}

/** Credit of attempts and of reflections; what is kept of both; Phase A, then Phase B. */
const learn = async <Problem>(
  own: Own<Problem>,
  step: number,
  rolled: RolledStep<Problem>,
): Promise<StepUpdate> => {
  const { config, task, bank, buffers } = own
  const { judged, retrievals } = rolled
  assertScored(judged)
  for (const { key, after } of judged) buffers.keep(key, after)
  // G[i, k] and A[i, k], on the tokens of stage k.
  const attempts = creditAttempts(config, step, rolled)
  const reflected = rewardReflections(task, config.reflection, rolled.reflections, step)
  // u, and A of reflections.
  const among = advantagesOf(reflected.candidates, rewards => grpoAdvantages(rewards, config.advantage))
  const reflections = creditRollouts(reflected.candidates, among.advantages_P_G)
  if (bank) {
    if (retrievals) bank.used(retrievals)
    await bank.add(reflected.accepted)
    own.onBank?.(step)
  }
  const shown = new Map(retrievals?.map((found, p) => [judged[p].key, found]))
  return {
    phases: [
      ...(config.reflection.enabled && config.reflection.learn ? [phaseA(own, reflections)] : []),
      phaseB(config, attempts.credited),
    ],
    metrics: rubricemMetrics(own, rolled, attempts, reflected),
    rollouts: [
      ...learntFrom(attempts.credited, item =>
        agentRow(task, step, item, judged, shown.get(task.id(item.problem))),
      ),
      ...learntFrom(reflections, item => reflectorRow(task, step, item)),
    ],
    rubrics: judged.map(group => rubricRow(group, config.evolving.journal)),
  }
}

/** Phase A: what reflections teach, those of the step before or of this one. */
const phaseA = <Problem>(
  { config, deferred }: Pick<Own<Problem>, 'config' | 'deferred'>,
  reflections: Groups<Credited<Reflected<Problem>, ReflectionGrade>>,
): Phase => {
  const { temperature, deferred: stale } = config.reflection
  const now = datumsOf(reflections, { dropZero: config.dropZero })
  const sampling = { ...config, rollout: { ...config.rollout, temperature } }
  return { ...phaseOf(sampling, stale ? deferred.swap(now) : now, 'reflection'), stale, compared: true }
}

/** Phase B: SS-GRPO on this step's attempts. */
const phaseB = (config: RubricemConfig, credited: Groups<Credited<unknown, StagedRead>>): Phase => ({
  ...phaseOf(config, datumsOf(credited, { dropZero: config.dropZero, ratio: 'sampled' }), 'task'),
  compared: true,
})
