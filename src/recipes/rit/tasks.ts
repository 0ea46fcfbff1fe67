/** @file Which task a configuration names, and what of it a plan needs. */

import type { ChatModel } from '../../chat/chat-model.ts'
import { groupSettingsSchema } from '../../grade/group/index.ts'
import { RULES, RuleGrader } from '../../grade/rules/index.ts'
import { judgeSteps, RESPONSE_JUDGE, STEP_JUDGE, THINKING_JUDGE } from '../../grade/thinking/index.ts'
import type { ModelConfig } from '../../model/config.ts'
import { modelPath } from '../../model/model-place.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { JudgeVerifier } from '../../tasks/judge-verifier.ts'
import {
  openQuestions,
  QUESTIONS_TEST,
  type QuestionSizes,
  questionSizes,
} from '../../tasks/questions/index.ts'
import { scored, type ThinkingTask } from '../../tasks/scored-response.ts'
import { mainTest, type Task, type TaskWith } from '../../tasks/task.ts'
import type { Thinking, ThinkingVerifier, VerifierItem } from '../../tasks/thinking.ts'
import type { ModelShape } from '../../train/config.ts'
import { mean } from '../../util/statistics.ts'
import { openJudging, openThinkingJudging } from '../common/judging.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { shapeFolder } from '../common/remote.ts'
import { taskModel } from '../common/word-models.ts'
import { chatGroups, type GroupScorer } from '../options/group-judge.ts'
import { showsRubric } from '../options/memory.ts'
import type { RitConfig } from './config.ts'

/** Whether a criterion is decided by a rule of Gradus; a task's own predicates are none. */
export const hasRule = ({ verifier }: Criterion): boolean =>
  verifier?.kind === 'rule' && RULES.has(verifier.fn)

const withoutRules = <Problem>(item: VerifierItem<Problem>): VerifierItem<Problem> => ({
  ...item,
  rubric: { ...item.rubric, criteria: item.rubric.criteria.filter(criterion => !hasRule(criterion)) },
})

/** Verdicts in the rubric's order; a list of another length than was asked for says nothing about any criterion. */
const merged = (
  criteria: readonly Criterion[],
  ruled: readonly Verdict[],
  given: readonly Verdict[],
): Verdict[] => {
  const expected = criteria.length - ruled.length
  const byRule = ruled.values()
  const byOthers = (given.length === expected ? given : []).values()
  const explanation = `expected ${expected} verdicts, one a criterion, got ${given.length}`
  return criteria.map(criterion => {
    const next = (hasRule(criterion) ? byRule : byOthers).next()
    return next.done ? { criterionId: criterion.id, met: null, explanation, source: 'model' } : next.value
  })
}

/**
 * A verifier that executes rules on the thinking, and hands on the rest.
 * @throws DataError for a rule that cannot be used
 */
export const withRules = <Problem>(
  others: ThinkingVerifier<Problem>,
  task: Pick<Task<Problem>, 'question'>,
): ThinkingVerifier<Problem> => {
  // Its workers start with the first rule.
  const rules = new RuleGrader()
  const verdictsByRule = ({ problem, response, rubric }: VerifierItem<Problem>): Promise<Verdict[]> =>
    rules.grade(
      { prompt: [{ role: 'user', content: task.question(problem) }], response: response.thinking },
      rubric.criteria.filter(hasRule),
    )
  return {
    async verify(items) {
      if (!items.some(({ rubric }) => rubric.criteria.some(hasRule))) return others.verify(items)
      const rest = items.map(withoutRules)
      const asked = rest.flatMap(({ rubric }, i) => (rubric.criteria.length > 0 ? [i] : []))
      const [ruled, own] = await Promise.all([
        Promise.all(items.map(verdictsByRule)),
        others.verify(asked.map(i => rest[i])),
      ])
      const given = new Map(asked.map((i, at) => [i, own[at] ?? []]))
      return items.map(({ rubric }, i) => merged(rubric.criteria, ruled[i], given.get(i) ?? []))
    },
  }
}

/** Beside rules that decide every criterion: a run without a judge is refused where there are others. */
const NO_OTHERS: ThinkingVerifier<unknown> = { verify: async items => items.map(() => []) }

/** A task with its judges. */
export interface RitTask<Problem> extends Pick<Thinking<Problem>, 'stepVerdicts'> {
  task: ThinkingTask<Problem>
  /** Judges thinking by a rubric. */
  verifier: ThinkingVerifier<Problem>
  /** The same judge as far as evaluation is concerned: exact where there is one. */
  truth: ThinkingVerifier<Problem>
  /** Scores all thinking about a problem together; absent where no language model judges groups. */
  groups?: GroupScorer<Problem>
  /** What judging took since it was last asked. */
  metrics?(): MetricGroup
  close(): Promise<void>
}

/** A language model in place of a task's own judge of thinking. */
export interface ThinkingJudges<Problem>
  extends Required<Pick<RitTask<Problem>, 'verifier' | 'stepVerdicts' | 'metrics' | 'close'>>,
    Pick<RitTask<Problem>, 'groups'> {}

/**
 * Opens the configured judge for thinking as a whole and for its steps.
 * @param model in place of the configured endpoints
 * @throws ConfigError for a judge that cannot be used
 */
const thinkingJudges = <Problem>(
  judge: NonNullable<RitConfig['judge']>,
  config: Pick<RitConfig, 'thinkingBy' | 'group' | 'seed'>,
  task: Pick<Task<Problem>, 'question' | 'thinking'>,
  model?: ChatModel,
): ThinkingJudges<Problem> => {
  const { thinkingBy } = config
  const form = thinkingBy === 'steps' ? STEP_JUDGE : THINKING_JUDGE
  const { grader, metrics, close } = openThinkingJudging(judge, form, model)
  const together = thinkingBy === 'group' ? groupJudging(judge, config, task, model) : null
  return {
    ...(together && { groups: together }),
    verifier: new JudgeVerifier(grader, task, { part: 'thinking' }),
    stepVerdicts: items =>
      Promise.all(
        items.map(async ({ problem, response: { thinking } }) => {
          const { verdicts } = await judgeSteps(grader, { question: task.question(problem), thinking })
          return verdicts.map(({ met }) => met)
        }),
      ),
    metrics: together ? () => ({ ...metrics(), ...together.metrics() }) : metrics,
    async close() {
      await close()
      await together?.close()
    },
  }
}

/** The same judge, asked about all thinking on a problem at once; of no thinking the score is 0, and nobody is asked. */
const groupJudging = <Problem>(
  judge: NonNullable<RitConfig['judge']>,
  { group, seed }: Pick<RitConfig, 'group' | 'seed'>,
  task: Pick<Task<Problem>, 'question' | 'thinking'>,
  model?: ChatModel,
) => {
  const textOf = (tokens: Int32Array) => task.thinking!.read(tokens).thinking
  const messages = (problem: Problem) => [{ role: 'user' as const, content: task.question(problem) }]
  const settings = { ...judge, ...(group ?? groupSettingsSchema.parse({})) }
  const groups = chatGroups<Problem>(settings, seed, { messages, text: textOf }, model)
  const score: typeof groups.score = async (problem, responses, asked) => {
    const some = responses.flatMap((tokens, i) => (textOf(tokens) === '' ? [] : [i]))
    const said = await groups.score(
      problem,
      some.map(i => responses[i]),
      asked,
    )
    const among = <Value>(none: Value, values: readonly Value[]) =>
      responses.map((_, i) => (some.includes(i) ? values[some.indexOf(i)] : none))
    return {
      ...said,
      scores: among<number | null>(0, said.scores),
      explanations: among<string | null>('nothing was thought', said.explanations),
      ...(said.calls && { calls: among(undefined, said.calls) }),
    }
  }
  return { ...groups, score }
}

/** Problems of arithmetic to test on; the same for every seed. */
const TEST_PROBLEMS = 4096

type Use<Result> = <Problem>(task: TaskWith<Problem, 'thinking'>) => Result

type Questions = Extract<RitConfig['task'], { kind: 'questions' }>

/** Does something with a miniature, whose problems need no files and no model; something else with questions, which need both. */
const byKind = <Result>(
  { task, seed }: RitConfig,
  use: Use<Result>,
  questions: (task: Questions) => Result,
): Result => {
  if (task.kind === 'questions') return questions(task)
  return task.kind === 'packing'
    ? use(MINIATURES['packing-thinking'].open(task))
    : use(MINIATURES.arithmetic.open({ ...task, outcomes: true }, { seed, tests: TEST_PROBLEMS }))
}

/** What is known of good thinking about the task before it is opened. */
export const knownOf = (config: RitConfig): Pick<Thinking<never>, 'oracle' | 'bank' | 'assertExecutes'> =>
  byKind(
    config,
    ({ thinking: { oracle, bank, assertExecutes } }) => ({ oracle, bank, assertExecutes }),
    () => ({}),
  )

export const testNameOf = (config: RitConfig): string =>
  byKind(
    config,
    task => mainTest(task)[0],
    () => QUESTIONS_TEST,
  )

/**
 * Opens the configured task with its judges.
 * @param folder of the model that answers
 * @param model in place of the configured judge's endpoints
 * @throws ConfigError, DataError, CheckpointError
 */
export const openTask = <Result>(
  config: RitConfig,
  folder: string,
  use: <Problem>(ritTask: RitTask<Problem>) => Result,
  model?: ChatModel,
): Result => {
  const opened = <Problem>(
    { thinking, ...task }: TaskWith<Problem, 'thinking'>,
    judges: Partial<ThinkingJudges<Problem>> = {},
  ) => {
    const { exact, stepVerdicts } = thinking
    const verifier = judges.verifier ?? exact!
    return use<Problem>({
      ...{ stepVerdicts, close: async () => {}, ...judges },
      // Each response goes to the judge as soon as it is finished.
      task: { ...scored(task), thinking, ...(judges.verifier && { gradeBatch: 1 }) },
      verifier: withRules(verifier, task),
      truth: exact ?? verifier,
    })
  }
  const { judge } = config
  const ofMiniature: Use<Result> = task =>
    opened(task, judge ? thinkingJudges(judge, config, task, model) : {})
  return byKind(config, ofMiniature, task => {
    const answers = openJudging(judge, model)
    const paid =
      task.openReward === 'criteria' ? openJudging(judge, model, 'responseJudge', {}, RESPONSE_JUDGE) : null
    const questions = openQuestions({
      ...{ task, folder, maxTokens: config.rollout.maxTokens },
      ...{ grader: answers.grader, binary: paid?.grader },
    })
    const judges = judge ? thinkingJudges(judge, config, questions, model) : null
    return opened(questions, {
      ...(judges ?? { verifier: NO_OTHERS }),
      metrics: () => ({ ...answers.metrics(), ...paid?.metrics(), ...judges?.metrics() }),
      async close() {
        for (const judging of [answers, paid, judges]) await judging?.close()
      },
    })
  })
}

/** The model that a cold start would make for the task; questions have none. */
export const freshShape = ({ task }: RitConfig): ((shape: ModelShape) => ModelConfig) =>
  taskModel(task.kind === 'arithmetic' ? 'arithmetic' : 'packing-thinking')

/** Problems whose prompts are measured. */
const MEASURED = 500

export type TaskSizes = Pick<
  QuestionSizes,
  'train' | 'test' | 'promptTokens' | 'longestPrompt' | 'questionCharacters' | 'judged' | 'assumed'
>

/** Sizes of the data; prompts with all that a scaffold shows where there is one. @throws DataError for files that cannot be used */
export const taskSizes = (config: RitConfig): TaskSizes =>
  byKind(
    config,
    (task): TaskSizes => {
      const [, test] = mainTest(task)
      const measured = test.slice(0, MEASURED)
      const { scaffold, memory } = config
      const isShown = scaffold !== null && showsRubric(memory)
      const lengths = measured.map(
        problem => task.prompt(problem, isShown ? task.rubric(problem).criteria : []).length,
      )
      return {
        train: task.train.length,
        test: test.length,
        promptTokens: mean(lengths),
        longestPrompt: Math.max(...lengths),
        questionCharacters: mean(measured.map(problem => task.question(problem).length)),
        judged: 0,
        assumed: false,
      }
    },
    task => {
      const place = shapeFolder(config)
      return questionSizes({ task, folder: place === null ? null : modelPath(place) })
    },
  )
