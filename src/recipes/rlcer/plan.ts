/** @file What a run of rlcer would do and need: tokens of both roles, verifier calls, memory, time. Nothing is run or called. */

import { describeQuestionFiles, questionSizes } from '../../tasks/questions/index.ts'
import { mainTest, type Task } from '../../tasks/task.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import { type AnchorRow, anchorCount, anchorLines, TRIED_TOGETHER } from '../common/anchors.ts'
import { evaluationLine } from '../common/evaluation-config.ts'
import { judgingOf, responseCharacters } from '../common/judge-plan.ts'
import { methodPlan } from '../common/plan.ts'
import type { RunPlan } from '../common/recipe.ts'
import { scaffoldLine } from '../common/scaffold.ts'
import { taskModel } from '../common/word-models.ts'
import { optionLines } from '../options/options.ts'
import { checkRlcer, checkThoughtAnchors, withMiniature } from './check.ts'
import type { QuestionsConfig, RlcerConfig } from './config.ts'
import { verifierJudge } from './verifiers.ts'

/** Lengths and numbers of the data that a plan is about. */
interface PlannedData {
  /** In words. */
  words: string
  promptTokens: number
  /** Of a rubricator's prompt beside the response. */
  rubricatorTokens: number
  questionCharacters: number
}

const dataOf = (config: RlcerConfig, given: string | null): PlannedData =>
  withMiniature(config, own => madeData(describeMiniature(config), own)) ??
  filesData(config.task as QuestionsConfig, given)

const describeMiniature = ({ task }: RlcerConfig): string => {
  if (task.kind === 'questions') return ''
  const number = task.pool === null ? 'new questions without end' : `${formatInteger(task.pool)} questions`
  if (task.kind === 'logic') return `logic, ${task.hops.join(', ')} hops, ${number}`
  const { min, max } = task.operations
  return `arithmetic, ${min} to ${max} operations, ${number}`
}

/** Problems whose lengths are looked at. */
const MEASURED = 2000

const madeData = <Problem>(words: string, task: Task<Problem>): PlannedData => {
  // As many as tell what is usual: an evaluation may have a great many.
  const measured = mainTest(task)[1].slice(0, MEASURED)
  const promptTokens = Math.max(...measured.map(problem => task.prompt(problem).length))
  return {
    words,
    ...{ promptTokens, rubricatorTokens: promptTokens },
    questionCharacters: Math.max(...measured.map(problem => task.question(problem).length)),
  }
}

const filesData = (task: QuestionsConfig, given: string | null): PlannedData => {
  const sizes = questionSizes({ task, folder: given })
  const { train, test, promptTokens, rubricatorTokens, questionCharacters, assumed } = sizes
  return {
    words: `${describeQuestionFiles(task)}${assumed ? ' (not there yet: the published numbers are assumed)' : ''}: ${formatInteger(train)} questions to train on, ${formatInteger(test)} to test on; prompts of ${formatInteger(Math.round(promptTokens))} tokens${sizes.tokensEstimated ? ' (at four characters a token)' : ''}`,
    ...{ promptTokens, rubricatorTokens, questionCharacters },
  }
}

/** What a step samples, at most, and has verified. */
const workOf = (config: RlcerConfig, anchors: readonly AnchorRow[]) => {
  const { rollout, rubricator } = config
  // All criteria of a question's rubrics, were they all valid and different ones.
  const tried = Math.ceil((rollout.samples * rubricator.format.maxCriteria) / TRIED_TOGETHER)
  const anchorCalls = rubricator.enabled ? tried * anchorCount(config, anchors) : 0
  const reasoners = rollout.prompts * rollout.samples
  const rubricators = rubricator.enabled ? reasoners : 0
  const reasonerTokens = reasoners * rollout.maxTokens
  const rubricatorTokens = rubricators * rubricator.maxTokens
  return {
    rolloutsPerStep: reasoners + rubricators,
    tokensPerStep: reasonerTokens + rubricatorTokens,
    ...{ reasonerTokens, rubricatorTokens },
    // Every rubric on every response to its question.
    verifierCallsPerStep: rubricators * rollout.samples,
    verifierCallsPerQuestion: rubricator.enabled ? rollout.samples ** 2 : 0,
    ...(config.anchors && {
      anchorCallsPerQuestion: anchorCalls,
      anchorCallsPerStep: anchorCalls * rollout.prompts,
    }),
  }
}

type Work = ReturnType<typeof workOf>

/** Of the verifier's instructions and a rubric, roughly. */
const VERIFIER_CHARACTERS = 4000
/** The rubric's part of it, which is another one in every call. */
const RUBRIC_CHARACTERS = 1500

/** A language model as verifier: what it is sent and costs, and the calls of a step; those on anchors are on top. */
const judgingIn = ({ verifier, rollout, steps }: RlcerConfig, data: PlannedData, work: Work) => {
  const judge = verifierJudge(verifier)
  if (judge === null) return { lines: [], judges: [] }
  const of = (name: string, callsPerStep: number) => ({
    ...{ name, fleet: judge.fleet, callsPerStep, calls: callsPerStep * steps },
    characters: {
      instructions: VERIFIER_CHARACTERS - RUBRIC_CHARACTERS,
      ...{ own: RUBRIC_CHARACTERS, shared: data.questionCharacters },
      responses: responseCharacters(rollout.maxTokens),
    },
    shown: { role: 'reasoner', samples: 1 },
    // Every rubric of a question sees the same response; anchors are seen by all questions.
    callsPerShown: rollout.samples,
  })
  const anchorCalls = work.anchorCallsPerStep ?? 0
  const { line, judges } = judgingOf([
    of('verifier', work.verifierCallsPerStep),
    ...(anchorCalls > 0 ? [of('anchors', anchorCalls)] : []),
  ])
  return { lines: [line], judges }
}

const describeReward = (config: RlcerConfig): string => {
  const { reasonerReward, rubricator } = config
  const own = rubricator.enabled
    ? `rubricators for ${rubricator.evolving ? 'valid criteria and ' : ''}format`
    : 'no rubricators'
  return `reasoners for ${reasonerReward}; ${own}`
}

/** @throws ConfigError, DataError, CheckpointError for what a run would refuse, but for a model and data that come later */
export const planRlcer = (config: RlcerConfig): RunPlan => {
  const given = checkRlcer(config, 'plan')
  const { rollout, rubricator, steps, critic, evaluation, validity, verifier, scaffold } = config
  const data = dataOf(config, given)
  const anchors = checkThoughtAnchors(config, 'plan')
  const work = workOf(config, anchors)
  const judging = judgingIn(config, data, work)
  // The longest sequences are a rubricator's: question, response, rubric.
  const longest = Math.round(
    rubricator.enabled ? data.rubricatorTokens + rollout.maxTokens : data.promptTokens,
  )
  const asked = rubricator.enabled ? { ...rollout, maxTokens: rubricator.maxTokens } : rollout
  const reasoners = {
    name: 'reasoner',
    groups: rollout.prompts,
    samples: rollout.samples,
    promptTokens: data.promptTokens,
    newTokens: rollout.maxTokens,
  }
  // A rubricator reads the question and one response to it.
  const rubricators = {
    name: 'rubricator',
    ...{ groups: rollout.prompts * rollout.samples, samples: 1, newTokens: rubricator.maxTokens },
    promptTokens: data.rubricatorTokens + rollout.maxTokens,
  }
  const sets = 1 + Object.keys((config.task.kind === 'questions' && config.task.tests) || {}).length
  const prompts = {
    ...{ tokens: longest, longest, together: rollout.prompts * rollout.samples },
    roles: rubricator.enabled ? [reasoners, rubricators] : [reasoners],
    critic: critic !== null,
    sets,
  }
  return methodPlan({ ...config, rollout: asked }, taskModel('arithmetic'), prompts, {
    lines: [
      `data         ${data.words}`,
      `training     ${steps} steps of ${rollout.prompts} questions x ${rollout.samples} reasoners${rubricator.enabled ? ` and ${rollout.samples} rubricators` : ''}: up to ${formatInteger(work.reasonerTokens)} + ${formatInteger(work.rubricatorTokens)} new tokens a step, ${formatCount(work.tokensPerStep * steps)} in all`,
      `reward       ${describeReward(config)}; valid above ${validity.alpha}${validity.signAware ? '' : ', read literally'}`,
      ...optionLines(config),
      ...(scaffold ? [scaffoldLine(scaffold)] : []),
      `verifier     ${verifier.kind}: ${work.verifierCallsPerQuestion} calls a question (every rubric on every response), ${formatInteger(work.verifierCallsPerStep)} a step, ${formatInteger(work.verifierCallsPerStep * steps)} in all`,
      ...anchorLines(config, anchors, {
        question: work.anchorCallsPerQuestion ?? 0,
        step: work.anchorCallsPerStep ?? 0,
      }),
      ...judging.lines,
      `credit       ${critic === null ? 'baselines by leaving one out' : `by a critic${critic.own ? ' of its own' : ''}, learning rate ${critic.learningRate?.peak ?? 'as the policy'}`}`,
    ],
    evaluation: [
      evaluationLine(config, {
        noun: 'questions',
        also: `${sets > 1 ? `, of each of ${sets} sets` : ''}${evaluation.hinted ? `, with hints${evaluation.placebo ? ' and placebos' : ''}` : ''}`,
      }),
    ],
    json: work,
    work: { judges: judging.judges },
  })
}
