/** @file Settings of rlcer that would silently be ignored or cannot work, refused before anything runs. */

import { PROPOSAL_CATEGORIES, plainCategory } from '../../grade/proposal/index.ts'
import { type AnchorRow, checkAnchors } from '../common/anchors-config.ts'
import { withCriticLoss } from '../common/critic.ts'
import { assertActions, assertLoss, refuse } from '../common/refuse.ts'
import type { RunMode } from '../common/run-mode.ts'
import { lambdaGroup } from '../common/scaffold-schedule.ts'
import { assertSamplerIsUsed } from '../common/training.ts'
import { checkOptions } from '../options/options.ts'
import { type RlcerConfig, rlcerSchema } from './config.ts'

/** @throws ConfigError naming the setting and what to do. */
export const checkRlcerSettings = (config: RlcerConfig): void => {
  checkRubricators(config)
  checkControl(config)
  checkOptions(config, {
    unpaid: unpaid(config),
    ...{ evolving: true, unnamed: true },
    allAsked: 'which criteria pay is decided by the verdicts on all of them',
  })
  checkCredit(config)
  assertSamplerIsUsed(config)
  assertActions(config)
  checkScaffold(config)
  checkLengths(config)
  checkTask(config)
}

/** Rows of the anchors' file, where one is named that is there. @throws ConfigError, DataError as `checkAnchors` */
export const checkThoughtAnchors = (config: RlcerConfig, purpose: RunMode): readonly AnchorRow[] =>
  checkAnchors(
    config,
    { proposes: config.rubricator.enabled, madeUp: config.task.kind !== 'questions' },
    purpose,
  )

/** Questions of files have no grammar, and nothing that executes criteria. */
const checkTask = ({ task, verifier, rubricator, coldStart }: RlcerConfig): void => {
  if (task.kind !== 'questions') checkCategories(rubricator)
  if (task.kind === 'arithmetic') return
  if (task.kind === 'logic') {
    if (coldStart !== null)
      refuse(
        'coldStart: expected null with task "logic", whose model logic-rubric-start makes, got settings',
        'run `gradus train logic-rubric-start`, name its last checkpoint in model.folder, and leave coldStart out',
      )
    return
  }
  if (verifier.kind !== 'judge' && verifier.kind !== 'learned')
    refuse(
      `verifier.kind: expected "judge" or "learned" with task "questions", whose criteria nothing can execute, got "${verifier.kind}"`,
      'set verifier.kind to "judge" and verifier.judge to a fleet of endpoints',
    )
  if (rubricator.constrained)
    refuse(
      'rubricator.constrained: expected false with task "questions", whose criteria have no grammar, got true',
      'leave rubricator.constrained out',
    )
  if (coldStart !== null)
    refuse(
      'coldStart: expected null with task "questions", which a chat model answers, got settings',
      'name a chat model in model.folder, and leave coldStart out',
    )
}

/** The grammar has names of its own: with none of them no rubric would ever keep the format. */
const checkCategories = ({ format: { categories } }: RlcerConfig['rubricator']): void => {
  const known = PROPOSAL_CATEGORIES.map(plainCategory)
  if (!categories.some(own => known.includes(plainCategory(own))))
    refuse(
      `rubricator.format.categories: expected some of the grammar's (${PROPOSAL_CATEGORIES.join('; ')}), got ${categories.join('; ')}`,
      'leave rubricator.format.categories out',
    )
}

const checkRubricators = ({ rubricator, reasonerReward, rollout, scaffold }: RlcerConfig): void => {
  const { enabled, format } = rubricator
  if (format.minCriteria > format.maxCriteria)
    refuse(
      `rubricator.format.minCriteria: expected at most ${format.maxCriteria}, the most criteria, got ${format.minCriteria}`,
      'lower it, or raise rubricator.format.maxCriteria',
    )
  if (enabled && rollout.samples < 2)
    refuse(
      `rollout.samples: expected at least 2 with rubricators, whose criteria are compared over them, got ${rollout.samples}`,
      'raise rollout.samples, or set rubricator.enabled to false',
    )
  if (enabled) return
  if (reasonerReward === 'outcome+rubric' || reasonerReward === 'rubric')
    refuse(
      `reasonerReward: expected "outcome" or "random" without rubricators, got "${reasonerReward}"`,
      'set rubricator.enabled to true, or reasonerReward to "outcome"',
    )
  if (scaffold !== null)
    refuse(
      'scaffold: expected null without rubricators, who propose what it shows, got settings',
      'set rubricator.enabled to true, or leave scaffold out',
    )
}

const checkControl = ({ control, controlAt, reasonerReward, rubricator }: RlcerConfig): void => {
  const paidByRubrics = reasonerReward === 'outcome+rubric' || reasonerReward === 'rubric'
  if (control !== null && !rubricator.enabled)
    refuse(`control: expected null without rubricators, got "${control}"`, 'leave control out')
  if (control !== null && controlAt === 'reward' && !paidByRubrics)
    refuse(
      `control: expected null with reasonerReward "${reasonerReward}", which no verdict is part of, got "${control}"`,
      'leave control out, or set controlAt to "verdicts"',
    )
  if (control === null && controlAt !== 'reward')
    refuse(
      `controlAt: expected nothing set without a control, got "${controlAt}"`,
      'set control, or leave controlAt out',
    )
}

/** Why no criterion has a part in what is paid. */
const unpaid = ({ reasonerReward, control, controlAt }: RlcerConfig): string | null => {
  if (reasonerReward === 'outcome' || reasonerReward === 'random')
    return `reasonerReward "${reasonerReward}", which no criterion is part of`
  return control === 'random' && controlAt === 'reward'
    ? 'control "random", whose verdicts say nothing anyway'
    : null
}

const checkCredit = ({ critic, advantage, loss, policy, rollout }: RlcerConfig): void => {
  if (critic === null && rollout.samples < 2)
    refuse(
      `rollout.samples: expected at least 2 without a critic, where the rollouts of a question are compared, got ${rollout.samples}`,
      'raise rollout.samples, or leave critic out',
    )
  const usual: Record<string, unknown> = rlcerSchema.parse({}).advantage
  if (critic !== null && Object.entries(advantage).some(([name, value]) => usual[name] !== value))
    refuse(
      `advantage: expected nothing set with a critic, which compares no groups, got ${JSON.stringify(advantage)}`,
      'leave advantage out, or set critic to null',
    )
  if (advantage.perPart && advantage.scale !== usual.scale)
    refuse(
      `advantage.scale: expected nothing set with advantage.perPart, which divides each part by its own spread, got "${advantage.scale}"`,
      'leave advantage.scale out, or set advantage.perPart to false',
    )
  assertLoss(policy, withCriticLoss(loss, critic), critic !== null)
}

const checkScaffold = ({ scaffold, ratio, rollout, task }: RlcerConfig): void => {
  if (scaffold === null && ratio !== 'plain')
    refuse(`ratio: expected "plain" without a scaffold, got "${ratio}"`, 'leave ratio out, or set scaffold')
  if (scaffold === null) return
  lambdaGroup(scaffold.group, rollout.samples)
  if (task.kind !== 'questions' && task.pool === null)
    refuse(
      'task.pool: expected a number of questions with a scaffold, whose criteria are kept for the next time that a question comes, got null',
      'set task.pool, for example to 512',
    )
}

const checkLengths = ({ overlong, rollout, evaluation }: RlcerConfig): void => {
  if (overlong !== null && overlong.buffer > rollout.maxTokens)
    refuse(
      `overlong.buffer: expected at most ${rollout.maxTokens}, rollout.maxTokens, got ${overlong.buffer}`,
      'lower overlong.buffer',
    )
  const most = Math.max(0, ...evaluation.bestOf)
  if (most > evaluation.samples)
    refuse(
      `evaluation.bestOf: expected at most ${evaluation.samples}, evaluation.samples, got ${most}`,
      'raise evaluation.samples',
    )
}
