/** @file `/v1/grade`, our own shape: items in; reward, score, parts and verdicts out. */

import { z } from 'zod'
import { referenceText } from '../../../grade/reference.ts'
import { rubricSchema } from '../../../rubric/criterion.ts'
import type { RouteOf } from '../config.ts'
import { referenceAt } from '../fields.ts'
import { asMessages, type RewardItem, type RewardResult } from '../item.ts'
import { listLength, promptSchema, type RewardRoute } from './route.ts'

const rubricOrName = z.union([z.string().min(1), rubricSchema], {
  error: 'the name of a rubric, or a rubric {criteria: [...]}',
})

const itemSchema = z.strictObject({
  /** Comes back with the result. */
  id: z.string().optional(),
  prompt: promptSchema.optional(),
  response: z.string(),
  /** A right answer, or several of which any will do. */
  reference: z.union([z.string(), z.array(z.string().min(1)).min(1)]).optional(),
  /** Name of a rubric of the configuration, or a rubric. */
  rubric: rubricOrName.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  /** Which repeat of the same judgement this is; repeats never share a verdict. */
  sampleIndex: z.int().min(0).optional(),
})

const gradeRequest = z.strictObject({
  items: z.array(itemSchema),
  /** For items without one of their own. */
  rubric: rubricOrName.optional(),
  /** Send the raw texts of judges along. */
  raw: z.boolean().optional(),
})
export type GradeRequest = z.output<typeof gradeRequest>

const verdictSchema = z.object({
  criterionId: z.string(),
  /** Null: the grader could not tell. */
  met: z.boolean().nullable(),
  credit: z.number().optional(),
  level: z.literal([0, 1, 2]).optional(),
  explanation: z.string().optional(),
  source: z.enum(['rule', 'formal', 'model', 'llm']),
  attempts: z.int().optional(),
  raw: z.string().optional(),
})

const bySign = z.object({ positive: z.int(), negative: z.int() })

const gradeResponse = z.object({
  results: z.array(
    z.object({
      id: z.string().optional(),
      /** Scaled and clipped. Null: there is no reward, and `reason` says why. */
      reward: z.number().nullable(),
      /** As the scoring rule gives it. */
      score: z.number().nullable(),
      /** Credit in [0, 1] of each judged criterion. */
      parts: z.record(z.string(), z.number()),
      /** What each criterion adds to the signed score; without a verdict 0. */
      components: z.record(z.string(), z.number()),
      verdicts: z.array(verdictSchema),
      /** Criteria without a verdict, by the sign of their points. */
      nulls: bySign,
      /** All criteria, by the sign of their points. */
      counts: bySign,
      rubric: z.string().optional(),
      reason: z.string().optional(),
    }),
  ),
})

const toItem = (
  { prompt = [], ...item }: GradeRequest['items'][number],
  body: GradeRequest,
  config: RouteOf<'grade'>,
): RewardItem => ({
  ...item,
  prompt: asMessages(prompt),
  reference: referenceText(item.reference) ?? referenceAt(item, config.reference),
  rubric: item.rubric ?? body.rubric,
  fields: item,
})

const shown = ({ verdicts, ...result }: RewardResult, raw = false) => ({
  ...result,
  verdicts: raw ? verdicts : verdicts.map(({ raw: _raw, ...verdict }) => verdict),
})

export const gradeRoute = (config: RouteOf<'grade'>): RewardRoute<GradeRequest> => ({
  config,
  summary: 'Grades items against rubrics',
  request: gradeRequest,
  response: gradeResponse,
  count: given => listLength(given, 'items'),
  items: body => body.items.map(item => toItem(item, body, config)),
  place: index => `items[${index}]`,
  answer: ({ raw }, results) => ({ results: results.map(result => shown(result, raw)) }),
})
