/** @file What a run of rlcer refuses before it trains; its plan refuses the same. */

import { PROPOSAL_CATEGORIES, plainCategory } from '../../grade/proposal/index.ts'
import { fewestTokens } from '../../model/automaton.ts'
import type { ModelConfig } from '../../model/config.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { openQuestions, questionFiles } from '../../tasks/questions/index.ts'
import { mainTest, type TaskWith } from '../../tasks/task.ts'
import { type AnchorRow, checkAnchors } from '../common/anchors.ts'
import { checkMethod } from '../common/method-check.ts'
import { LOGIC_THINKING, MINIATURES } from '../common/miniatures.ts'
import { startShape } from '../common/plan.ts'
import { mayBeMissing, type RunMode, refuse } from '../common/refuse.ts'
import { checkScaffold } from '../common/scaffold.ts'
import { assertWords, taskModel } from '../common/word-models.ts'
import type { RewardFacts } from '../options/option.ts'
import { checkOptions } from '../options/options.ts'
import { type RlcerConfig, rlcerSchema } from './config.ts'
import { checkVerifier, type RlcerRunParts } from './verifiers.ts'

/**
 * The checkpoint to start from; null when a cold start makes one, and in a plan when it comes later.
 * @param parts in place of those that the configuration's endpoints serve
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkRlcer = (
  config: RlcerConfig,
  purpose: RunMode,
  parts: RlcerRunParts = {},
): string | null => {
  const { task, rubricator } = config
  const given = checkMethod(config, purpose, {
    starts: task.kind === 'logic' ? 'logic-rubric-start' : 'arithmetic-cold-start',
    remote: [
      rubricator.constrained && [
        'rubricator.constrained',
        'false with policy.kind tinker, whose server holds samples to no grammar',
        'set it to false',
      ],
    ],
    settings() {
      checkRlcerSettings(config)
      checkThoughtAnchors(config, purpose)
    },
    ...(task.kind !== 'questions' && {
      assertReads: assertWords(task.kind === 'logic' ? 'logic-rubrics' : 'arithmetic'),
    }),
  })
  checkVerifier(config, purpose, parts)
  const shape = modelShape(config)
  if (task.kind !== 'questions') withMiniature(config, own => shape && checkRoom(own, config, shape))
  // What is there of files and model is read.
  else if (given !== null && !questionFiles(task).some(file => mayBeMissing(file, purpose)))
    withRlcerTask(config, given, () => null)
  return given
}

/** Refuses settings that would silently be ignored or cannot work. */
const checkRlcerSettings = (config: RlcerConfig): void => {
  checkRubricators(config)
  checkControl(config)
  checkCredit(config)
  checkOptions(config, {
    ...{ unpaid: unpaid(config), control: controlled(config) },
    ...{ evolving: true, unnamed: true, usualScale: 'batch' },
    allAsked: 'which criteria pay is decided by the verdicts on all of them',
  })
  checkScaffold(config)
  checkPool(config)
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
  if (!['judge', 'rules', 'learned'].includes(verifier.kind))
    refuse(
      `verifier.kind: expected "judge", "rules" or "learned" with task "questions", which executes no criteria, got "${verifier.kind}"`,
      'set verifier.kind to "judge" and verifier.judge to a fleet of endpoints, or to "rules" and verifier.file to criteria with rules',
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

const checkControl = ({ control, controlAt, rollout }: RlcerConfig): void => {
  if (control === null && controlAt !== 'reward')
    refuse(
      `controlAt: expected nothing set without a control, got "${controlAt}"`,
      'set control, or leave controlAt out',
    )
  if (control !== 'other-question') return
  if (controlAt !== 'reward')
    refuse(
      `controlAt: expected "reward" with control "other-question", whose criteria were chosen for another question, got "${controlAt}"`,
      'leave controlAt out, or take another control',
    )
  if (rollout.prompts < 2)
    refuse(
      `rollout.prompts: expected at least 2 with control "other-question", which pays a question by another one of its step, got ${rollout.prompts}`,
      'raise rollout.prompts, or take another control',
    )
}

/** Why no criterion has a part in what is paid. */
const unpaid = ({ reasonerReward }: RlcerConfig): string | null =>
  reasonerReward === 'outcome' || reasonerReward === 'random'
    ? `reasonerReward "${reasonerReward}", which no criterion is part of`
    : null

/** At the reward verdicts are changed that pay alone, at the verdicts those that valid criteria are chosen by as well. */
const controlled = (config: RlcerConfig): RewardFacts['control'] => {
  const noRubrics = config.rubricator.enabled ? null : 'rubricator.enabled false'
  return config.controlAt === 'reward'
    ? { of: 'scores', ignored: noRubrics ?? unpaid(config) }
    : { of: 'verdicts', ignored: noRubrics }
}

const checkCredit = ({ critic, advantage, rollout }: RlcerConfig): void => {
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
}

const checkPool = ({ scaffold, task }: RlcerConfig): void => {
  if (scaffold !== null && task.kind !== 'questions' && task.pool === null)
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

/** Shape of the model at the start; null where it is unknown before the model is there. */
export const modelShape = (config: RlcerConfig): ModelConfig | null =>
  startShape(config, taskModel('arithmetic'))

/** Test problems that are looked at for their lengths. */
const FITTED = 64

/**
 * A question leaves room for thinking, and with as much thinking as there may be for a rubric; and there is room for a rubric
 * in what a rubricator may write.
 */
const checkRoom = <Problem>(
  task: TaskWith<Problem, 'rubricator'>,
  { rollout, rubricator, evaluation }: RlcerConfig,
  { maxPositions }: ModelConfig,
): void => {
  const { enabled, maxTokens, format } = rubricator
  const { minCriteria: min } = format
  const shortest = task.rubricator.automaton?.({ min, max: min })
  const rubricTokens = shortest ? fewestTokens(shortest) : 0
  const isWritten = enabled || evaluation.hinted || evaluation.rubrics > 0
  if (enabled && maxTokens < rubricTokens)
    refuse(
      `rubricator.maxTokens: expected at least ${rubricTokens}, which the shortest rubric of ${format.minCriteria} criteria has, got ${maxTokens}; what is cut off is no rubric`,
      'raise it, or lower rubricator.format.minCriteria',
    )
  for (const problem of mainTest(task)[1].slice(0, FITTED)) {
    const { length } = task.prompt(problem)
    const name = `problem ${task.id(problem)}`
    assertRoom(name, length, Math.max(rollout.maxTokens, evaluation.maxTokens ?? 0), maxPositions)
    if (isWritten)
      assertRoom(
        `${name} with ${rollout.maxTokens} tokens of thinking, for a rubric (rubricator.maxTokens)`,
        length + rollout.maxTokens,
        rubricator.maxTokens,
        maxPositions,
      )
  }
}

type Use<Result> = <Problem>(task: TaskWith<Problem, 'thinking' | 'rubricator'>) => Result

type TaskSettings = Pick<RlcerConfig, 'task' | 'seed' | 'evaluation' | 'rollout' | 'rubricator'>

/** Does something with a miniature, which needs no files and no model; null for questions. @throws ConfigError for problems that no generator can hold */
export const withMiniature = <Result>(
  { task, seed, evaluation }: TaskSettings,
  use: Use<Result>,
): Result | null => {
  if (task.kind === 'questions') return null
  const draw = { seed: `train/${seed}`, tests: Math.max(evaluation.problems, evaluation.rubrics) }
  return task.kind === 'logic'
    ? use(LOGIC_THINKING.open(task, draw))
    : use(MINIATURES.arithmetic.open(task, draw))
}

/**
 * Does something with the configured task.
 * @param folder of the model
 * @throws ConfigError, DataError, CheckpointError for files and models that cannot be used
 */
export const withRlcerTask = <Result>(config: TaskSettings, folder: string, use: Use<Result>): Result => {
  const { task, rollout, rubricator } = config
  if (task.kind !== 'questions') return withMiniature(config, use)!
  const maxTokens = Math.max(rollout.maxTokens, rubricator.maxTokens, config.evaluation.maxTokens ?? 0)
  return use(openQuestions({ task, folder, rubricator: true, maxTokens }))
}
