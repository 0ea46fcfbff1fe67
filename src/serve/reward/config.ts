/** @file The service's configuration: one strict schema, all defaults in it. */

import { z } from 'zod'
import { solverSchema } from '../../grade/logic/settings.ts'
import { ruleSettingsSchema } from '../../grade/rules/settings.ts'
import { criterionSchema } from '../../rubric/criterion.ts'
import { ruleOf } from '../../rubric/rules.ts'
import { treeSchema } from '../../rubric/tree.ts'
import { frontLimitsShape } from '../http/limits.ts'
import { judgeUseSchema, rewardJudgeSchema } from './judge-config.ts'

const name = z
  .string()
  .regex(/^[\w.-]{1,80}$/, 'a name of letters, digits, dot, dash and underscore; shorten or rename it')

/** Place of a value in a sample: keys joined by dots, such as `metadata.topic`. */
const fieldPath = z.string().regex(/^[^.\s]+(\.[^.\s]+)*$/, 'keys joined by dots, such as metadata.topic')

const urlPath = z.string().regex(/^\/[\w./-]*$/, 'a path that begins with /, such as /v1/grade')

const isRule = (text: string): boolean => {
  try {
    return ruleOf(text) !== undefined
  } catch {
    return false
  }
}

const aggregationFields = {
  /** Scoring rule by name, as `gradus score --help` lists them. */
  rule: z.string().refine(isRule, 'the name of a scoring rule; `gradus score --help` lists them'),
  /** What a criterion without a verdict counts for. */
  nulls: z.enum(['drop', 'as-false']),
  /** With more than this share of criteria without a verdict there is no reward. */
  maxNullShare: z.number().min(0).max(1),
  /** reward = score x scale + offset, then clipped. */
  scale: z.number(),
  offset: z.number(),
  clip: z
    .tuple([z.number(), z.number()])
    .refine(([low, high]) => low < high, 'two numbers, the lower one first')
    .nullable(),
}

/** How verdicts become a reward, as a part of a rubric or a route may change it. */
const aggregationChanges = z.strictObject(aggregationFields).partial()

const aggregationSchema = z.strictObject({
  rule: aggregationFields.rule.default('signed'),
  nulls: aggregationFields.nulls.default('drop'),
  maxNullShare: aggregationFields.maxNullShare.default(1),
  scale: aggregationFields.scale.default(1),
  offset: aggregationFields.offset.default(0),
  clip: aggregationFields.clip.default(null),
})
export type RewardAggregation = z.output<typeof aggregationSchema>

const inlineRubric = z.strictObject({
  criteria: z.array(criterionSchema).min(1),
  tree: treeSchema.optional(),
  aggregation: aggregationChanges.optional(),
})

const rubricFromFile = z.strictObject({
  file: z.string().min(1),
  aggregation: aggregationChanges.optional(),
})

const rubricEntry = z.union([z.string().min(1), rubricFromFile, inlineRubric], {
  error: 'a file name, {file: ...} or {criteria: [...]}',
})
export type RubricEntry = z.output<typeof rubricEntry>

const rubricChoice = z.union(
  [
    name,
    z.strictObject({
      from: fieldPath.describe(
        'Field of the sample that names its rubric or, if the route allows `inline`, holds one.',
      ),
      map: z.record(z.string(), name).optional().describe('Names of rubrics by the value of that field.'),
      within: name
        .optional()
        .describe(
          'Name of a rubric file of many items. The value of that field, or what `map` makes of it, is the id of an item.',
        ),
      default: name.optional().describe('Rubric for samples that name none, or an unknown one.'),
    }),
  ],
  { error: 'the name of a rubric, or {from: metadata.topic, default: NAME}' },
)
export type RubricChoice = z.output<typeof rubricChoice>

const routeShape = {
  path: urlPath,
  rubric: rubricChoice
    .optional()
    .describe('Which rubric is used; absent: the only one of the configuration.'),
  inline: z.boolean().default(true).describe('Let requests bring a rubric of their own.'),
  reference: fieldPath.optional().describe('Field of the sample with the reference answer.'),
  onNull: z
    .union([z.number(), z.literal('error')], { error: 'a number or "error"' })
    .default(0)
    .describe(
      'What the client gets if there is no reward: a number, or `error` (503, so that it tries again).',
    ),
  aggregation: aggregationChanges.optional(),
}

const gradeRoute = z.strictObject({ ...routeShape, kind: z.literal('grade'), onNull: z.null().default(null) })

const openRlhfRoute = z.strictObject({
  ...routeShape,
  kind: z.literal('openrlhf'),
  reference: fieldPath.default('label'),
  strip: z
    .array(z.string().min(1))
    .default(['<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<|end_of_text|>', '</s>', '<|end|>', '<eos>'])
    .describe(
      'Texts removed from both ends of a response, because the client decodes special tokens as text.',
    ),
})

const slimeRoute = z.strictObject({
  ...routeShape,
  kind: z.literal('slime'),
  reference: fieldPath.default('label'),
  answer: z
    .enum(['number', 'object'])
    .default('number')
    .describe('Form of the answer: `number` for plain `--rm-url`, `object` for `--reward-key reward`.'),
})

const nemoGymRoute = z.strictObject({
  ...routeShape,
  kind: z.literal('nemo-gym'),
  reference: fieldPath.default('expected_answer'),
  onNull: z.number().default(0),
  judged: z
    .enum(['last-message', 'all-messages'])
    .default('last-message')
    .describe('What is judged: the last message of the assistant, or all of them.'),
})

const routeSchema = z.discriminatedUnion('kind', [gradeRoute, openRlhfRoute, slimeRoute, nemoGymRoute])
export type RouteConfig = z.output<typeof routeSchema>
type RouteKind = RouteConfig['kind']
export type RouteOf<K extends RouteKind> = Extract<RouteConfig, { kind: K }>

const ALL_ROUTES: z.input<typeof routeSchema>[] = [
  { kind: 'grade', path: '/v1/grade' },
  { kind: 'openrlhf', path: '/openrlhf' },
  { kind: 'slime', path: '/slime' },
  { kind: 'nemo-gym', path: '/verify' },
]

const milliseconds = z.number().positive()

const limitsSchema = z
  .strictObject({
    ...frontLimitsShape,
    jsonValues: z
      .int()
      .positive()
      .default(300_000)
      .describe('Most values in the JSON of one request: members of objects and entries of lists.'),
    jsonDepth: z
      .int()
      .positive()
      .max(1_000)
      .default(200)
      .describe('Deepest nesting of lists and objects in the JSON of a request.'),
    criteria: z
      .int()
      .positive()
      .default(1_000)
      .describe('Most criteria of a rubric that comes with a request.'),
    responseCharacters: z
      .int()
      .positive()
      .default(1_000_000)
      .describe('Longest response that is graded, in characters (UTF-16 units).'),
    onLongResponse: z
      .enum(['error', 'nulls'])
      .default('error')
      .describe(
        'What happens to a longer response. `error`: the request is answered 422; `nulls`: its item has no verdicts.',
      ),
    batch: z.int().positive().default(1024).describe('Most items in one request.'),
    concurrency: z.int().positive().default(512).describe('Most items that are graded at once.'),
    waiting: z
      .int()
      .positive()
      .default(16_384)
      .describe('Most items that wait for a place; further ones are answered 429.'),
    rulesMs: milliseconds
      .default(20_000)
      .describe('Core time that the rules of one request may take together.'),
    onRulesSpent: z
      .enum(['error', 'nulls'])
      .default('error')
      .describe(
        'What happens when `rulesMs` is used up. `error`: the request is answered 504; `nulls`: the other criteria have no verdicts.',
      ),
    deadlineMs: milliseconds
      .default(100_000)
      .describe(
        'Longest time of one request, waiting included. The default is below the 120 s after which slime gives up.',
      ),
    onDeadline: z
      .enum(['error', 'nulls'])
      .default('error')
      .describe(
        'What happens at the deadline. `error`: 504, so that the client tries again; `nulls`: what is not graded yet has no verdicts.',
      ),
    stallMs: milliseconds
      .default(20_000)
      .describe(
        'Grading that does not respond for this long is stopped and started anew; its requests are answered 503.',
      ),
  })
  .refine(
    ({ batch, concurrency, waiting }) => batch <= concurrency + waiting,
    'a batch of at most concurrency + waiting; no request of that size could ever be admitted',
  )

const serverSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(8700),
  tokenEnv: z
    .string()
    .min(1)
    .optional()
    .describe('Environment variable with the token that clients must send.'),
  openToAnyone: z.boolean().default(false).describe('Let other machines connect without a token.'),
})

const logSchema = z.strictObject({
  requests: z.boolean().default(true).describe('A JSON line on stderr for each request.'),
  text: z.boolean().default(false).describe('Include prompts and responses in these lines.'),
})

/** A whole `reward.yaml`. */
export const rewardConfigSchema = z.strictObject({
  server: serverSchema.prefault({}),
  rubrics: z.record(name, rubricEntry).default({}),
  judges: z.record(name, rewardJudgeSchema).default({}),
  judge: judgeUseSchema.optional().describe('Which judge decides criteria that no rule checks.'),
  cache: z
    .strictObject({
      folder: z.string().min(1),
      maxBytes: z
        .int()
        .positive()
        .default(1024 ** 3),
    })
    .optional()
    .describe('Cache of the verdicts of judges.'),
  rules: ruleSettingsSchema
    .omit({ maxResponseChars: true })
    .prefault({})
    .describe(
      'Limits of the rules of a rubric on one response. Its length is limited by `limits.responseCharacters`.',
    ),
  solver: solverSchema.prefault({}).describe('Limits of the solver that decides criteria of kind `formal`.'),
  aggregation: aggregationSchema.prefault({}),
  routes: z.array(routeSchema).min(1).prefault(ALL_ROUTES),
  limits: limitsSchema.prefault({}),
  log: logSchema.prefault({}),
})
export type RewardConfig = z.output<typeof rewardConfigSchema>
export type RewardConfigInput = z.input<typeof rewardConfigSchema>
