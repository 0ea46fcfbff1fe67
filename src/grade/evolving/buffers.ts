/** @file The rubrics that evolve, by question: what lives across steps, and goes into checkpoints. */

import { z } from 'zod'
import { CheckpointError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { StageRubric } from './rubrics.ts'

/** What was proposed for a question and is still known; rubrics that were given with it are the question's own. */
export interface QuestionRubrics {
  /** Oldest first. */
  active: readonly StageRubric[]
  /** Set aside because no two rollouts differed on them; the latest last. */
  inactive: readonly StageRubric[]
}

export const NO_RUBRICS: QuestionRubrics = { active: [], inactive: [] }

const rubricSchema = z.strictObject({
  id: z.string().min(1),
  stage: z.literal([1, 2, 3, 4]),
  sign: z.enum(['positive', 'negative']),
  title: z.string(),
  description: z.string().min(1),
  weight: z.literal([1, 2, 3]),
  since: z.int().min(0),
})

// A list of questions and no record: any text is a good key, also one that objects treat in a way of their own.
const savedSchema = z
  .array(
    z.strictObject({
      question: z.string(),
      active: z.array(rubricSchema),
      inactive: z.array(rubricSchema),
    }),
  )
  .superRefine((questions, context) => {
    const issue = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message })
    const seen = new Set<string>()
    for (const [q, { question, active, inactive }] of questions.entries()) {
      if (seen.has(question)) issue([q, 'question'], 'each question once')
      seen.add(question)
      const ids = [...active, ...inactive].map(({ id }) => id)
      if (new Set(ids).size < ids.length) issue([q], 'each rubric id once')
    }
  })

/**
 * The rubrics that were proposed, by question.
 * @example
 * const keys = { id: 'keys', title: 'keys', description: 'Names both keys.', weight: 3, since: 1 }
 * const buffers = new EvolvingBuffers()
 * buffers.keep('A + B?', { active: [{ ...keys, stage: 1, sign: 'positive' }], inactive: [] })
 * const resumed = new EvolvingBuffers()
 * resumed.load(buffers.save())
 * resumed.of('A + B?').active[0].title // 'keys'
 * resumed.of('C?') // { active: [], inactive: [] }
 */
export class EvolvingBuffers {
  #questions = new Map<string, QuestionRubrics>()

  /** What is known of a question before its rollouts are judged; nothing where it is new. */
  of(question: string): QuestionRubrics {
    return this.#questions.get(question) ?? NO_RUBRICS
  }

  /** Replaces what is known of a question by what came out of a judgement (`JudgedGroup.after`). */
  keep(question: string, rubrics: QuestionRubrics): void {
    this.#questions.set(question, rubrics)
  }

  /** Questions that were judged. */
  get size(): number {
    return this.#questions.size
  }

  /** Active rubrics of all questions. */
  get active(): number {
    return [...this.#questions.values()].reduce((sum, { active }) => sum + active.length, 0)
  }

  /** Plain JSON, in the order in which questions came first. */
  save(): unknown {
    return [...this.#questions].map(([question, { active, inactive }]) => ({
      question,
      active: active.map(rubric => ({ ...rubric })),
      inactive: inactive.map(rubric => ({ ...rubric })),
    }))
  }

  /** @throws CheckpointError for something else than `save` gives; then nothing is changed */
  load(value: unknown): void {
    const saved = parseWith(savedSchema, value, "recipe's state: rubric buffers", CheckpointError)
    this.#questions = new Map(saved.map(({ question, active, inactive }) => [question, { active, inactive }]))
  }
}
