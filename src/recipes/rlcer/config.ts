/** @file Configuration of the rlcer recipe; defaults are those of the paper where it gives them, ours where it is silent. */

import { z } from 'zod'
import { proposalSettingsSchema } from '../../grade/proposal/index.ts'
import { rubricJudgeSchema } from '../../grade/thinking/index.ts'
import { moreTestsSchema, questionTaskShape, rolePromptsSchema } from '../../tasks/questions/index.ts'
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

const arithmeticSchema = kindSchema(
  'arithmetic',
  'Generated chains of operations, with right and wrong answers.',
  MINIATURES.arithmetic.settings.shape,
)

const logicSchema = kindSchema(
  'logic',
  'Generated proofs, for a model of `logic-rubric-start`.',
  LOGIC_THINKING.settings.shape,
)

const questionsSchema = kindSchema(
  'questions',
  'Questions of files, answered by a chat model with thinking.',
  {
    ...questionTaskShape,
    prompts: orAbsent(rolePromptsSchema, questionTaskShape.prompts.description!),
    tests: orAbsent(
      moreTestsSchema,
      'Further sets of questions for evaluation, by name; each is reported separately, after that of `testFile` or `holdOut`.',
    ),
  },
)

const taskSchema = z.discriminatedUnion('kind', [arithmeticSchema, logicSchema, questionsSchema])

export type QuestionsConfig = z.output<typeof questionsSchema>

const rubricVerifierSchema = z.discriminatedUnion('kind', [
  kindSchema('exact', 'The task executes criteria.', {}),
  kindSchema('noisy', 'The same, with verdicts inverted at random, always the same ones of a rollout.', {
    flipRate: fraction.default(0.1).describe('Probability that a verdict is inverted.'),
  }),
  kindSchema('lenient', 'The same, but lenient on some criteria, always on the same ones of a response.', {
    share: fraction
      .default(0.5)
      .describe('Share of criteria that are judged leniently; which ones depends on their words.'),
    rate: fraction
      .default(0.9)
      .describe(
        'Probability that such a criterion is decided in favour of a response that does not deserve it.',
      ),
  }),
  kindSchema('judge', 'A language model is asked.', {
    judge: rubricJudgeSchema.describe('The judge of all criteria.'),
  }),
  kindSchema(
    'rules',
    'Criteria with the words of one in a file are decided by its rule, the others by a judge.',
    {
      file: z
        .string()
        .describe(
          'Rubric file whose criteria have rules. A proposed criterion with the same words as one of them is decided by its rule.',
        ),
      judge: orNull(
        rubricJudgeSchema,
        'The judge of criteria with other words; null: none, so that these get no verdict and are never valid.',
      ),
    },
  ),
  kindSchema('learned', 'A checkpoint of `gradus train learned-verifier`.', {
    folder: z.string().describe('Checkpoint of a learned verifier, named as in `model.folder`.'),
    threshold: z
      .number()
      .gt(0)
      .lt(1)
      .default(0.5)
      .describe('Least probability at which a criterion counts as met.'),
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
    .describe('A criterion is valid if its correlation with being right is above this (Eq. 7).'),
  signAware: flag(
    true,
    'A criterion with points below zero counts as satisfied if it is not met; false: Eq. 7 read literally.',
  ),
  onNull: choice(
    ['drop', 'as-false'],
    'drop',
    'How a missing verdict counts: the response is left out (`drop`), or the criterion is not met (`as-false`).',
  ),
  proxies: choice(
    ['keep', 'drop'],
    'keep',
    'What happens to criteria that are proxies of the outcome: `keep` only reports them, `drop` also leaves them out of the reward.',
  ),
})

const CONTROLS = ['random', 'shuffled', 'others', 'flipped', 'other-question'] as const
export type VerdictControl = (typeof CONTROLS)[number]

const rubricatorSchema = z.strictObject({
  enabled: flag(
    true,
    'Sample rubricators in training. false: none, so that RLVR is compared at its own cost.',
  ),
  maxTokens: natural.default(112).describe('Most tokens of a rubric.'),
  evolving: flag(
    true,
    'Reward rubricators for valid criteria, beside the format; false: only for the format (the arm without evolving).',
  ),
  uninformative: choice(
    ['neutral', 'zero', 'mask'],
    'neutral',
    "What a rubricator earns for validity if all responses are right or all wrong, so that no criterion can be valid: the step's mean over other questions (`neutral`), or 0 (`zero`). `mask`: nothing is learnt from it.",
  ),
  distinct: flag(
    true,
    "Criteria of a rubric with the same words count once: among the valid ones, among all, and for the format's minimum.",
  ),
  constrained: flag(
    false,
    'Restrict sampling of rubrics to the grammar of criteria (arithmetic). Log-probs stay those of the whole distribution.',
  ),
  format: proposalSettingsSchema.prefault({}).describe('What the format of a rubric requires.'),
  unformattedSteers: flag(false, 'Let rubrics that break the format reward reasoners too.'),
})

const evaluationSchema = z.strictObject({
  ...sampledEvaluationShape,
  temperature: sampledEvaluationShape.temperature
    .unwrap()
    .default(0.7)
    .describe('Sampling temperature. 1: the distribution of the model; 0: the most likely token.'),
  maxTokens: natural.optional().describe('Most tokens of an answer; absent: as `rollout.maxTokens`.'),
  hinted: flag(
    true,
    "At the start and the end, also evaluate every set with a rubric of the policy's own as hints.",
  ),
  placebo: flag(
    true,
    'With `hinted`, also evaluate with hints of another question, of about the same length.',
  ),
  bestOf: z
    .array(natural)
    .default([])
    .describe(
      'Numbers n for which the expected best score of n samples is reported; each at most `samples`.',
    ),
  rubrics: whole
    .max(1_000_000)
    .default(100)
    .describe('Number of questions whose proposed rubrics are evaluated at the start and the end; 0: none.'),
})

export const rlcerSchema = z.strictObject({
  recipe: recipeSetting('rlcer'),
  ...pipelinedShape,
  coldStart: coldStartSetting(arithmeticPhaseSchema).meta({ only: 'task.kind: arithmetic' }),
  task: taskSchema.prefault({ kind: 'arithmetic' }).describe('The task to train on.'),
  reasonerReward: choice(
    REASONER_REWARDS,
    'outcome+rubric',
    'Reward of a reasoner: for answer and thinking (`outcome+rubric`), for the answer alone (`outcome`, RLVR), for thinking alone (`rubric`), or a `random` number in place of the latter.',
  ),
  emptyCot: orNull(fraction, 'Reward of thinking if no criterion is valid; null: 0.5 with a critic, else 0.'),
  ...criteriaOptionsShape,
  dedupe: flag(true, 'Valid criteria with the same words count once in the reward of a reasoner.'),
  maskFinalAnswer: flag(true, 'Hide the final answer from rubricator and verifier.'),
  validity: validitySchema.prefault({}).describe('When a criterion counts as valid.'),
  anchors: anchorsSetting,
  overlong: orNull(
    z.strictObject({
      buffer: natural.describe('Number of tokens before the limit at which the penalty begins.'),
      factor: amount.default(1).describe('Largest penalty, at the limit.'),
    }),
    'Penalty on responses of reasoners that reach the last `buffer` tokens before `rollout.maxTokens` (DAPO); null: none.',
  ),
  rubricator: rubricatorSchema.prefault({}).describe('The role that proposes rubrics.'),
  verifier: rubricVerifierSchema
    .prefault({ kind: 'exact' })
    .describe('What decides whether criteria are met.'),
  control: orNull(
    z.enum(CONTROLS),
    "Negative control: verdicts drawn at random (`random`), of the question's responses in another order (`shuffled`), always of another response (`others`), inverted (`flipped`), or criteria and verdicts of another question of the step (`other-question`); null: none. Use the last: it pays nothing for being right. `shuffled` and `others` are biased, and with a critic and `emptyCot` 0 all others pay for making criteria valid.",
  ),
  controlAt: choice(
    ['reward', 'verdicts'],
    'reward',
    'Which verdicts the control replaces: those that pay, after valid criteria were chosen (`reward`), or all of them before (`verdicts`). In the latter choosing by correlation brings the outcome back.',
  ),
  critic: criticSchema
    .nullable()
    .prefault({})
    .describe('PPO with a critic; null: baselines within the question.'),
  roles: choice(
    ['sum', 'pooled'],
    'sum',
    "How the losses of both roles are added: the sum of each role's mean over tokens (`sum`, Eq. 13), or one mean over the tokens of both (`pooled`).",
  ),
  advantage: section('How rewards become advantages without a critic.', {
    ...advantageSchema.shape,
    scale: advantageSchema.shape.scale
      .unwrap()
      .default('batch')
      .describe(
        "What centred rewards are divided by: each role's standard deviation over the step (`batch`), that of the group (`group`), or nothing (`none`).",
      ),
    perPart: flag(false, 'Normalise each part of a reward within its question before the parts are added.'),
  }),
  scaffold: orNull(
    z.strictObject(scaffoldShape),
    "Show reasoners valid criteria that were proposed for their question before (RuscaRL's scaffold); null: none.",
  ),
  ratio: scaffoldRatio,
  loss: lossBesideCritic
    .prefault('gradus:rlcer')
    .describe(
      "The loss: the name of a preset, a preset with changes `{preset, kl, ...}`, or all of it. The critic's term comes from `critic`.",
    ),
  rollout: rolloutSetting({ prompts: 16, samples: 8, maxTokens: 96 }),
  questionsTogether: natural
    .default(16)
    .describe(
      'Number of questions that are sampled together. Their rubricators begin when their reasoners have finished.',
    ),
  evaluation: evaluationSchema.prefault({}).describe('When and how the model is tested.'),
})

export type RlcerConfig = z.output<typeof rlcerSchema>
