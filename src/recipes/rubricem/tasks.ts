/** @file Which task a configuration names, with its judges. */

import type { ChatModel } from '../../chat/index.ts'
import {
  judgeReflection,
  openStageJudge,
  REFLECTION_JUDGE,
  type ReflectionToJudge,
  scriptedStageJudge,
} from '../../grade/evolving/index.ts'
import { ASK_PRESETS } from '../../grade/judge/ask-config.ts'
import { openJudge } from '../../grade/judge/open-judge.ts'
import { recentVerdicts } from '../../grade/judge/recent-verdicts.ts'
import { REPLIES } from '../../grade/judge/templates/form.ts'
import { rubricGrader } from '../../grade/rubric-grader.ts'
import type { Policy } from '../../policy/policy.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import {
  RECORDS_TEST_WORLD,
  recordsJudgeParts,
  recordsQuestion,
  recordsTask,
} from '../../tasks/records/index.ts'
import { RACE_JUDGE, type ResearchQuestion } from '../../tasks/research/index.ts'
import { openResearchTask } from '../../tasks/research/open.ts'
import type { TaskWith } from '../../tasks/task.ts'
import type { Tool } from '../../tools/index.ts'
import { judgeMetrics } from '../common/judging.ts'
import type { MethodRun } from '../common/method-run.ts'
import {
  type ChatJudgeConfig,
  type RecordsJudgeConfig,
  type RecordsTaskConfig,
  type RubricemConfig,
  taskSettings,
} from './config.ts'

/** In place of what a configuration names. */
export interface RubricemRunParts {
  /** The policy that trains, of the model in a folder. */
  policy?(folder: string): Promise<Policy>
  /** In place of the endpoints of all judges. */
  judgeModel?: ChatModel
  tools?: readonly Tool[]
}

/** @param metrics what judges took since this was last asked */
type Use<Result> = <Problem>(
  task: TaskWith<Problem, 'world' | 'stages'>,
  metrics?: () => MetricGroup,
) => Promise<Result>

/**
 * Does something with the configured task, which is closed with the run.
 * @throws ConfigError, DataError, CheckpointError, ToolError for files, tools, judges or a model that cannot be used
 */
export const withRubricemTask = async <Result>(
  config: RubricemConfig,
  { folder, use }: Pick<MethodRun, 'folder' | 'use'>,
  parts: RubricemRunParts,
  learn: Use<Result>,
): Promise<Result> => {
  const settings = taskSettings(config)
  if (settings.kind === 'records') return learn(recordsTraining(config, settings))
  const judges = await use(openJudges(config, settings.judge, parts.judgeModel))
  const research = { ...judges, settings: settings.task, tools: parts.tools }
  const { maxTokens: reflectionTokens } = config.reflection
  const task = await use(openResearchTask({ ...research, folder, reflectionTokens }))
  return learn(task, judges.metrics)
}

/** Made-up questions without end, or a pool of them, and others to test on. */
const recordsTraining = (
  { seed, evaluation }: Pick<RubricemConfig, 'seed' | 'evaluation'>,
  { task, judge }: { task: RecordsTaskConfig; judge: RecordsJudgeConfig },
) => {
  const { pool, calls } = task
  const stream = (i: number) => recordsQuestion(`train/${seed}`, i, task)
  const test = (_: unknown, i: number) => recordsQuestion(RECORDS_TEST_WORLD, i, task)
  const problems = {
    ...(pool === null ? { stream } : { train: Array.from({ length: pool }, (_, i) => stream(i)) }),
    tests: { unseen: Array.from({ length: evaluation.problems }, test) },
  }
  return recordsTask(problems, { calls, judge: scriptedJudge(judge, seed), oracle: judge.oracle })
}

export const scriptedJudge = (judge: RecordsJudgeConfig, seed: number | string) =>
  scriptedStageJudge({
    ...recordsJudgeParts({ ...judge, seed: `${seed}/stage judge` }),
    noise: { ...judge, seed: `${seed}/noise`, stages: judge.noisyStages },
  })

/** The judge of stages; that of reflections is the same one asked in another way, or one of its own. */
const openJudges = async (
  { evolving }: Pick<RubricemConfig, 'evolving'>,
  settings: ChatJudgeConfig,
  model?: ChatModel,
) => {
  const stages = openStageJudge<ResearchQuestion>(settings, {
    prompt: ({ question }) => [{ role: 'user', content: question }],
    ...{ settings: evolving, model },
  })
  const { reflect, reflections } = settings
  const other =
    reflections && openJudge(reflections, { model, form: REFLECTION_JUDGE, store: recentVerdicts() })
  const reflecting = other ?? stages.alsoAs(REFLECTION_JUDGE, reflect)
  const replies = stages.alsoAs(REPLIES, ASK_PRESETS.plain).grader
  // Closed with the judge of stages, whose endpoints it has.
  const grader = rubricGrader({ judge: { grade: (...asked) => replies.grade(...asked) } })
  const metrics = [
    judgeMetrics('judge', { stats: () => stages.stats().score }),
    judgeMetrics('proposalJudge', { stats: () => stages.stats().generate }),
    judgeMetrics('reflectionJudge', reflecting),
  ]
  return {
    ...{ judge: stages.judge, grader },
    articleGrader: stages.alsoAs(RACE_JUDGE, ASK_PRESETS.stages).grader,
    judgeReflection: (asked: ReflectionToJudge) =>
      judgeReflection(reflecting.grader, asked, evolving.shownCharacters.score),
    metrics: (): MetricGroup => Object.assign({}, ...metrics.map(each => each())),
    async close() {
      await other?.close()
      await grader.close?.()
      await stages.close()
    },
  }
}
