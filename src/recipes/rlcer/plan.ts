/** @file What a run of rlcer would do and need: tokens of both roles, verifier calls, memory, time. Nothing is run or called. */

import { formatCount, formatInteger } from '../../util/format.ts'
import { planTraining } from '../common/plan.ts'
import type { RunPlan } from '../common/recipe.ts'
import { shorterStart } from '../common/test-problems.ts'
import { arithmeticModelConfig } from '../reasoning/arithmetic.ts'
import { arithmeticQuestions } from './arithmetic-questions.ts'
import { check } from './check.ts'
import type { RlcerConfig } from './config.ts'

/** Lengths and numbers of the data that a plan is about. */
interface PlannedData {
  /** In words. */
  words: string
  promptTokens: number
}

const dataOf = (config: RlcerConfig): PlannedData => {
  const { task, test } = arithmeticQuestions(config)
  const { operations, pool } = config.task
  return {
    words: `arithmetic, ${operations.min} to ${operations.max} operations, ${pool === null ? 'new questions without end' : `${formatInteger(pool)} questions`}`,
    promptTokens: Math.max(...test.map(problem => task.prompt(problem).length)),
  }
}

/** What a step samples, at most, and has verified. */
const workOf = ({ rollout, rubricator }: RlcerConfig) => {
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
  }
}

type Work = ReturnType<typeof workOf>

/** Operations a second: two cores of a laptop, and a large accelerator at two fifths of its peak. */
const SPEEDS = { 'two cores': 2e11, 'an accelerator of 4e14 operations a second': 4e14 } as const

/** Two operations a parameter for a token that is sampled or read, six for one that is learnt from. */
const OPERATIONS = { forward: 2, learning: 6 } as const

const timeOf = (config: RlcerConfig, parameters: number, promptTokens: number, work: Work) => {
  const { rollout, rubricator, steps } = config
  const reasoners = rollout.prompts * rollout.samples
  const rubricators = work.rolloutsPerStep - reasoners
  // A rubricator reads the question and the response.
  const readTokens = reasoners * promptTokens + rubricators * (promptTokens + rollout.maxTokens)
  const tokens = work.tokensPerStep + readTokens
  const scored = config.critic === null ? 0 : OPERATIONS.forward
  const operations = parameters * tokens * (OPERATIONS.forward + scored + OPERATIONS.learning * config.epochs)
  const hours = Object.fromEntries(
    Object.entries(SPEEDS).map(([name, speed]) => [name, (operations * steps) / speed / 3600]),
  )
  return {
    operationsPerStep: operations,
    hours,
    rubricatorSequence: promptTokens + rollout.maxTokens + rubricator.maxTokens,
  }
}

const hoursText = (hours: number): string =>
  hours < 1 ? `${Math.max(1, Math.round(60 * hours))} min` : `${formatInteger(Math.round(hours))} h`

const rewardWords = (config: RlcerConfig): string => {
  const { reasonerReward, rubricator, control, controlAt } = config
  const own = rubricator.enabled
    ? `rubricators for ${rubricator.evolving ? 'valid criteria and ' : ''}format`
    : 'no rubricators'
  return `reasoners for ${reasonerReward}; ${own}${control ? `; control ${control} at ${controlAt}` : ''}`
}

/** @throws ConfigError, DataError, CheckpointError for what a run would refuse, but for a model and data that come later */
export const planRlcer = (config: RlcerConfig): RunPlan => {
  check(config, 'plan')
  const { rollout, rubricator, steps, critic, evaluation, validity, verifier } = config
  const { words, promptTokens } = dataOf(config)
  const work = workOf(config)
  // The longest sequences are a rubricator's: question, response, rubric.
  const longest = promptTokens + (rubricator.enabled ? rollout.maxTokens : 0)
  const asked = rubricator.enabled ? { ...rollout, maxTokens: rubricator.maxTokens } : rollout
  const prompts = { tokens: longest, longest, together: rollout.prompts * rollout.samples }
  const planned = planTraining({ ...config, rollout: asked }, arithmeticModelConfig, prompts)
  const { start, parameters, learning, memory, sizes } = planned
  const time = sizes.parameters === null ? null : timeOf(config, sizes.parameters, promptTokens, work)
  return {
    lines: [
      `model        ${start}`,
      parameters,
      `data         ${words}`,
      `training     ${steps} steps of ${rollout.prompts} questions x ${rollout.samples} reasoners${rubricator.enabled ? ` and ${rollout.samples} rubricators` : ''}: up to ${formatInteger(work.reasonerTokens)} + ${formatInteger(work.rubricatorTokens)} new tokens a step, ${formatCount(work.tokensPerStep * steps)} in all`,
      `reward       ${rewardWords(config)}; valid above ${validity.alpha}${validity.signAware ? '' : ', read literally'}`,
      `verifier     ${verifier.kind}: ${work.verifierCallsPerQuestion} calls a question (every rubric on every response), ${formatInteger(work.verifierCallsPerStep)} a step, ${formatInteger(work.verifierCallsPerStep * steps)} in all`,
      `optimiser    AdamW, ${learning}; ${critic === null ? 'baselines by leaving one out' : `critic, learning rate ${critic.learningRate?.peak ?? 'as the policy'}`}`,
      `evaluation   ${formatInteger(evaluation.problems)} questions x ${evaluation.samples} at the start and the end${evaluation.hinted ? `, with hints${evaluation.placebo ? ' and placebos' : ''}` : ''}${shorterStart(config)}`,
      ...(time === null
        ? []
        : [
            `time         about ${Object.entries(time.hours)
              .map(([name, hours]) => `${hoursText(hours)} on ${name}`)
              .join(', ')}, if every response is as long as it may be`,
          ]),
      ...memory,
    ],
    json: { steps, prompts: rollout.prompts, samples: rollout.samples, ...work, ...time, ...sizes },
  }
}
