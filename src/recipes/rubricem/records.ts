/** @file The records miniature as RubricEM trains on it: prompts, world, stages, lessons, what is true of an attempt. */

import { z } from 'zod'
import type { StageJudge, StageRubric } from '../../grade/evolving/index.ts'
import { scriptedStageJudge } from '../../grade/evolving/index.ts'
import type { ReflectionScores, Retrieval } from '../../memory/index.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Rollout } from '../../rl/rollout.ts'
import {
  ADVICE,
  type Advice,
  ARCHIVE_COLOURS,
  ARCHIVE_PLACES,
  agentPrompt,
  answerOf,
  attemptOf,
  decodeText,
  ENDINGS,
  isBorneOut,
  type Lesson,
  PEOPLE,
  PERSISTENT_CRITERIA,
  persistentRubrics,
  piecesOf,
  pieceToken,
  placeboOf,
  questionText,
  RECORDS_TOKENS,
  RELATIONS,
  RecordsEpisode,
  type RecordsQuestion,
  type Reference,
  type Reflection,
  readReflection,
  readTrajectory,
  recordsJudgeParts,
  reflectionText,
  reflectorPrompt,
  STAGE_CRITERIA,
  stagedAttempt,
  TAGS,
  usefulnessOf,
} from '../../tasks/records/index.ts'
import { mean } from '../../util/descriptive.ts'
import { ConfigError } from '../../util/errors.ts'
import type { RecordsTaskConfig, RubricemConfig, ScriptedJudgeConfig } from './config.ts'
import type { JudgedReflection, Lessons, ReflectionJudge, ResearchTask, StagedRead } from './research-task.ts'

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
export type RecordsTakeaways = z.output<typeof takeawaysSchema>

type RecordsLessons = Lessons<RecordsTakeaways>

const SOUND = STAGE_CRITERIA.filter(({ worth }) => worth === 'sound')
const STAGE_SCORES = ['plan', 'research', 'review', 'answer'] as const

/** Tokens of an attempt that any plan, its calls and an answer fit into. */
const ATTEMPT_TOKENS = 200

export class RecordsTask implements ResearchTask<RecordsQuestion, RecordsTakeaways> {
  readonly stopTokens = [pieceToken(TAGS.callEnd), pieceToken(TAGS.answerEnd), RECORDS_TOKENS.eos]
  readonly reflectorStopTokens = [RECORDS_TOKENS.eos]
  readonly takeaways = takeawaysSchema
  readonly world
  readonly limits
  readonly #calls: number
  readonly #placebo: boolean
  readonly #oracle: boolean

  /** @param placebo lessons say nothing that is true but by chance @param oracle answers are judged by the right one */
  constructor({ calls }: Pick<RecordsTaskConfig, 'calls'>, { placebo = false, oracle = false } = {}) {
    this.#calls = calls
    this.#placebo = placebo
    this.#oracle = oracle
    this.world = {
      start: (question: RecordsQuestion) => new RecordsEpisode(question, calls),
      instant: true,
    }
    // One turn a call, one that hears that calls are used up, and the answer.
    this.limits = { turns: calls + 2, tokens: ATTEMPT_TOKENS }
  }

  name({ id }: RecordsQuestion): string {
    return id
  }

  question(question: RecordsQuestion): string {
    return questionText(question)
  }

  prompt(question: RecordsQuestion, references: Retrieval<RecordsTakeaways> | null): TokenIds {
    return agentPrompt(question, references?.items.map(({ item }) => this.#referenceOf(item.takeaways)) ?? [])
  }

  #referenceOf({ colour, place, advice, lessons }: RecordsTakeaways): Reference {
    return { archive: { world: '', colour, place }, reflection: { advice, lessons } }
  }

  read(_question: RecordsQuestion, { key, tokens, mask }: Rollout): StagedRead {
    return stagedAttempt(key, tokens, mask, this.#calls)
  }

  text({ tokens }: Rollout): string {
    return decodeText(tokens).trim()
  }

  persistent(): readonly StageRubric[] {
    return this.#oracle ? persistentRubrics : []
  }

  reflectorPrompt(question: RecordsQuestion, { tokens }: Rollout): TokenIds {
    return reflectorPrompt(question, tokens)
  }

  readReflection(tokens: ArrayLike<number>): RecordsLessons | null {
    // The archive is the question's; it is put in when the lessons are judged.
    const read = readReflection(decodeText(tokens))
    return read && { rubrics: [...read.advice], takeaways: takeawaysOf(read, null) }
  }

  lessonsText({ takeaways }: RecordsLessons): string {
    return reflectionText(takeaways).trim()
  }

  /** Right or not; how good each stage is by all sound criteria, whatever a judge asks for; calls, of those allowed. */
  truth(question: RecordsQuestion, rollout: Rollout): Record<string, number> {
    const { staged, wellFormed } = this.read(question, rollout)
    const attempt = attemptOf(question, staged)
    const quality = STAGE_SCORES.map((name, k) => {
      const own = [...SOUND, ...PERSISTENT_CRITERIA].filter(({ stage }) => stage === k + 1)
      const gains = own.map(({ level, negative }) => (negative ? 2 - level(attempt) : level(attempt)) / 2)
      return [name, mean(gains)] as const
    })
    const { answer, calls } = readTrajectory(piecesOf(rollout.tokens, rollout.mask))
    return {
      right: Number(answer?.person === answerOf(question)),
      ...Object.fromEntries(quality),
      wellFormed: Number(wellFormed),
      // A call too many is answered, too: that calls are used up.
      effort: Math.min(1, calls.length / this.#calls),
    }
  }

  /** The lessons as they go into the bank. */
  kept(question: RecordsQuestion, { takeaways }: RecordsLessons, key: string): RecordsLessons {
    const said: Reflection = { advice: takeaways.advice, lessons: takeaways.lessons }
    const reflection = this.#placebo ? placeboOf(said, key) : said
    return { rubrics: [...reflection.advice], takeaways: takeawaysOf(reflection, question) }
  }
}

const takeawaysOf = (
  { advice, lessons }: Reflection,
  question: Pick<RecordsQuestion, 'archive'> | null,
): RecordsTakeaways => ({
  colour: question?.archive.colour ?? ARCHIVE_COLOURS[0],
  place: question?.archive.place ?? ARCHIVE_PLACES[0],
  advice: [...advice],
  lessons: lessons.map((lesson): Lesson => ({ ...lesson })),
})

/** The settings of the miniature. @throws ConfigError for another task or judge */
export const recordsSettings = ({
  task,
  judge,
}: Pick<RubricemConfig, 'task' | 'judge'>): { task: RecordsTaskConfig; judge: ScriptedJudgeConfig } => {
  if (task.kind !== 'records' || judge.kind !== 'scripted')
    throw new ConfigError(
      `task.kind: expected records with judge.kind scripted, got ${task.kind} with ${judge.kind}`,
      { hint: 'records have a judge by script, and research a chat model' },
    )
  return { task, judge }
}

/** The judge of stages that the configuration describes. @throws ConfigError for another task or judge */
export const recordsStageJudge = (
  config: Pick<RubricemConfig, 'task' | 'judge' | 'seed'>,
): StageJudge<RecordsQuestion> => {
  const { judge } = recordsSettings(config)
  const { seed } = config
  const { sound, discerning, oracle, flipRate, levelRate, failRate, noisyStages } = judge
  return scriptedStageJudge({
    ...recordsJudgeParts({ seed: `${seed}/stage judge`, sound, discerning, oracle }),
    noise: { seed: `${seed}/noise`, flipRate, levelRate, failRate, stages: noisyStages },
  })
}

/**
 * Says how useful lessons are to whoever asks there next: an oracle by what is true of the archive, else by what the attempt shows
 * that they are about.
 */
export const recordsReflectionJudge = ({
  oracle,
}: Pick<ScriptedJudgeConfig, 'oracle'>): ReflectionJudge<RecordsQuestion, RecordsTakeaways> => ({
  score: async (items: readonly JudgedReflection<RecordsQuestion, RecordsTakeaways>[]) =>
    items.map(({ question, attempt: { tokens, mask }, lessons: { takeaways } }): ReflectionScores => {
      if (oracle) return usefulnessOf(takeaways, question)
      const attempt = { question, trajectory: readTrajectory(piecesOf(tokens, mask)) }
      return usefulnessOf(takeaways, question, lesson => isBorneOut(lesson, attempt))
    }),
})
