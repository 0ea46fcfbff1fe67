/** @file Attempts of a step: rolled out, judged as soon as a problem's group is there, and credited by stage. */

import {
  type JudgedGroup,
  judgeGroup,
  type QuestionRubrics,
  STAGES,
  type StageAnchors,
  stageRewards,
} from '../../grade/evolving/index.ts'
import { STAGE_NAMES } from '../../grade/evolving/rubrics.ts'
import type { Retrieval, WindowStep } from '../../memory/index.ts'
import type { Graded, Rollout } from '../../rl/rollout.ts'
import { creditStages, type StageRewards, stageAdvantages } from '../../rl/stage-credit.ts'
import type { StagedRead } from '../../tasks/stages.ts'
import type { TaskWith } from '../../tasks/task.ts'
import type { StepIo } from '../../train/rollout.ts'
import { Rng } from '../../util/rng.ts'
import { samplingOf } from '../common/training.ts'
import { controlledOrder, controlledValue } from '../options/control.ts'
import { leftOutBy, type OptionSettings, scoringOf } from '../options/options.ts'
import type { RubricemConfig } from './config.ts'
import type { GradedReflection } from './reflections.ts'

/** Rewards of the attempts at one question under a control, by rollout and stage in [0, 1]; shuffled ones change places whole. */
export const controlledRewards = (
  rewards_G_K: readonly StageRewards[],
  control: RubricemConfig['control'],
  key: string,
): (number | null)[][] => {
  const rng = new Rng(`${control} rewards/${key}`)
  const changed = rewards_G_K.map(own => own.map(reward => controlledValue(control, reward, rng)))
  return controlledOrder(control, changed.length, rng).map(g => changed[g])
}

/** A question's rubrics as criteria, with the places of those that its rewards leave out in a step, drawn stage by stage. */
export const countedRubrics = (
  config: OptionSettings,
  { key, rubrics }: Pick<JudgedGroup, 'key' | 'rubrics'>,
  step: number,
) => {
  const criteria = rubrics.map(({ id, sign, weight }) => ({
    id,
    points: sign === 'positive' ? weight : -weight,
  }))
  const left = STAGES.flatMap(stage => {
    const own = rubrics.flatMap((rubric, i) => (rubric.stage === stage ? [i] : []))
    const asked = own.map(i => criteria[i])
    const found = leftOutBy(config, asked, step, `${key}/stage ${stage}`)
    return found ? [[...found.places].map(i => own[i])] : []
  })
  return { criteria, ...(left.length > 0 && { places: new Set(left.flat()) }) }
}

/**
 * Rewards of stages by the rubrics that are left, and by the rule that is set; of a rollout that could not be scored nothing more is
 * known than before.
 */
export const rewardsWithout = (
  config: Pick<Partial<RubricemConfig>, 'scoringRule'>,
  { rubrics, rollouts }: Pick<JudgedGroup, 'rubrics' | 'rollouts'>,
  leftOut?: ReadonlySet<number>,
): StageRewards[] => {
  const kept = rubrics.filter((_, i) => !leftOut?.has(i))
  const rule = config.scoringRule && scoringOf(config, 'drop')
  return rollouts.map(({ rollout, scores, rewards_K }) => {
    const plain = stageRewards(kept, rollout, scores)
    // Some rules have no score where only flaws are left of a stage; the method's own has one.
    const ruled = rule && stageRewards(kept, rollout, scores, rule)
    return rewards_K.map((known, k) => (known === null ? null : (ruled?.[k] ?? plain[k])))
  })
}

/** What a step rolled out. */
export interface RolledStep<Problem> {
  plan: WindowStep
  retrievals: readonly Retrieval[] | null
  agents: Graded<Problem, StagedRead>[][]
  judged: JudgedGroup[]
  reflections: GradedReflection<Problem>[][]
}

interface Attempted<Problem> extends Pick<RolledStep<Problem>, 'retrievals'> {
  step: number
  problems: readonly Problem[]
  before: readonly QuestionRubrics[]
  last: boolean
}

interface AttemptParts<Problem> {
  config: RubricemConfig
  task: TaskWith<Problem, 'world' | 'stages'>
  anchors?: StageAnchors<Problem>
}

/** Attempts at problems, and their judgements, which begin as soon as a problem's group is there. */
export const attempt = async <Problem>(
  { config, task, anchors }: AttemptParts<Problem>,
  io: StepIo,
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
      anchors,
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

/** Rewards of stages become returns, advantages, and those a token each. */
export const creditAttempts = <Problem>(
  config: RubricemConfig,
  step: number,
  { agents, judged }: Pick<RolledStep<Problem>, 'agents' | 'judged'>,
) => {
  const { control, credit, advantage } = config
  const counted = judged.map(group => countedRubrics(config, group, step))
  const rewards_P_G_K = judged.map((group, p) => {
    const given = rewardsWithout(config, group, counted[p].places)
    const paid = controlledRewards(given, control, `${step}/${group.key}`)
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
  const credited = creditStages(rewarded, advantages_P_G_K, ({ grade }) => grade.tokenStages, credit)
  return { credited, counted, counts }
}

/** Credited attempts, with what their rewards left out. */
export type CreditedAttempts<Problem> = ReturnType<typeof creditAttempts<Problem>>

/** `plan = plan + 0.5 × research`: what a stage hears of itself and of those behind it. */
const heard = (weights: readonly number[], k: number): string => {
  const parts = STAGE_NAMES.flatMap((stage, j) => {
    const weight = weights[j]
    if (j < k || weight === 0) return []
    return [weight === 1 ? stage : `${weight} × ${stage}`]
  })
  return `${STAGE_NAMES[k]} = ${parts.join(' + ')}`
}

/** How the rewards of a configuration come about. */
export const describeRubricemRewards = ({
  credit: { mode, lambda },
  reflection,
}: Pick<RubricemConfig, 'credit' | 'reflection'>): string => {
  const stage =
    'A stage is worth its weighted mean of the levels that the judge gives it by its rubrics, from 0 to 1.'
  const credit =
    mode === 'terminal'
      ? 'Every token of an attempt is paid by the answer’s worth alone.'
      : `Tokens of a stage are paid for it and for what follows: ${lambda.map(heard).join('; ')}.`
  const learns = reflection.enabled && reflection.learn
  return `${stage} ${credit}${learns ? ' A reflection is paid what its judge finds it worth.' : ''}`
}
