/** @file What a run of rubric-as-reward refuses before it trains; its plan refuses the same. */

import { DEFAULT_PROXIES, type ProxySettings } from '../../grade/logic/settings.ts'
import {
  assertDemonstrationsFit,
  below,
  curriculumSources,
  startVocabulary,
} from '../../tasks/logic/demonstrations.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { isEncodable } from '../../tasks/logic/format.ts'
import { vocabularyFor } from '../../tasks/logic/lengths.ts'
import { loadLogicRows } from '../../tasks/logic/loaders.ts'
import { miniatureFormat } from '../../tasks/logic/prompts.ts'
import { checkTrainingSeed } from '../../tasks/logic/testsets.ts'
import { LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import { ConfigError } from '../../util/errors.ts'
import { describeValue, shortKey } from '../../util/schema.ts'
import { checkMethod } from '../common/method-check.ts'
import { startShape } from '../common/plan.ts'
import { type RunMode, refuse } from '../common/refuse.ts'
import { assertLogicVocabulary, logicTokensOf } from '../common/starting-model.ts'
import { wordModel } from '../common/word-models.ts'
import { assertProblemsFit, formatFor } from '../logic/format.ts'
import { checkOptions } from '../options/options.ts'
import { checkSourceNames, type RubricAsRewardConfig, rubricAsRewardSchema } from './config.ts'
import { evaluationTokens, hopSets, longestRows, problemSet } from './evaluation.ts'
import { checkSchedule, isSchedule } from './lengths.ts'
import { conditionWeights, weighedRubric } from './rewards.ts'
import {
  checkApart,
  type OpenSource,
  problemSource,
  testProblemsOf,
  testSources,
  trainingSources,
} from './sources.ts'
import { continuedDemonstrations } from './supervised.ts'

/**
 * The checkpoint to start from; null when a cold start makes one, and in a plan when it comes later.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkRubricAsReward = (config: RubricAsRewardConfig, purpose: RunMode): string | null => {
  const given = checkMethod(config, purpose, {
    starts: 'logic-cold-start',
    remote: [
      config.softCriteria === 'learned' && [
        'softCriteria',
        'another than "learned" with policy.kind tinker, whose server does not train the verifier',
        'choose another',
      ],
    ],
    settings() {
      checkTrainingSeed(config.seed)
      checkRubricAsRewardSettings(config)
    },
    ...(config.task.prompt === 'miniature' && { assertReads: assertLogicVocabulary }),
  })
  const vocabulary = vocabularyOf(config, given)
  checkProblems(config, given, vocabulary, purpose)
  if (vocabulary !== null) checkDemonstrations(config, vocabulary)
  return given
}

/** How many tokens the miniature has; null where that is not known yet, and for chat models. */
const vocabularyOf = ({ task, coldStart }: RubricAsRewardConfig, given: string | null): number | null => {
  if (task.prompt === 'chat') return null
  if (given !== null) return logicTokensOf(given)
  return coldStart === null ? null : startVocabulary(coldStart.task).length
}

/** Shape of the model that a cold start makes, over the tokens that it has. */
export const modelOf = ({ coldStart }: Pick<RubricAsRewardConfig, 'coldStart'>) =>
  wordModel(coldStart ? startVocabulary(coldStart.task) : LOGIC_VOCABULARY)

/** Problems can be read, and leave room for an answer where the model is known that answers. */
const checkProblems = (
  config: RubricAsRewardConfig,
  given: string | null,
  vocabulary: number | null,
  purpose: RunMode,
): void => {
  const { task, rollout, evaluation } = config
  const trained = trainingSources(config, purpose === 'plan')
  const tested = testSources(config, purpose === 'plan')
  checkRows(config, trained, tested, vocabulary ?? undefined)
  const mayBeMissing = trained?.some(({ rows, generate }) => rows === null && generate === null) ?? false
  const problemAt = mayBeMissing ? null : problemSource(config, trained)
  const sets = [
    ...evaluation.sets.map(set => problemSet(config, set, FITTED)),
    ...hopSets(config, FITTED).map(({ problems }) => problems()),
    ...(tested === null ? [] : [testProblemsOf(tested, FITTED), longestRows(tested, FITTED)]),
  ]
  const shape = startShape(config, modelOf(config))
  if (shape === null || (given === null && config.coldStart === null)) return
  const format = given === null ? miniatureFormat(vocabulary!) : formatFor(task.prompt, given, task)
  const first =
    problemAt === null
      ? []
      : Array.from({ length: Math.min(FITTED, rollout.prompts) }, (_, i) => problemAt(i))
  assertProblemsFit(
    [...first, ...longestRows(trained ?? [], FITTED)],
    format,
    rollout.maxTokens,
    shape,
    'rollout.',
  )
  const place = evaluation.maxTokens === undefined ? 'rollout.' : 'evaluation.'
  assertProblemsFit(sets.flat(), format, evaluationTokens(config), shape, place)
}

/** Rows that the task cannot use, or that are in training and test. */
const checkRows = (
  { task, condition }: RubricAsRewardConfig,
  trained: readonly OpenSource[] | null,
  tested: readonly OpenSource[] | null,
  vocabulary?: number,
): void => {
  const file = task.file === null ? [] : [{ name: task.file, rows: loadLogicRows(task.file, task.format) }]
  if (task.prompt === 'miniature') {
    for (const { rows } of file) checkWords(rows, 'task.file', vocabulary)
    for (const [i, { rows }] of (trained ?? []).entries())
      checkWords(rows ?? [], `task.sources[${i}]`, vocabulary)
    for (const [i, { rows }] of (tested ?? []).entries())
      checkWords(rows ?? [], `evaluation.sources[${i}]`, vocabulary)
  }
  if (condition === 'proof') checkFormulas(trained ?? [])
  if (tested !== null) checkApart([...(trained ?? []), ...file], tested)
}

/**
 * @param vocabulary how many tokens the miniature has; those of the longer list where that is not known yet
 * @throws ConfigError for rows with words that it lacks
 */
const checkWords = (rows: readonly LogicTaskExample[], place: string, vocabulary?: number): void => {
  const strange = rows.filter(row => !isEncodable(row, vocabulary))
  if (strange.length === 0) return
  const [{ id, premises, conclusion }] = strange
  const sentence = [...premises, conclusion].find(
    text => !isEncodable({ id, premises: [], conclusion: text }, vocabulary),
  )
  const hint = isEncodable(strange[0])
    ? 'start from a model of `task.vocabulary: long` (logic-cold-start), or leave the rows out'
    : 'set task.prompt to "chat" and model.folder to a model with a tokenizer of its own (as preset paper has), or leave the rows out'
  throw new ConfigError(
    `${place}: expected rows of the words that the miniature reads, got ${strange.length} of ${rows.length} with words that it lacks, first ${shortKey(id)}: ${describeValue(sentence)}`,
    { hint },
  )
}

/** @throws ConfigError for rows whose proofs nobody can judge, where proofs are all that is paid */
const checkFormulas = (sources: readonly OpenSource[]): void => {
  for (const [i, { rows }] of sources.entries()) {
    const without = (rows ?? []).filter(({ conclusionFol }) => conclusionFol === null)
    if (without.length > 0)
      throw new ConfigError(
        `task.sources[${i}]: expected formulas of the conclusions with condition "proof", which pays for proofs of them, got ${without.length} of ${rows!.length} rows without, first ${without[0].id}`,
        { hint: "choose another condition, or another source: FOLIO's training rows have none" },
      )
  }
}

/** The start has the tokens and the context of what it is to go on learning. @throws ConfigError */
const checkDemonstrations = (config: RubricAsRewardConfig, vocabulary: number): void => {
  const { demonstrations } = config
  if (demonstrations === undefined) return
  below('demonstrations', () => continuedDemonstrations(config, vocabulary))
  const { numberedTo, proofs } = demonstrations
  const needed = vocabularyFor(curriculumSources(demonstrations), numberedTo, proofs).length
  if (needed > vocabulary)
    throw new ConfigError(
      `demonstrations: expected what takes the ${vocabulary} tokens of the model, got problems or step numbers that take ${needed}`,
      { hint: 'lower kinds, hops or numberedTo, or start from a model with the long vocabulary' },
    )
  const shape = startShape(config, modelOf(config))
  if (shape !== null)
    below('demonstrations', () => assertDemonstrationsFit(demonstrations, vocabulary, shape.maxPositions))
}

/** Problems of each set that are looked at for their lengths. */
const FITTED = 64

/**
 * Refuses settings of which one would silently be ignored.
 * @throws ConfigError naming the setting and what to do.
 */
export const checkRubricAsRewardSettings = (config: RubricAsRewardConfig): void => {
  checkTask(config)
  checkLearning(config)
  checkRejection(config)
  checkReward(config)
  checkCredit(config)
  checkAdvantage(config)
  const rubric = weighedRubric(config)
  checkOptions(config, {
    ...{ unpaid: unpaid(config), control: { of: 'verdicts', ignored: uncontrolled(config) } },
    allAsked: 'the criteria are worked out together, so asking for fewer saves nothing',
    ...{ criteria: rubric.criteria, rubrics: [rubric] },
  })
}

/** Why what options leave out would not be left out of what is paid. */
const unpaid = ({ condition, weights, credit, method }: RubricAsRewardConfig): string | null => {
  if (method === 'supervised') return 'method "supervised", which has no reward'
  if (Object.keys(weights ?? conditionWeights(condition)).length === 0)
    return `condition "${condition}", which is no weighted sum of criteria`
  return credit === 'per-step'
    ? 'credit "per-step", whose steps carry the verdicts of C2 also where that is left out'
    : null
}

const uncontrolled = ({ method, credit }: RubricAsRewardConfig): string | null => {
  if (method === 'supervised') return 'method "supervised", which has no reward'
  return credit === 'per-step' ? 'credit "per-step", where each step\'s own verdict stays true' : null
}

const checkTask = ({ task, coldStart, evaluation }: RubricAsRewardConfig): void => {
  checkSources(task, evaluation)
  if (coldStart !== null && task.prompt === 'chat')
    refuse(
      'task.prompt: expected "miniature" with coldStart, whose model reads word-level tokens, got "chat"',
      'set task.prompt to "miniature", or start from a chat model in model.folder',
    )
  const real = evaluation.sets.find(set => set === 'real' || set === 'real-shuffled')
  if (real !== undefined && evaluation.realFile === null)
    refuse(
      `evaluation.realFile: expected the path of a file of ProntoQA rows for the test set "${real}", got none`,
      `set evaluation.realFile, or take "${real}" out of evaluation.sets`,
    )
  if (evaluation.hopProblems !== undefined && evaluation.hops === undefined)
    refuse(
      `evaluation.hopProblems: expected nothing set without evaluation.hops, got ${evaluation.hopProblems}`,
      'set evaluation.hops, or leave evaluation.hopProblems out',
    )
  const unlisted = evaluation.hopsBetween?.find(hops => !evaluation.hops?.includes(hops))
  if (unlisted !== undefined)
    refuse(
      `evaluation.hopsBetween: expected lengths of evaluation.hops, got ${unlisted}`,
      'add it to evaluation.hops, or take it out',
    )
  if (!isSchedule(task.hops)) return
  checkSchedule(task.hops)
  if (task.file !== null)
    refuse(
      `task.hops: expected no schedule with task.file, whose rows have the lengths that they have, got one of kind "${task.hops.kind}"`,
      'leave task.file out, or the schedule',
    )
}

const checkSources = (
  { sources, file, hops, prompt, formulas }: RubricAsRewardConfig['task'],
  { sources: tested }: RubricAsRewardConfig['evaluation'],
): void => {
  if (formulas === 'shown' && prompt === 'miniature')
    refuse(
      'task.formulas: expected "hidden" with the miniature\'s prompts, which have sentences alone, got "shown"',
      'set task.prompt to "chat", or leave task.formulas out',
    )
  for (const [key, list] of [
    ['task.sources', sources],
    ['evaluation.sources', tested],
  ] as const) {
    checkSourceNames(list ?? [], key)
    const folio = list?.findIndex(({ kind }) => kind === 'folio') ?? -1
    if (folio >= 0 && prompt === 'miniature')
      refuse(
        `${key}[${folio}]: expected no FOLIO rows with task.prompt "miniature", whose word lists hold the words of generated and ProntoQA problems alone, got "folio"`,
        'set task.prompt to "chat" and model.folder to a model with a tokenizer of its own (as preset paper has), or leave the source out',
      )
  }
  if (sources === undefined) return
  if (file !== null)
    refuse(
      `task.file: expected none with task.sources, got ${file}`,
      'make it one of the sources: {kind, path}',
    )
  if (isSchedule(hops))
    refuse(
      `task.hops: expected no schedule with task.sources, got one of kind "${hops.kind}"`,
      'give each generated source its hops, or leave task.sources out',
    )
}

const isDefaultAdvantage = (advantage: RubricAsRewardConfig['advantage']): boolean => {
  const usual: Record<string, unknown> = rubricAsRewardSchema.parse({}).advantage
  return Object.entries(advantage).every(([name, value]) => usual[name] === value)
}

const checkLearning = ({ method, accepted, demonstrations, softCriteria }: RubricAsRewardConfig): void => {
  if (accepted !== undefined && method !== 'rejection')
    refuse(
      `accepted: expected nothing set with method "${method}", which accepts nothing`,
      'set method to "rejection", or leave accepted out',
    )
  if ((demonstrations === undefined) === (method === 'supervised'))
    refuse(
      method === 'supervised'
        ? 'demonstrations: expected what is learnt with method "supervised", got nothing'
        : `demonstrations: expected nothing set with method "${method}", which learns its own rollouts`,
      'set method to "supervised" and demonstrations to settings of logic-cold-start, or leave both out',
    )
  if (method === 'supervised' && softCriteria !== undefined)
    refuse(
      `softCriteria: expected nothing set with method "supervised", which has no reward, got "${softCriteria}"`,
      'leave it out, or set method to "grpo"',
    )
}

/** Whole rollouts are learnt that are correct and proved. */
const checkRejection = (config: RubricAsRewardConfig): void => {
  const { method, condition, credit, advantage, dropZero } = config
  if (method !== 'rejection') return
  const wrong = [
    ['condition', '"proof"', condition === 'proof', `"${condition}"`],
    ['credit', '"scalar"', credit === 'scalar', `"${credit}"`],
    ['advantage', 'nothing set', isDefaultAdvantage(advantage), JSON.stringify(advantage)],
    ['dropZero', 'true', dropZero, 'false: those that are rejected would have a part in the mean'],
  ] as const
  for (const [key, expected, holds, got] of wrong)
    if (!holds)
      refuse(
        `${key}: expected ${expected} with method "rejection", which learns whole rollouts that are correct and proved, got ${got}`,
        'leave it at that, or set method to "grpo"',
      )
}

const checkReward = ({ condition, weights, softCriteria, grader, verifier }: RubricAsRewardConfig): void => {
  if (verifier !== undefined && softCriteria !== 'learned')
    refuse(
      `verifier: expected nothing set with softCriteria "${softCriteria ?? 'heuristic'}", which no verifier judges`,
      'set softCriteria to "learned", or leave verifier out',
    )
  const own = conditionWeights(condition)
  if (weights !== null && Object.keys(own).length === 0)
    refuse(
      `weights: expected null with condition "${condition}", whose reward is no weighted sum, got ${JSON.stringify(weights)}`,
      'leave weights out, or choose another condition',
    )
  const { C4 = 0, C5 = 0 } = weights ?? own
  if (softCriteria !== undefined && C4 === 0 && C5 === 0)
    refuse(
      `softCriteria: expected nothing set where neither C4 nor C5 has a weight, got "${softCriteria}" with condition "${condition}"`,
      'set condition to "hybrid", give C4 or C5 a weight, or leave softCriteria out',
    )
  const changed = Object.entries(grader?.proxies ?? {}).find(
    ([name, value]) => value !== DEFAULT_PROXIES[name as keyof ProxySettings],
  )
  if ((softCriteria === 'exact' || softCriteria === 'learned') && changed !== undefined)
    refuse(
      `grader.proxies.${changed[0]}: expected nothing set with softCriteria "${softCriteria}", which does without the proxies, got ${changed[1]}`,
      'set softCriteria to "heuristic", or leave grader.proxies out',
    )
}

const checkCredit = ({ credit, stepWeight }: RubricAsRewardConfig): void => {
  if (credit === 'scalar' && stepWeight !== 1)
    refuse(
      `stepWeight: expected 1 with credit "scalar", which knows no steps, got ${stepWeight}`,
      'set credit to "per-step", or leave stepWeight out',
    )
}

const checkAdvantage = ({ condition, advantage: { redistribute } }: RubricAsRewardConfig): void => {
  if (condition !== 'rubric_norm' && redistribute)
    refuse(
      `advantage.redistribute: expected false with condition "${condition}", which mixes the criteria before they are normalised, got true`,
      'set condition to "rubric_norm", or advantage.redistribute to false',
    )
}
