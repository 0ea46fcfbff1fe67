/** @file Learning logic: generated proofs that a curriculum mixes, and drills in looking rules up. */

import { LogicSolver } from '../../grade/logic/solver.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import {
  assertDemonstrationsFit,
  below,
  demonstrations,
  startVocabulary,
} from '../../tasks/logic/demonstrations.ts'
import { miniatureFormat } from '../../tasks/logic/prompts.ts'
import type { LogicStart } from '../../tasks/logic/start-settings.ts'
import { logicTask } from '../../tasks/logic/task.ts'
import { checkTrainingSeed, logicTestSet, startTestSets } from '../../tasks/logic/testsets.ts'
import { buildLogicTokenizerConfig, buildLogicTokenizerJson } from '../../tasks/logic/tokenizer-json.ts'
import type { ModelShape } from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'
import { assertLogicVocabulary, logicTokensOf } from '../common/starting-model.ts'
import { freshWords } from '../common/word-models.ts'
import { CRITERION_NAMES, evaluateSets } from '../logic/evaluate.ts'
import { assertProblemsFit } from '../logic/format.ts'
import type { ConfigOf, LearntTask } from './learnt.ts'

/** Problems of each set that are looked at for their lengths. */
const FITTED = 64

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. */
export const freshLogicModel = (
  shape: ModelShape,
  seed: number | string,
  vocabulary: readonly string[],
): ModelSource =>
  freshWords(vocabulary, shape, seed, {
    'tokenizer.json': `${JSON.stringify(buildLogicTokenizerJson(vocabulary), null, 1)}\n`,
    'tokenizer_config.json': `${JSON.stringify(buildLogicTokenizerConfig(shape.maxPositions), null, 2)}\n`,
  })

/** @throws ConfigError for a model that lacks tokens */
const assertTokens = (folder: string, { length: needed }: readonly string[], asked: boolean): void => {
  const known = logicTokensOf(folder)
  if (known >= needed) return
  throw new ConfigError(
    `model.folder: expected a model of the ${needed} tokens that ${asked ? 'vocabulary "long" names' : 'the curriculum and its evaluation take'}, got one of ${known} in ${folder}`,
    {
      hint: `${asked ? 'leave task.vocabulary out' : 'leave kinds out and keep to five hops'}, or make a model of \`task.vocabulary: long\` from fresh weights`,
    },
  )
}

/**
 * The end is evaluated in full, the rest briefly.
 * @param folder of a model that is there; null: fresh weights, or a model that comes later
 */
export const learnLogic = (config: ConfigOf<LogicStart>, folder: string | null): LearntTask => {
  const { seed, steps, batch, task, model, evaluation } = config
  checkTrainingSeed(seed)
  const { realFile, problemsBetween, greedy, hops } = task.tests
  const tokens = below('task', () => startVocabulary(task))
  const vocabulary = folder === null ? tokens.length : logicTokensOf(folder)
  const format = miniatureFormat(vocabulary)
  const generated = startTestSets(task)
  const real = { title: 'real', problems: () => logicTestSet('real', { realPath: realFile! }) }
  const atEnd = [...generated, ...(realFile === null ? [] : [real])]
  const { maxTokens } = evaluation
  return {
    draw: below('task', () => demonstrations({ ...task, seed, steps, batch }, vocabulary)),
    fresh: () => freshLogicModel(model.shape, seed, tokens),
    assertModel: own => {
      assertLogicVocabulary(own)
      assertTokens(own, tokens, task.vocabulary === 'long')
    },
    rooms: maxPositions => {
      below('task', () => assertDemonstrationsFit(task, vocabulary, maxPositions))
      const problems = atEnd.flatMap(set => set.problems(FITTED))
      assertProblemsFit(problems, format, maxTokens, { maxPositions }, 'evaluation.')
      return []
    },
    // The longest problems, of the first set where there are several.
    primarySet: generated.reduce((longest, set) => (set.hops > longest.hops ? set : longest)).title,
    criterionNames: CRITERION_NAMES,
    evaluate: policy => async (step, last) => {
      const solver = await LogicSolver.start({ backend: 'ground' })
      const count = last ? evaluation.problems : problemsBetween
      const sets = (last ? atEnd : generated).map(({ title, problems }) => ({
        title,
        problems: () => problems(count),
      }))
      try {
        return await evaluateSets(
          { policy, task: logicTask(format, solver, { truth: 'only' }) },
          step,
          sets,
          {
            samples: greedy === 'only' ? 0 : evaluation.samples,
            greedy: greedy !== false && last,
            sampling: { maxTokens, temperature: 1, seed: 'evaluation' },
          },
        )
      } finally {
        await solver.close()
      }
    },
    words: {
      training: `curriculum ${task.curriculum.kind}, wording ${task.wording}`,
      evaluation: `${evaluation.problems} problems for each of ${hops.join(', ')} hops at the end`,
    },
  }
}
