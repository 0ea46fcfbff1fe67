/** @file Learning to look things up in records: agents of mixed habits, and reflections on what they did. */

import type { z } from 'zod'
import type { Policy } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { recordsStartSchema } from '../../tasks/records/cold-start.ts'
import {
  agentPrompt,
  decodeRecords,
  RECORDS_TEST_WORLD,
  RECORDS_TOKENS,
  type RecordsQuestion,
  type RecordsTeacher,
  type Reference,
  readRecordsReflection,
  recordsDemonstrations,
  recordsQuestion,
  recordsQuestions,
  reflectorPrompt,
  truthOf,
  usefulnessOf,
} from '../../tasks/records/index.ts'
import { scored } from '../../tasks/scored-response.ts'
import { episodes } from '../common/answers.ts'
import { meanTokens, setRow } from '../common/evaluated-set.ts'
import { assertWords, freshModel } from '../common/word-models.ts'
import type { SftConfig } from './config.ts'
import type { ConfigOf, LearntTask } from './learnt.ts'

/** What is asked: so many questions of so many look-ups, and the most tokens of an attempt. */
type Asked = Pick<SftConfig['evaluation'], 'problems' | 'maxTokens'> & Pick<RecordsTeacher, 'hops' | 'calls'>

/** All that is worth knowing of a question's archive. */
const trueReference = (question: RecordsQuestion): Reference => ({
  archive: question.archive,
  reflection: {
    advice: [],
    lessons: truthOf(question).map(({ field }) => ({ kind: 'use', field })),
  },
})

/** Tokens of a turn, and of a reflection, at most. */
const TURN_TOKENS = 48
const REFLECTION_TOKENS = 40

/** An attempt at each question. */
const attempts = async (
  policy: Policy,
  { calls, maxTokens: tokens }: Asked,
  questions: readonly RecordsQuestion[],
  shown?: (question: RecordsQuestion) => TokenIds,
): Promise<Rollout[]> => {
  const { world, ...task } = recordsQuestions({}, calls)
  const limited = { ...task, world: { ...world, limits: { ...world.limits, tokens } } }
  const { stopTokens } = task
  const sampling = { maxTokens: TURN_TOKENS, temperature: 1, stopTokens }
  return (await episodes(policy, limited, questions, { samples: 1, sampling }, shown)).flat()
}

const attemptRow = async (
  set: string,
  step: number,
  questions: readonly RecordsQuestion[],
  rollouts: readonly Rollout[],
  calls: number,
): Promise<EvalRow> => {
  const said = await scored(recordsQuestions({}, calls)).grade(
    rollouts.map((rollout, i) => ({ problem: questions[i], tokens: rollout.tokens, rollout })),
  )
  const items = questions.map(({ id }, i) => ({
    id,
    scores: { right: said[i].score, wellFormed: Number(said[i].wellFormed) },
  }))
  return setRow({ step, set, samples: 1, temperature: 1 }, items, {
    primary: 'right',
    scoreNames: { right: 'right answers', wellFormed: 'keeps to the scaffold' },
    responseTokens: meanTokens([rollouts]),
  })
}

const reflectionRow = async (
  policy: Policy,
  step: number,
  questions: readonly RecordsQuestion[],
  rollouts: readonly Rollout[],
): Promise<EvalRow> => {
  const drawn = await policy.sample({
    ...{ maxTokens: REFLECTION_TOKENS, temperature: 0.7, samplesPerPrompt: 1, seed: 'evaluation' },
    stopTokens: [RECORDS_TOKENS.eos],
    prompts: questions.map((question, i) => reflectorPrompt(question, rollouts[i].tokens)),
  })
  const items = drawn.map(({ tokens }, i) => {
    const read = readRecordsReflection(decodeRecords(tokens))
    const useful = read && usefulnessOf(read, questions[i])
    return {
      id: questions[i].id,
      scores: { valid: Number(read !== null), ...(useful ?? {}) },
    }
  })
  return setRow({ step, set: 'reflections', samples: 1, temperature: 0.7 }, items, {
    names: ['valid', 'diagnosticAccuracy', 'specificity', 'scopeAndBalance'],
    primary: 'valid',
    scoreNames: { valid: 'reflections in the format', diagnosticAccuracy: 'what of them is true' },
  })
}

/** Right answers without references, and with all that is worth knowing; reflections on the former. */
const evaluateRecords = async (policy: Policy, asked: Asked, step: number): Promise<EvalRow[]> => {
  const questions = Array.from({ length: asked.problems }, (_, i) =>
    recordsQuestion(RECORDS_TEST_WORLD, i, asked),
  )
  const plain = await attempts(policy, asked, questions)
  const referred = await attempts(policy, asked, questions, question =>
    agentPrompt(question, [trueReference(question)]),
  )
  return [
    await attemptRow('unseen', step, questions, plain, asked.calls),
    await attemptRow('told', step, questions, referred, asked.calls),
    await reflectionRow(policy, step, questions, plain),
  ]
}

export const learnRecords = (config: ConfigOf<z.output<typeof recordsStartSchema>>): LearntTask => {
  const { seed, batch, model, evaluation } = config
  const { hops, reflectors, referred, scaffold, calls } = config.task
  return {
    draw: recordsDemonstrations({ ...config.task, seed, batch }),
    fresh: () => freshModel('records', model.shape, seed),
    assertModel: assertWords('records'),
    rooms: () => [
      {
        what: 'an attempt, for a reflection',
        promptTokens:
          agentPrompt(recordsQuestion(RECORDS_TEST_WORLD, 0, { hops })).length + evaluation.maxTokens,
        newTokens: REFLECTION_TOKENS,
      },
    ],
    primarySet: 'unseen',
    isSampledOnce: true,
    evaluate: policy => step => evaluateRecords(policy, { ...evaluation, hops, calls }, step),
    words: {
      training: `${100 * reflectors}% of them reflections, ${100 * referred}% of the others with lessons`,
      more: [
        `scaffold     ${scaffold ? 'plan, research, review, answer' : 'none: idle thinking of the same length'}`,
      ],
      evaluation: 'unseen questions, without lessons and with true ones, and reflections',
    },
  }
}
