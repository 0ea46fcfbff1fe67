/** @file Evaluation of agents of records and of reflectors: right answers, plain and with true lessons; reflections that can be read. */

import type { Policy } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { EvalItem, EvalRow } from '../../runs/rows.ts'
import {
  agentPrompt,
  answerOf,
  decodeText,
  piecesOf,
  pieceToken,
  RECORDS_TEST_WORLD,
  RECORDS_TOKENS,
  RecordsEpisode,
  type RecordsQuestion,
  type RecordsTeacher,
  type Reference,
  readReflection,
  readTrajectory,
  recordsQuestion,
  reflectorPrompt,
  stagedAttempt,
  TAGS,
  truthOf,
  usefulnessOf,
} from '../../tasks/records/index.ts'
import { StepRollouts } from '../../train/rollout.ts'
import { mean } from '../../util/statistics.ts'
import { scoresOf } from '../common/item-scores.ts'
import type { SftConfig } from './config.ts'

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
export const REFLECTION_TOKENS = 40

const attempts = async (
  policy: Policy,
  { calls, maxTokens: tokens }: Asked,
  questions: readonly RecordsQuestion[],
  promptOf: (question: RecordsQuestion) => TokenIds,
): Promise<Rollout[]> => {
  const io = new StepRollouts(policy, { seed: 'evaluation', step: 0 })
  const groups = await io.rollOut<RecordsQuestion, null>({
    ...{ problems: questions, samples: 1, prompt: promptOf },
    sampling: {
      ...{ maxTokens: TURN_TOKENS, temperature: 1 },
      stopTokens: [pieceToken(TAGS.callEnd), pieceToken(TAGS.answerEnd), RECORDS_TOKENS.eos],
    },
    environment: {
      world: { start: question => new RecordsEpisode(question, calls), instant: true },
      limits: { turns: calls + 2, tokens },
    },
    grade: async items => items.map(() => null),
  })
  return groups.map(([{ rollout }]) => rollout)
}

const attemptRow = (
  set: string,
  step: number,
  questions: readonly RecordsQuestion[],
  rollouts: readonly Rollout[],
  calls: number,
): EvalRow => {
  const items = questions.map((question, i): EvalItem => {
    const { key, tokens, mask } = rollouts[i]
    const { answer } = readTrajectory(piecesOf(tokens, mask))
    const { wellFormed } = stagedAttempt(key, tokens, mask, calls)
    const right = Number(answer?.person === answerOf(question))
    return { id: question.id, scores: { right, wellFormed: Number(wellFormed) } }
  })
  return {
    ...{ step, set, n: items.length, samples: 1, temperature: 1 },
    scores: scoresOf(items, ['right', 'wellFormed']),
    primary: 'right',
    scoreNames: { right: 'right answers', wellFormed: 'keeps to the scaffold' },
    responseTokens: mean(rollouts.map(({ tokens }) => tokens.length)),
    items,
  }
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
  const items = drawn.map(({ tokens }, i): EvalItem => {
    const read = readReflection(decodeText(tokens))
    const useful = read && usefulnessOf(read, questions[i])
    return {
      id: questions[i].id,
      scores: { valid: Number(read !== null), ...(useful ?? {}) },
    }
  })
  return {
    ...{ step, set: 'reflections', n: items.length, samples: 1, temperature: 0.7 },
    scores: scoresOf(items, ['valid', 'diagnosticAccuracy', 'specificity', 'scopeAndBalance']),
    primary: 'valid',
    scoreNames: { valid: 'reflections in the format', diagnosticAccuracy: 'what of them is true' },
    items,
  }
}

/** Right answers without references, and with all that is worth knowing; reflections on the former. */
export const evaluateRecords = async (policy: Policy, asked: Asked, step: number): Promise<EvalRow[]> => {
  const questions = Array.from({ length: asked.problems }, (_, i) =>
    recordsQuestion(RECORDS_TEST_WORLD, i, asked),
  )
  const plain = await attempts(policy, asked, questions, question => agentPrompt(question))
  const told = await attempts(policy, asked, questions, question =>
    agentPrompt(question, [trueReference(question)]),
  )
  return [
    attemptRow('unseen', step, questions, plain, asked.calls),
    attemptRow('told', step, questions, told, asked.calls),
    await reflectionRow(policy, step, questions, plain),
  ]
}
