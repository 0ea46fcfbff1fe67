/** @file Configuration of the rlcer recipe; defaults are those of the paper where it gives them, ours where it is silent. */

import { z } from 'zod'
import { proposalSettingsSchema } from '../../grade/proposal/index.ts'
import { thinkingJudgeSchema } from '../../grade/thinking/index.ts'
import { moreTestsSchema, questionTaskShape } from '../../tasks/questions/index.ts'
import {
  advantageSchema,
  choice,
  flag,
  kindSchema,
  orAbsent,
  orNull,
  pipelinedShape,
  recipeSetting,
  rolloutSetting,
  section,
} from '../../train/config.ts'
import { amount, fraction, natural, whole } from '../../util/setting-shapes.ts'
import { anchorsSetting } from '../common/anchors.ts'
import { criticSchema, lossBesideCritic } from '../common/critic.ts'
import { sampledEvaluationShape } from '../common/evaluation-config.ts'
import { LOGIC_THINKING, MINIATURES } from '../common/miniatures.ts'
import { scaffoldRatio, scaffoldShape } from '../common/scaffold.ts'
import { criteriaOptionsShape } from '../options/options.ts'
import { arithmeticPhaseSchema, coldStartSetting } from '../sft/config.ts'

/** The miniature: chains of operations with shown steps, criteria that are executed. */
const arithmeticSchema = kindSchema('arithmetic', MINIATURES.arithmetic.settings.shape)

/** The same with proofs: what `logic-rubric-start` makes a model for. */
const logicSchema = kindSchema('logic', LOGIC_THINKING.settings.shape)

/** Rows of a file, answered by a chat model. */
const questionsSchema = kindSchema('questions', {
  ...questionTaskShape,
  tests: orAbsent(
    moreTestsSchema,
    'Further sets of questions for evaluation, by name; each is reported separately, after that of `testFile` or `holdOut`.',
  ),
})

const taskSchema = z.discriminatedUnion('kind', [arithmeticSchema, logicSchema, questionsSchema])

export type QuestionsConfig = z.output<typeof questionsSchema>

const rubricVerifierSchema = z.discriminatedUnion('kind', [
  /** The task's own: criteria are executed. */
  kindSchema('exact', {}),
  /** The same with verdicts inverted at random, always the same ones of a rollout. */
  kindSchema('noisy', {
    flipRate: fraction.default(0.1).describe('Chance that a verdict is inverted.'),
  }),
  /** A judge by script that goes easy on some criteria, always on the same ones of the same response. */
  kindSchema('lenient', {
    share: fraction.default(0.5).describe('Share of criteria that it goes easy on, by their words.'),
    rate: fraction.default(0.9).describe('Chance that what a response does not earn there is given to it.'),
  }),
  /** A language model that is asked: endpoints, how it is asked, what it remembers. */
  kindSchema('judge', {
    judge: thinkingJudgeSchema.describe('Who judges.'),
  }),
  /** Criteria in words that stand in a file are executed by its rules, the others judged. */
  kindSchema('rules', {
    file: z
      .string()
      .describe(
        'Rubric whose criteria have rules; a proposed criterion with the words of one is decided by its rule.',
      ),
    judge: orNull(
      thinkingJudgeSchema,
      'Who judges criteria with other words; null: nobody, so that they are unknown, and never valid.',
    ),
  }),
  /** A model that learnt to: a checkpoint of `gradus train learned-verifier`. */
  kindSchema('learned', {
    folder: z.string().describe('Checkpoint of a learned verifier, named as `model.folder`.'),
    threshold: z.number().gt(0).lt(1).default(0.5).describe('Met from this probability on.'),
  }),
])

/** What a reasoner is paid for: both; the answer alone (RLVR); its thinking alone; chance in place of that. */
const REASONER_REWARDS = ['outcome+rubric', 'outcome', 'rubric', 'random'] as const

const validitySchema = z.strictObject({
  alpha: z
    .number()
    .min(-1)
    .max(1)
    .default(0.2)
    .describe('A criterion is valid strictly above this correlation with being right (Eq. 7).'),
  signAware: flag(
    true,
    'The absence of a penalised flaw counts as satisfaction; false: Eq. 7 read literally.',
  ),
  onNull: choice(
    ['drop', 'as-false'],
    'drop',
    'What a missing verdict counts as: nothing for that response, or not met.',
  ),
  proxies: choice(
    ['keep', 'drop'],
    'keep',
    'Criteria that are proxies of the outcome: `keep` only reports them, `drop` also leaves them out of the reward.',
  ),
})

const CONTROLS = ['random', 'shuffled', 'others', 'flipped', 'other-question'] as const
export type VerdictControl = (typeof CONTROLS)[number]

const rubricatorSchema = z.strictObject({
  enabled: flag(true, 'False: no rubricators in training at all, so that RLVR is compared at its own cost.'),
  maxTokens: natural.default(112).describe('Most tokens of a response.'),
  evolving: flag(true, 'Paid for valid criteria beside the format; false: the arm without evolving.'),
  uninformative: choice(
    ['neutral', 'zero', 'mask'],
    'neutral',
    "Where all responses are right or all wrong no criterion can be valid, and a rubricator earns for evolving the step's mean over other questions, or 0, beside the format; `mask`: it is left out of what is learnt, its format too.",
  ),
  distinct: flag(
    true,
    'Criteria of a rubric with the same words count once: among the valid, among all, and for the fewest that the format asks for.',
  ),
  constrained: flag(
    false,
    'Held to the grammar of criteria while it writes (arithmetic); log-probs stay those of the whole distribution.',
  ),
  format: proposalSettingsSchema.prefault({}).describe('What the format reward asks for.'),
  unformattedSteers: flag(false, 'Rubrics that break the format steer reasoners all the same.'),
})

const evaluationSchema = z.strictObject({
  ...sampledEvaluationShape,
  temperature: sampledEvaluationShape.temperature
    .unwrap()
    .default(0.7)
    .describe('Of sampling; 1 samples as the model is, 0 takes the likeliest token.'),
  maxTokens: natural.optional().describe('Most tokens of an answer; absent: as `rollout.maxTokens`.'),
  hinted: flag(true, "Each set also with the policy's own rubrics as hints, at the start and the end."),
  placebo: flag(true, 'Then also with the hints of another question, as long as its own.'),
  bestOf: z
    .array(natural)
    .default([])
    .describe('Expected best score of so many of the samples; at most as many as there are.'),
  rubrics: whole
    .max(1_000_000)
    .default(100)
    .describe('Questions on which proposed rubrics are looked at, at the start and the end; 0: none.'),
})

export const rlcerSchema = z.strictObject({
  recipe: recipeSetting('rlcer'),
  ...pipelinedShape,
  coldStart: coldStartSetting(arithmeticPhaseSchema).meta({ only: 'task.kind: arithmetic' }),
  task: taskSchema.prefault({ kind: 'arithmetic' }).describe('What is trained on.'),
  reasonerReward: choice(REASONER_REWARDS, 'outcome+rubric', 'What a reasoner is paid for.'),
  emptyCot: orNull(
    fraction,
    'Reward of thinking where no criterion is valid; null: .5 with a critic, else 0.',
  ),
  ...criteriaOptionsShape,
  dedupe: flag(true, 'Criteria with the same words count once for a reasoner.'),
  maskFinalAnswer: flag(true, 'Rubricator and verifier do not see the final answer.'),
  validity: validitySchema.prefault({}).describe('When a criterion counts as valid.'),
  anchors: anchorsSetting,
  overlong: orNull(
    z.strictObject({
      buffer: natural.describe('Tokens before the limit from which a response is too long.'),
      factor: amount.default(1).describe('Most that is taken off for it.'),
    }),
    'Penalty of reasoners for the last `buffer` tokens before `rollout.maxTokens` (DAPO); null: none.',
  ),
  rubricator: rubricatorSchema.prefault({}).describe('The role that proposes rubrics.'),
  verifier: rubricVerifierSchema.prefault({ kind: 'exact' }).describe('Who verifies criteria.'),
  control: orNull(
    z.enum(CONTROLS),
    'A negative control: verdicts drawn at random, of the responses to the question in another order, of another response in any case, inverted, or the criteria and verdicts of another question of the step (`other-question`). Take the last, which pays nothing for being right: `shuffled` and `others` lean, and with all but the last emptyCot 0 beside a critic pays for making criteria valid. `controlAt`: those that pay, after valid criteria were chosen; or all of them before. Choosing by correlation brings the outcome back into the latter.',
  ),
  controlAt: choice(['reward', 'verdicts'], 'reward', 'Where the control takes the place of the truth.'),
  critic: criticSchema
    .nullable()
    .prefault({})
    .describe('PPO with a value head; null: baselines by leaving one out.'),
  roles: choice(
    ['sum', 'pooled'],
    'sum',
    "`sum`: the sum of both roles' means over tokens (Eq. 13); `pooled`: one mean over the tokens of both.",
  ),
  advantage: section('Without a critic.', {
    ...advantageSchema.shape,
    scale: advantageSchema.shape.scale
      .unwrap()
      .default('batch')
      .describe("`batch`: each role's advantages to mean 0 and variance 1 over the step."),
    perPart: flag(false, 'Each part of a reward is normalised within its question before they are added up.'),
  }),
  scaffold: orNull(
    z.strictObject(scaffoldShape),
    "Show reasoners valid criteria that were proposed for their question before (RuscaRL's scaffold); null: none.",
  ),
  ratio: scaffoldRatio,
  loss: lossBesideCritic.prefault('gradus:rlcer').describe("The critic's term is the setting `critic`'s."),
  rollout: rolloutSetting({ prompts: 16, samples: 8, maxTokens: 96 }),
  questionsTogether: natural
    .default(16)
    .describe(
      'Questions whose rollouts are asked for together: rubricators begin when the reasoners of these are there.',
    ),
  evaluation: evaluationSchema.prefault({}).describe('When and how the model is tested.'),
})

export type RlcerConfig = z.output<typeof rlcerSchema>
