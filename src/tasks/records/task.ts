/** @file The records miniature as a task: prompts, archives to look things up in, stages, reflections, what is true of an attempt. */

import { z } from 'zod'
import { STAGE_NAMES, type StageJudge, stagedRollout } from '../../grade/evolving/index.ts'
import type { Json } from '../../memory/index.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { mean } from '../../util/descriptive.ts'
import { parseRollout, rolloutText } from '../research/index.ts'
import type { ReflectedLessons, Reflector, StagedRead, Stages } from '../stages.ts'
import type { Item, Problems, TaskWith, Verdicts } from '../task.ts'
import {
  agentPrompt,
  isBorneOut,
  placeboOf,
  type RecordsReflection,
  type Reference,
  readRecordsReflection,
  reflectionText,
  reflectorPrompt,
  usefulnessOf,
} from './lessons.ts'
import { outputText } from './research.ts'
import { PERSISTENT_CRITERIA, STAGE_CRITERIA } from './stage-criteria.ts'
import { attemptOf, GIVEN_RUBRICS } from './stage-judge.ts'
import { type LookUp, type Output, readTrajectory, trajectoryPieces } from './trajectory.ts'
import {
  ADVICE,
  type Advice,
  decodeRecords,
  encodeRecords,
  RECORDS_TOKENS,
  RECORDS_VOCABULARY,
  recordsToken,
  TAGS,
} from './vocabulary.ts'
import {
  ARCHIVE_COLOURS,
  ARCHIVE_PLACES,
  ENDINGS,
  lookUp,
  PEOPLE,
  RELATIONS,
  type RecordsQuestion,
  recordsAnswer,
  recordsQuestionText,
  relatedTo,
} from './world.ts'

/** What the archive says to a call; what is no call finds nothing. */
const outputOf = (
  { archive }: RecordsQuestion,
  call: Pick<LookUp, 'person' | 'field'> | undefined,
): Output => {
  if (!call || call.person === null || call.field === null) return { kind: 'none' }
  const found = lookUp(archive, call.person, call.field)
  return found ? { ...found, kind: found.old ? 'old' : 'found' } : { kind: 'none' }
}

/** One attempt; fits `Episode` of the layer of training. */
export class RecordsEpisode {
  readonly #question: RecordsQuestion
  #left: number

  /** @param calls look-ups that may be made */
  constructor(question: RecordsQuestion, calls: number) {
    this.#question = question
    this.#left = calls
  }

  /** What the tool says to a turn; null where the turn does not end with a call. */
  async reply(turn: Int32Array): Promise<number[] | null> {
    const pieces = trajectoryPieces(turn, new Uint8Array(turn.length).fill(1))
    if (pieces.at(-1)?.text !== TAGS.callEnd) return null
    if (this.#left === 0) return encodeRecords(outputText({ kind: 'over' }))
    this.#left--
    return encodeRecords(outputText(outputOf(this.#question, readTrajectory(pieces).calls.at(-1))))
  }
}

/** @param key names the rollout */
export const stagedAttempt = (
  key: string,
  tokens: ArrayLike<number>,
  mask: ArrayLike<number>,
  maxCalls: number,
): StagedRead => {
  const pieces = Array.from(tokens, token => RECORDS_VOCABULARY[token] ?? '')
  const whole = rolloutText(pieces, mask)
  const { stages, tokenStages, valid } = parseRollout(whole, { maxCalls })
  return { staged: stagedRollout(key, whole.text, stages), tokenStages, wellFormed: valid }
}

const fieldSchema = z.strictObject({ relation: z.enum(RELATIONS), ending: z.enum(ENDINGS) })
const lessonSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['use', 'not']), field: fieldSchema }),
  z.strictObject({ kind: z.literal('answer'), person: z.enum(PEOPLE) }),
])

/** What a lesson of the bank carries over: the archive that it is about, and what it says of it. */
const takeawaysSchema = z.strictObject({
  colour: z.enum(ARCHIVE_COLOURS),
  place: z.enum(ARCHIVE_PLACES),
  advice: z.array(z.enum(Object.keys(ADVICE) as [Advice, ...Advice[]])),
  lessons: z.array(lessonSchema),
})
type Takeaways = z.output<typeof takeawaysSchema>

/** Takeaways of this task: it made them itself, or they came by its schema. */
const own = (takeaways: Json) => takeaways as Takeaways

const lessonsOf = (
  { advice, lessons }: RecordsReflection,
  { colour, place }: Pick<Takeaways, 'colour' | 'place'>,
): ReflectedLessons => ({ rubrics: advice, takeaways: { colour, place, advice, lessons } })

const referenceTo = ({ colour, place, advice, lessons }: Takeaways): Reference => ({
  archive: { world: '', colour, place },
  reflection: { advice, lessons },
})

const ANSWERS: Rubric = { criteria: [{ id: 'right', text: 'The answer is right', points: 1 }] }

const SOUND = [...STAGE_CRITERIA.filter(({ worth }) => worth === 'sound'), ...PERSISTENT_CRITERIA]

/** Tokens of an attempt that any plan, its calls and an answer fit into. */
export const ATTEMPT_TOKENS = 200

/** What a person should know of a run before it trains. */
const ORACLE_NOTE =
  "judge.oracle: the judge knows the right answers and the archives' field names, which a judge of real research does not"

export interface RecordsOptions {
  /** Look-ups that an agent may make. */
  calls: number
  judge: StageJudge<RecordsQuestion>
  /** Judges know what is true of the archives; else what stands in the attempts. */
  oracle?: boolean
}

/** Questions about archives, answered after look-ups. @param calls that an agent may make */
export const recordsQuestions = (
  problems: Problems<RecordsQuestion>,
  calls: number,
): TaskWith<RecordsQuestion, 'world'> => ({
  ...{ train: [], tests: {}, ...problems },
  label: 'records',
  id: ({ id }) => id,
  question: recordsQuestionText,
  prompt: question => agentPrompt(question),
  show: tokens => decodeRecords(tokens).trim(),
  rubric: () => ANSWERS,
  isBinary: true,
  grade: async items => items.map(item => verdictOn(item, calls)),
  world: {
    environment: { start: question => new RecordsEpisode(question, calls), instant: true },
    // One turn a call, one that hears that calls are used up, and the answer.
    limits: { turns: calls + 2, tokens: ATTEMPT_TOKENS },
    outcome: () => null,
  },
  stopTokens: [recordsToken(TAGS.callEnd), recordsToken(TAGS.answerEnd), RECORDS_TOKENS.eos],
  notes: [],
})

/** The same in stages, judged by script. */
export const recordsTask = (
  problems: Problems<RecordsQuestion>,
  { calls, judge, oracle = false }: RecordsOptions,
): TaskWith<RecordsQuestion, 'world' | 'stages'> => ({
  ...recordsQuestions(problems, calls),
  stages: recordsStages({ calls, judge, oracle }),
  notes: oracle ? [ORACLE_NOTE] : [],
})

/** Right or not; a bare answer is all the policy's. */
const verdictOn = ({ problem, tokens, rollout }: Item<RecordsQuestion>, calls: number): Verdicts => {
  const mask = rollout?.mask ?? new Uint8Array(tokens.length).fill(1)
  const { answer } = readTrajectory(trajectoryPieces(tokens, mask))
  return {
    verdicts: [{ criterionId: 'right', met: answer?.person === recordsAnswer(problem), source: 'rule' }],
    wellFormed: stagedAttempt('', tokens, mask, calls).wellFormed,
  }
}

const recordsStages = ({ calls, judge, oracle }: Required<RecordsOptions>): Stages<RecordsQuestion> => ({
  read: ({ key, tokens, mask }) => stagedAttempt(key, tokens, mask, calls),
  persistent: () => (oracle ? GIVEN_RUBRICS : []),
  judge,
  reflector: recordsReflector(oracle),
  reminded: (question, { items }) =>
    agentPrompt(
      question,
      items.map(({ item }) => referenceTo(own(item.takeaways))),
    ),
  show: ({ takeaways }) => reflectionText(own(takeaways)).trim(),
  takeaways: takeawaysSchema,
  sibling: relatedTo,
  placebo: ({ takeaways }, key) => lessonsOf(placeboOf(own(takeaways), key), own(takeaways)),
  truth: (question, rollout) => truthAbout(question, rollout, calls),
})

const recordsReflector = (oracle: boolean): Reflector<RecordsQuestion> => ({
  prompt: (question, { tokens }) => reflectorPrompt(question, tokens),
  stopTokens: [RECORDS_TOKENS.eos],
  read({ archive }, tokens): ReflectedLessons | null {
    const read = readRecordsReflection(decodeRecords(tokens))
    return read && lessonsOf(read, archive)
  },
  // Useful to whoever asks there next: by what is true of the archive, else by what the attempt shows that they are about.
  judge: async items =>
    items.map(({ problem: question, attempt: { tokens, mask }, lessons }) => {
      if (oracle) return usefulnessOf(own(lessons.takeaways), question)
      const attempt = { question, trajectory: readTrajectory(trajectoryPieces(tokens, mask)) }
      return usefulnessOf(own(lessons.takeaways), question, lesson => isBorneOut(lesson, attempt))
    }),
})

/** How good each stage is by all sound criteria, whatever a judge asks for; calls, of those allowed. */
const truthAbout = (
  question: RecordsQuestion,
  { key, tokens, mask }: Rollout,
  most: number,
): Record<string, number> => {
  const { staged, wellFormed } = stagedAttempt(key, tokens, mask, most)
  const attempt = attemptOf(question, staged)
  const quality = STAGE_NAMES.map((name, k) => {
    const sound = SOUND.filter(({ stage }) => stage === k + 1)
    const gains = sound.map(({ level, negative }) => (negative ? 2 - level(attempt) : level(attempt)) / 2)
    return [name, mean(gains)] as const
  })
  const { calls } = readTrajectory(trajectoryPieces(tokens, mask))
  return {
    ...Object.fromEntries(quality),
    wellFormed: Number(wellFormed),
    // A call too many is answered, too: that calls are used up.
    effort: Math.min(1, calls.length / most),
  }
}
