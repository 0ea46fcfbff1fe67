/**
 * @file RubricEM: agents that plan, research, review and answer; a judge whose rubrics evolve stage by stage; credit by stage; a
 * reflection policy whose accepted lessons later attempts are shown (Algorithm 1; spec 5).
 *
 * 1. A window has K steps of fresh questions, then the same batches once more. Fresh questions are shown lessons of similar ones,
 *    repeated ones those of their own first attempt.
 * 2. n agents attempt each question. The judge proposes rubrics for each stage from all of them, scores every rollout, and drops
 *    what does not discriminate.
 * 3. Rewards of stages become returns by a matrix of stage weights, and advantages on the tokens of that stage (SS-GRPO).
 * 4. The same policy looks back at one attempt of each fresh question, m times. A judge says how useful that is; the best goes into
 *    the bank, and all of them are learnt from, one step later.
 *
 * Where the paper is silent or contradicts itself, each a setting (docs/recipes/rubricem.md): reflections in fresh steps alone
 * (`window.reflectOnRepeat`), utility by the prompt's weights (`reflection.utility`), what a failed scoring leaves
 * (`credit.failed`).
 */

import {
  assertScored,
  EvolvingBuffers,
  evolvingFigures,
  type JudgedGroup,
  judgeGroup,
  type QuestionRubrics,
  rubricRow,
} from '../../grade/evolving/index.ts'
import {
  countFallbacks,
  type Retrieval,
  type RubricBank,
  type WindowStep,
  windowRetrieval,
  windowStep,
} from '../../memory/index.ts'
import { type Credited, datumsOf, type Graded, type Groups, type Rollout } from '../../rl/rollout.ts'
import { creditStages, stageAdvantages } from '../../rl/stage-credit.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { StagedRead } from '../../tasks/stages.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { type Lesson, learntFrom, type Phase, type Recipe } from '../../train/recipe.ts'
import type { Io } from '../../train/rollout.ts'
import { mean } from '../../util/descriptive.ts'
import { type ProblemStream, problemsOf } from '../common/problem-order.ts'
import { dropoutFigures } from '../common/rubric-dropout.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import { type RubricemConfig, topOf } from './config.ts'
import { controlled } from './control.ts'
import { DeferredBatch } from './deferred.ts'
import { leftOutRubrics, rewardsWithout, stageRubricsWithout } from './dropout.ts'
import { memoryFigures, reflectionFigures } from './figures.ts'
import {
  type Candidate,
  creditReflections,
  gradeReflections,
  type JudgementOf,
  judgementsOf,
  pickAttempts,
  type Reflected,
  type ReflectionGrade,
  type Reflections,
  rewardReflections,
} from './reflections.ts'
import { agentRow, reflectorRow } from './rows.ts'

export interface RubricemParts<Problem> {
  task: TaskWith<Problem, 'world' | 'stages'>
  /** Null: no memory. */
  bank: RubricBank | null
  evaluate: Recipe<unknown>['evaluate']
  /** Told when the bank has changed. */
  onBank?(step: number): void
}

/** What a step rolled out. */
export interface RolledStep<Problem> {
  plan: WindowStep
  retrievals: readonly Retrieval[] | null
  agents: Graded<Problem, StagedRead>[][]
  judged: JudgedGroup[]
  reflections: Candidate<Problem>[][]
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
    state: {
      save: () => ({
        buffers: buffers.save(),
        deferred: deferred.save(),
        ...(bank && { bank: bank.save() }),
      }),
      load: value => {
        const saved = value as { buffers: unknown; deferred: unknown; bank?: unknown }
        buffers.load(saved.buffers)
        deferred.load(saved.deferred)
        bank?.load(saved.bank)
      },
    },
  }
}

/** A step of the window: its problems with their lessons, attempts at them, and in fresh steps reflections on those. */
const rollOut = async <Problem>(own: Own<Problem>, step: number, io: Io): Promise<RolledStep<Problem>> => {
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

interface Attempted<Problem> extends Pick<RolledStep<Problem>, 'retrievals'> {
  step: number
  problems: readonly Problem[]
  before: readonly QuestionRubrics[]
  last: boolean
}

/** Attempts at problems, and their judgements, which begin as soon as a problem's group is there (spec 5.2). */
const attempt = async <Problem>(
  { config, task }: Own<Problem>,
  io: Io,
  { step, problems, before, retrievals, last }: Attempted<Problem>,
) => {
  const { world, stages } = task
  const { samples } = config.rollout
  const judging = new Array<Promise<JudgedGroup>>(problems.length)
  const judge = (p: number, rollouts: readonly Rollout[]) => {
    const question = problems[p]
    const group = {
      ...{ step, question, key: task.id(question), before: before[p] },
      rollouts: rollouts.map(rollout => stages.read(rollout).staged),
      persistent: stages.persistent(question),
    }
    judging[p] = judgeGroup(stages.judge, group, config.evolving)
    judging[p].catch(() => {})
  }
  const agents = await io.rollOut<Problem, StagedRead>({
    ...{ role: 'agent', problems, samples, last },
    prompt: problem => task.prompt(problem),
    sampledFrom: retrievals?.map((found, p) => {
      const shown = stages.reminded(problems[p], found)
      return Array.from({ length: samples }, () => shown)
    }),
    ratio: 'sampled',
    sampling: { ...samplingOf(config, task.stopTokens), stopStrings: world.stopStrings },
    environment: { world: world.environment, limits: world.limits },
    onGroup: judge,
    grade: async items => items.map(({ rollout }) => stages.read(rollout)),
  })
  return { agents, judging }
}

/** The same policy looks back at one attempt of each problem (spec 5.4). */
const reflect = <Problem>(
  { config, task }: Own<Problem>,
  io: Io,
  step: number,
  agents: RolledStep<Problem>['agents'],
  judgementOf: JudgementOf,
) => {
  const { seed, reflection } = config
  const { reflector } = task.stages
  const { maxTokens, temperature } = reflection
  return io.rollOut<Reflected<Problem>, ReflectionGrade>({
    role: 'reflector',
    problems: pickAttempts(agents, `${seed}/${step}/reflected`),
    prompt: ({ problem, attempt: seen }) => reflector.prompt(problem, seen),
    samples: reflection.candidates,
    sampling: { maxTokens, temperature, stopTokens: reflector.stopTokens },
    grade: items => gradeReflections(reflector, items, judgementOf),
    last: true,
  })
}

/** Credit of attempts and of reflections; what is kept of both; Phase A, then Phase B (spec 5.5). */
const learn = async <Problem>(
  own: Own<Problem>,
  step: number,
  rolled: RolledStep<Problem>,
): Promise<Lesson> => {
  const { config, task, bank, buffers } = own
  const { judged, retrievals } = rolled
  const { reflection } = config
  assertScored(judged)
  for (const { key, after } of judged) buffers.keep(key, after)
  const attempts = creditAttempts(config, step, rolled)
  const reflected = rewardReflections(task, reflection, rolled.reflections, step)
  const lookedBack = creditReflections(reflected.candidates, config.advantage)
  if (bank) {
    if (retrievals) bank.used(retrievals)
    await bank.add(reflected.accepted)
    own.onBank?.(step)
  }
  const shown = new Map(retrievals?.map((found, p) => [judged[p].key, found]))
  return {
    phases: [
      ...(reflection.enabled && reflection.learn ? [phaseA(own, lookedBack)] : []),
      phaseB(config, attempts.credited),
    ],
    metrics: stepFigures(own, rolled, attempts, reflected),
    rollouts: [
      ...learntFrom(attempts.credited, item =>
        agentRow(task, step, item, judged, shown.get(task.id(item.problem))),
      ),
      ...learntFrom(lookedBack, item => reflectorRow(task, step, item)),
    ],
    rubrics: judged.map(group => rubricRow(group, config.evolving.journal)),
  }
}

/** Phase A: what reflections teach, those of the step before or of this one. */
const phaseA = <Problem>(
  { config, deferred }: Pick<Own<Problem>, 'config' | 'deferred'>,
  lookedBack: Groups<Credited<Reflected<Problem>, ReflectionGrade>>,
): Phase => {
  const { temperature, deferred: stale } = config.reflection
  const now = datumsOf(lookedBack, { dropZero: config.dropZero })
  const sampling = { ...config, rollout: { ...config.rollout, temperature } }
  return { ...phaseOf(sampling, stale ? deferred.swap(now) : now, 'reflection'), stale, compared: true }
}

/** Phase B: SS-GRPO on this step's attempts. */
const phaseB = (config: RubricemConfig, credited: Groups<Credited<unknown, StagedRead>>): Phase => ({
  ...phaseOf(config, datumsOf(credited, { dropZero: config.dropZero, ratio: 'sampled' }), 'task'),
  compared: true,
})

/** Rewards of stages become returns, advantages, and those a token each (spec 5.3). */
const creditAttempts = <Problem>(
  config: RubricemConfig,
  step: number,
  { agents, judged }: Pick<RolledStep<Problem>, 'agents' | 'judged'>,
) => {
  const { control, credit, advantage } = config
  const leftOut = judged.map(group => leftOutRubrics(config, group, step))
  const rewards_P_G_K = judged.map((group, p) => {
    const given = rewardsWithout(group, leftOut[p])
    const paid = control === null ? given : controlled(given, control, `${step}/${group.key}`)
    // Of an attempt whose world failed nothing is known, whatever the judge makes of what is there of it.
    const isKnown = (g: number) => agents[p][g].rollout.end !== 'failed'
    return paid.map((rewards_K, g) => (isKnown(g) ? rewards_K : rewards_K.map(() => null)))
  })
  const { advantages_P_G_K, ...counts } = stageAdvantages(rewards_P_G_K, { ...advantage, ...credit })
  const rewarded = agents.map((group, p) =>
    group.map((item, g) => {
      const [plan, research, review, answer] = rewards_P_G_K[p][g]
      return { ...item, reward: answer, parts: { plan, research, review, answer } }
    }),
  )
  const credited = creditStages(rewarded, advantages_P_G_K, ({ grade }) => grade.tokenStages, credit.mode)
  return { credited, leftOut, counts }
}

const stepFigures = <Problem>(
  { config, task, bank }: Own<Problem>,
  { plan, retrievals, agents, judged, reflections }: RolledStep<Problem>,
  { credited, leftOut, counts }: ReturnType<typeof creditAttempts<Problem>>,
  reflected: Reflections<Problem>,
): Omit<MetricsRow, 'step'> => {
  const known = credited.flat().flatMap(({ reward }) => (reward === null ? [] : [reward]))
  const rollouts = agents.flat().map(({ rollout }) => rollout)
  return {
    reward: known.length === 0 ? null : mean(known),
    ...evolvingFigures(judged),
    ...dropoutFigures(
      config,
      judged.map((group, p) => stageRubricsWithout(group, leftOut[p])),
    ),
    zeroVarianceGroups: counts.zeroVarianceGroups / Math.max(1, counts.groups),
    failedScoringRollouts: counts.failedRollouts,
    ...(bank && retrievals && memoryFigures(plan, retrievals, bank.size, countFallbacks(retrievals))),
    ...(reflections.length > 0 && reflectionFigures(reflected)),
    ...task.stages.figures?.(rollouts),
  }
}
