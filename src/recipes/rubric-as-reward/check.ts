/** @file What a run of rubric-as-reward refuses before it trains; its plan refuses the same. */

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
import type { RunMode } from '../common/run-mode.ts'
import { assertLogicVocabulary, logicTokensOf } from '../common/starting-model.ts'
import { wordModel } from '../common/word-models.ts'
import { assertProblemsFit, formatFor } from '../logic/format.ts'
import { checkRubricAsRewardSettings } from './check-settings.ts'
import type { RubricAsRewardConfig } from './config.ts'
import { evaluationTokens, hopSets, longestRows, problemSet } from './evaluation.ts'
import { testProblemsOf } from './mixture.ts'
import { problemSource, testSources, trainingSources } from './problems.ts'
import { checkApart, type OpenSource } from './sources.ts'
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
