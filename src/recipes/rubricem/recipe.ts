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
  type StageJudge,
} from '../../grade/evolving/index.ts'
import {
  countFallbacks,
  type Json,
  type Retrieval,
  type RubricBank,
  type WindowStep,
  windowRetrieval,
  windowStep,
} from '../../memory/index.ts'
import { datumsOf, type Graded, type GroupedDatum, type Rollout } from '../../rl/rollout.ts'
import { creditStages, type StageRewards, stageAdvantages } from '../../rl/stage-credit.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { type LearntRollout, learntFrom, type Phase, type Recipe } from '../../train/recipe.ts'
import type { Io } from '../../train/rollout.ts'
import type { ProblemStream } from '../common/problem-order.ts'
import { dropoutFigures } from '../common/rubric-dropout.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import { type RubricemConfig, topOf } from './config.ts'
import { controlled } from './control.ts'
import { loadBatch, saveBatch } from './deferred.ts'
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
  rewardReflections,
} from './reflections.ts'
import type { ReflectionJudge, ResearchTask, StagedRead } from './research-task.ts'
import { agentRow, reflectorRow } from './rows.ts'

export interface RubricemParts<Question, Takeaways extends Json> {
  /** Fresh questions, in their order. */
  question: ProblemStream<Question>
  task: ResearchTask<Question, Takeaways>
  judge: StageJudge<Question>
  reflectionJudge: ReflectionJudge<Question, Takeaways>
  /** Null: no memory. */
  bank: RubricBank<Takeaways> | null
  evaluate: Recipe<unknown>['evaluate']
  /** Told when the bank has changed. */
  onBank?(step: number): void
  /** What judges took since this was last asked; it depends on the clock. */
  figures?(): MetricGroup
}

/** What a step rolled out. */
export interface RolledStep<Question, Takeaways extends Json> {
  plan: WindowStep
  retrievals: readonly Retrieval<Takeaways>[] | null
  agents: Graded<Question, StagedRead>[][]
  judged: JudgedGroup[]
  reflections: Candidate<Question, Takeaways>[][]
}

export const rubricem = <Question, Takeaways extends Json>(
  config: RubricemConfig,
  parts: RubricemParts<Question, Takeaways>,
): Recipe<RolledStep<Question, Takeaways>> => {
  const { rollout, reflection, evolving, credit, advantage } = config
  const { task, bank, judge } = parts
  const buffers = new EvolvingBuffers()
  let deferred: GroupedDatum[] = []

  /** The rollouts of a step's agents, and their judgements, which begin as soon as a question's group is there. */
  const rollOutAgents = async (
    step: number,
    io: Io,
    questions: readonly Question[],
    before: readonly QuestionRubrics[],
    retrievals: RolledStep<Question, Takeaways>['retrievals'],
    last: boolean,
  ) => {
    const judging = new Array<Promise<JudgedGroup>>(questions.length)
    const judgeQuestion = (p: number, rollouts: readonly Rollout[]) => {
      const question = questions[p]
      const group = {
        ...{ step, question, key: task.name(question), before: before[p] },
        rollouts: rollouts.map(own => task.read(question, own).staged),
        persistent: task.persistent(question),
      }
      judging[p] = judgeGroup(judge, group, evolving)
      judging[p].catch(() => {})
    }
    const agents = await io.rollOut<Question, StagedRead>({
      ...{ role: 'agent', problems: questions, samples: rollout.samples, last },
      prompt: question => task.prompt(question, null),
      sampledFrom: retrievals?.map((found, p) => {
        const shown = task.prompt(questions[p], found)
        return Array.from({ length: rollout.samples }, () => shown)
      }),
      ratio: 'sampled',
      sampling: { ...samplingOf(config, task.stopTokens), stopStrings: task.stopStrings },
      environment: { world: task.world, limits: task.limits },
      onGroup: judgeQuestion,
      grade: async items => items.map(({ problem, rollout: own }) => task.read(problem, own)),
    })
    return { agents, judging }
  }

  const rollOutReflections = (
    step: number,
    io: Io,
    agents: RolledStep<Question, Takeaways>['agents'],
    judgementOf: JudgementOf,
  ) =>
    io.rollOut<Reflected<Question>, ReflectionGrade<Takeaways>>({
      role: 'reflector',
      problems: pickAttempts(agents, `${config.seed}/${step}/reflected`),
      prompt: ({ question, attempt }) => task.reflectorPrompt(question, attempt),
      samples: reflection.candidates,
      sampling: {
        maxTokens: reflection.maxTokens,
        temperature: reflection.temperature,
        stopTokens: [...task.reflectorStopTokens],
      },
      grade: items => gradeReflections(task, parts.reflectionJudge, items, judgementOf),
      last: true,
    })

  /** Phase A: what a step's reflections teach, of the step before or of this one. */
  const reflectionPhase = (now: readonly GroupedDatum[]): Phase[] => {
    if (!reflection.enabled || !reflection.learn) return []
    const datums = reflection.deferred ? deferred : now
    if (reflection.deferred) deferred = [...now]
    const { temperature } = reflection
    return [
      {
        ...phaseOf({ ...config, rollout: { ...rollout, temperature } }, datums),
        ...{ name: 'reflection', stale: reflection.deferred, compared: true },
      },
    ]
  }

  return {
    async rollOut(step, io) {
      const plan = windowStep(step, config.window)
      const first = plan.batch * rollout.prompts
      const questions = Array.from({ length: rollout.prompts }, (_, i) => parts.question(first + i))
      // Read before anything is waited for: the step before may be learnt from meanwhile.
      const before = questions.map(own => buffers.of(task.name(own)))
      const retrievals = bank
        ? await bank.retrieve(
            questions.map(own => task.question(own)),
            windowRetrieval(plan, topOf(config)),
          )
        : null
      const reflects = reflection.enabled && plan.reflects
      const { agents, judging } = await rollOutAgents(step, io, questions, before, retrievals, !reflects)
      const judgementOf = judgementsOf(agents, judging)
      const reflections = reflects ? await rollOutReflections(step, io, agents, judgementOf) : []
      return { plan, retrievals, agents, judged: await Promise.all(judging), reflections }
    },

    async learn(step, { plan, retrievals, agents, judged, reflections }) {
      assertScored(judged)
      for (const { key, after } of judged) buffers.keep(key, after)
      const leftOut = judged.map(group => leftOutRubrics(config, group, step))
      const rewards_P_G_K = judged.map((group, p) => {
        const { key } = group
        const given = rewardsWithout(group, leftOut[p])
        const paid = config.control === null ? given : controlled(given, config.control, `${step}/${key}`)
        return paid.map((own, g) => knownRewards(own, agents[p][g].rollout))
      })
      const { advantages_P_G_K, ...counts } = stageAdvantages(rewards_P_G_K, { ...advantage, ...credit })
      const rewarded = agents.map((group, p) =>
        group.map((item, g) => {
          const [planned, researched, reviewed, answered] = rewards_P_G_K[p][g]
          const parts = { plan: planned, research: researched, review: reviewed, answer: answered }
          return { ...item, reward: answered, parts }
        }),
      )
      const credited = creditStages(rewarded, advantages_P_G_K, ({ grade }) => grade.tokenStages, credit.mode)
      const reflected = rewardReflections(task, reflections, reflection, step)
      const lookedBack = creditReflections(reflected.candidates, advantage)
      if (bank) {
        if (retrievals) bank.used(retrievals)
        await bank.add(reflected.accepted.map(own => own.reflection))
        parts.onBank?.(step)
      }
      const { dropZero } = config
      const own = datumsOf(credited, { dropZero, ratio: 'sampled' })
      const placeOf = new Map(judged.map(({ key }, p) => [key, p]))
      const retrievalOf = (problem: Question) => retrievals?.[placeOf.get(task.name(problem)) ?? -1] ?? null
      const rollouts: LearntRollout[] = [
        ...learntFrom(credited, (item: (typeof credited)[number][number]) =>
          agentRow(task, step, item, judged, retrievalOf(item.problem)),
        ),
        ...learntFrom(lookedBack, item => reflectorRow(task, step, item)),
      ]
      return {
        phases: [
          ...reflectionPhase(datumsOf(lookedBack, { dropZero })),
          { ...phaseOf(config, own), name: 'task', compared: true },
        ],
        metrics: {
          reward: meanReward(rewarded),
          ...evolvingFigures(judged),
          ...dropoutFigures(
            config,
            judged.map((group, p) => stageRubricsWithout(group, leftOut[p])),
          ),
          zeroVarianceGroups: counts.zeroVarianceGroups / Math.max(1, counts.groups),
          failedScoringRollouts: counts.failedRollouts,
          ...(bank && retrievals && memoryFigures(plan, retrievals, bank.size, countFallbacks(retrievals))),
          ...(reflections.length > 0 && reflectionFigures(reflected)),
          ...task.figures?.(agents.flat()),
          ...(parts.figures && { time: parts.figures() }),
        },
        rollouts,
        rubrics: judged.map(group => rubricRow(group, evolving.journal)),
      }
    },

    evaluate: parts.evaluate,

    state: {
      save: () => ({
        buffers: buffers.save(),
        deferred: saveBatch(deferred),
        ...(bank && { bank: bank.save() }),
      }),
      load: value => {
        const saved = value as { buffers: unknown; deferred: unknown; bank?: unknown }
        buffers.load(saved.buffers)
        deferred = loadBatch(saved.deferred)
        bank?.load(saved.bank)
      },
    },
  }
}

/** Of an attempt whose world failed nothing is known, whatever the judge makes of what is there of it. */
const knownRewards = (rewards_K: StageRewards, { end }: Rollout): StageRewards =>
  end === 'failed' ? rewards_K.map(() => null) : rewards_K

const meanReward = (groups: readonly (readonly { reward: number | null }[])[]): number | null => {
  const known = groups.flat().flatMap(({ reward }) => (reward === null ? [] : [reward]))
  return known.length === 0 ? null : known.reduce((sum, own) => sum + own, 0) / known.length
}
