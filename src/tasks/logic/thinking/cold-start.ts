/** @file Both roles on the logic task before they are rewarded: a start's own good responses, and a scripted rubricator's rubrics on any. */

import { z } from 'zod'
import type { SupervisedDatum } from '../../../rl/datum.ts'
import type { Criterion } from '../../../rubric/criterion.ts'
import { DataError } from '../../../util/errors.ts'
import { Rng } from '../../../util/rng.ts'
import { fraction, natural } from '../../../util/setting-shapes.ts'
import { hintsTask, tellingHints } from '../../thinking-grammar/hints.ts'
import { labelsSchema, rubricHabitsSchema } from '../../thinking-grammar/rubricator.ts'
import type { LogicTaskExample } from '../example.ts'
import { encodeResponse } from '../format.ts'
import { logicGenerator } from '../generator.ts'
import { demonstrationsShape, sourceSchema } from '../start-settings.ts'
import { LOGIC_TOKENS } from '../vocabulary.ts'
import { LOGIC_GRAMMAR, type LogicEvidence, logicEvidenceOf } from './predicates.ts'
import { logicThinkingTask } from './task.ts'
import {
  LOGIC_PIECES,
  logicRubricator,
  logicRubricatorPrompt,
  logicThinkingPrompt,
  partReasoning,
  readLogicResponse,
} from './text.ts'

/** Which problems: hops that are equally frequent, and what their generator is told. */
export const logicProblemsSchema = z.strictObject({
  hops: z
    .array(z.int().min(1).max(5))
    .min(1)
    .default([3, 4, 5])
    .describe('Lengths of proofs in steps, equally frequent.'),
  nodes: sourceSchema.shape.nodes,
  labels: demonstrationsShape.labels,
  style: demonstrationsShape.style,
})

/** Problems without end; the same seed and index give the same one. @throws ConfigError for what no generator can hold */
export const logicProblems = (
  { hops, nodes, labels, style }: z.output<typeof logicProblemsSchema>,
  seed: number | string,
): ((index: number) => LogicTaskExample) =>
  logicGenerator(
    { hops: Object.fromEntries(hops.map(count => [count, 1])), ...(nodes && { nodes }), labels, style },
    seed,
  )

/** Seed of the test problems, which no training has. */
export const LOGIC_RUBRIC_TEST_SEED = 'rubric start/test'

export const logicRubricsStartSchema = z.strictObject({
  kind: z.literal('logic-rubrics').describe('Proofs, and rubrics for them.'),
  problems: logicProblemsSchema
    .prefault({})
    .describe('The problems that the starting policy answers, and those of the test.'),
  reasoners: z
    .strictObject({
      problems: natural
        .max(20_000)
        .default(1500)
        .describe('Number of problems that the starting policy answers.'),
      samples: natural.max(65_536).default(2).describe('Samples of each problem.'),
      temperature: z
        .number()
        .positive()
        .default(1)
        .describe('Sampling temperature. 1: the distribution of the model.'),
      maxTokens: natural.default(96).describe('Most tokens of a response.'),
      keep: z
        .enum(['proved', 'right', 'all'])
        .default('proved')
        .describe(
          'Which responses become demonstrations: right ones with a proof (`proved`), right ones (`right`), or all.',
        ),
    })
    .prefault({})
    .describe(
      "The starting policy's own responses. Reasoners learn some of them; rubricators are shown all.",
    ),
  rubricators: fraction.default(0.5).describe('Share of the demonstrations that are of a rubricator.'),
  hinted: fraction.default(0.4).describe('Share of the demonstrations of reasoners that follow hints.'),
  rubric: rubricHabitsSchema.prefault({}).describe('What the scripted rubricator writes.'),
  labels: labelsSchema,
  rubricTokens: natural.default(112).describe('Most tokens of a rubric in evaluations.'),
})
type Teacher = z.output<typeof logicRubricsStartSchema>

export const startResponseSchema = z.strictObject({
  index: z.int().min(0).describe('Index of the problem in its stream.'),
  text: z.string(),
  right: z.boolean(),
  proved: z.boolean().describe('Right, with steps that prove it.'),
})
/** What the start wrote. */
export type StartResponse = z.output<typeof startResponseSchema>

const ended = (text: string): number[] => [...LOGIC_PIECES.encode(text), LOGIC_TOKENS.eos]

/** A few hints by which a chain of thought differs from another. */
const hintsFor = (
  problem: LogicTaskExample,
  pair: readonly [LogicEvidence, LogicEvidence],
  { rubric }: Pick<Teacher, 'rubric'>,
  rng: Rng,
): Criterion[] =>
  tellingHints(LOGIC_GRAMMAR, own => logicRubricator.propose(problem, rubric, own).text, pair, rng)

/** Hints by which a proof differs from no thinking, and so can be met. */
const testHints = (teacher: Pick<Teacher, 'rubric'>) => (problem: LogicTaskExample) => {
  const { thinking } = readLogicResponse(encodeResponse(problem))
  const pair = [logicEvidenceOf(problem, thinking, null), logicEvidenceOf(problem, '', null)] as const
  return hintsFor(problem, pair, teacher, new Rng(`${LOGIC_RUBRIC_TEST_SEED}/hints/${problem.id}`))
}

/** Responses that reasoners learn. @throws DataError where rejection leaves none */
export const keptResponses = (
  responses: readonly StartResponse[],
  keep: Teacher['reasoners']['keep'],
): StartResponse[] => {
  const kept = responses.filter(own => keep === 'all' || own[keep])
  if (kept.length > 0) return kept
  throw new DataError(
    `task.reasoners.keep: expected some of the start's ${responses.length} responses to be ${keep}, got none`,
    { hint: 'start from a better model, give it shorter problems (task.problems.hops), or keep more' },
  )
}

/** The demonstrations of a step, for both roles; they depend on seed, step and the start's responses alone. */
const demonstrationsOn =
  (teacher: Teacher, { seed, batch }: Drawn, problemAt: (index: number) => LogicTaskExample) =>
  (responses: readonly StartResponse[]): ((step: number) => SupervisedDatum[]) => {
    const kept = keptResponses(responses, teacher.reasoners.keep)
    const evidenceOf = (problem: LogicTaskExample, { text }: StartResponse) =>
      logicEvidenceOf(problem, partReasoning(text).thinking, null)

    const reasoner = (rng: Rng): SupervisedDatum => {
      const own = rng.pick(kept)
      const problem = problemAt(own.index)
      // Another response to the problem where there is one, else another's.
      const others = responses.filter(({ index, text }) => index === own.index && text !== own.text)
      const other = others.length > 0 ? rng.pick(others) : rng.pick(responses)
      const pair = [evidenceOf(problem, own), evidenceOf(problem, other)] as const
      const hints = rng.next() < teacher.hinted ? hintsFor(problem, pair, teacher, rng) : []
      return { promptTokens: logicThinkingPrompt(problem, hints), responseTokens: ended(own.text) }
    }

    const rubricator = (rng: Rng): SupervisedDatum | null => {
      const shown = rng.pick(responses)
      const problem = problemAt(shown.index)
      const written = logicRubricator.demonstrate(problem, evidenceOf(problem, shown), teacher.rubric, rng)
      if (written === null) return null
      const response = { ...partReasoning(shown.text), answer: '' }
      return { promptTokens: logicRubricatorPrompt(problem, response), responseTokens: ended(written.text) }
    }

    return step =>
      Array.from({ length: batch }, (_, i) => {
        const rng = new Rng(`rubric start demonstration/${seed}/${(step - 1) * batch + i}`)
        const rubric = rng.next() < teacher.rubricators ? rubricator(rng.fork('rubricator')) : null
        return rubric ?? reasoner(rng.fork('reasoner'))
      })
  }

/** What decides which demonstrations and test problems there are, beside the task. */
interface Drawn {
  seed: number | string
  batch: number
  /** Problems of the tests. */
  tested: number
}

/**
 * The task, the task of following hints, the problems that the start answers, and demonstrations made of its responses. Tests are
 * the same for every run with the same problems; the stream has those that labels are written about.
 */
export const logicRubricsStart = (teacher: Teacher, drawn: Drawn) => {
  const [test, stream, problem] = [
    LOGIC_RUBRIC_TEST_SEED,
    `labels/${drawn.seed}`,
    `rubric start/${drawn.seed}`,
  ].map(seed => logicProblems(teacher.problems, seed))
  const problems = Array.from({ length: drawn.tested }, (_, i) => test(i))
  const task = { ...logicThinkingTask({ tests: { unseen: problems } }), stream }
  const hints = hintsTask(task, testHints(teacher))
  const hinted = {
    ...{ ...hints, tests: { told: problems } },
    prompt: (own: LogicTaskExample) => task.prompt(own, hints.rubric(own).criteria),
  }
  return { task, hinted, problem, demonstrations: demonstrationsOn(teacher, drawn, problem) }
}

/** The proofs of the first so many problems, as a start would write them that proves all. */
export const goldResponses = (problem: (index: number) => LogicTaskExample, count: number): StartResponse[] =>
  Array.from({ length: count }, (_, index) => {
    const { text } = readLogicResponse(encodeResponse(problem(index)))
    return { index, text, right: true, proved: true }
  })
