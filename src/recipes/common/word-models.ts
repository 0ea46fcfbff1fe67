/** @file Models that read the words of one task alone: fresh weights, and the refusal of models that read others. */

import { loadConfig } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { isAdapterFolder } from '../../model/lora-files.ts'
import { hasTokenizer, loadTokenizer } from '../../model/tokenizer.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { ARITHMETIC_VOCABULARY, arithmeticTokenizer } from '../../tasks/arithmetic/vocabulary.ts'
import { THOUGHT_VOCABULARY, thoughtTokenizer } from '../../tasks/checklist/thinking/thought.ts'
import { CHECKLIST_VOCABULARY, checklistTokenizer } from '../../tasks/checklist/vocabulary.ts'
import { LOGIC_RUBRIC_VOCABULARY } from '../../tasks/logic/thinking/text.ts'
import { RECORDS_VOCABULARY, recordsTokenizer } from '../../tasks/records/vocabulary.ts'
import { SPECIAL_TOKENS } from '../../tasks/small-vocabulary.ts'
import type { ModelShape } from '../../train/config.ts'
import { CheckpointError } from '../../util/errors.ts'
import { miniatureShape } from './miniature.ts'

/** The words of each task, the special tokens first, and where a model of them comes from. */
const WORDS = {
  packing: {
    task: 'the packing task',
    vocabulary: CHECKLIST_VOCABULARY,
    hint: 'start from package:models/packing-start, or from what `gradus train checklist-cold-start` makes',
  },
  'packing-thinking': {
    task: 'the packing task with thinking',
    vocabulary: THOUGHT_VOCABULARY,
    hint: 'start from package:models/packing-thinking-start, or from what `gradus train checklist-cold-start --set task.thinking=true` makes',
  },
  arithmetic: {
    task: 'the arithmetic task',
    vocabulary: ARITHMETIC_VOCABULARY,
    hint: 'start from package:models/arithmetic-start, or from what `gradus train arithmetic-cold-start` makes',
  },
  records: {
    task: 'the records task',
    vocabulary: RECORDS_VOCABULARY,
    hint: 'start from package:models/records-start, or from what `gradus train records-cold-start` makes',
  },
  'logic-rubrics': {
    task: 'the logic task with rubrics',
    vocabulary: LOGIC_RUBRIC_VOCABULARY,
    hint: 'make one with `gradus train logic-rubric-start`, and name its last checkpoint',
  },
} as const

/** Tokenizer files of a model with a context of so many tokens. */
const TOKENIZERS = {
  packing: checklistTokenizer,
  'packing-thinking': thoughtTokenizer,
  arithmetic: arithmeticTokenizer,
  records: recordsTokenizer,
}

/** A Llama over some words. @throws ConfigError for heads that do not divide the width */
export const wordModel =
  (vocabulary: readonly string[]) =>
  (shape: ModelShape): ModelConfig =>
    miniatureShape(shape, {
      vocabSize: vocabulary.length,
      bosTokenId: SPECIAL_TOKENS.bos,
      eosTokenIds: [SPECIAL_TOKENS.eos],
    })

/** The same over the words of a task. */
export const taskModel = (task: keyof typeof WORDS) => wordModel(WORDS[task].vocabulary)

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. */
export const freshModel = (
  task: keyof typeof TOKENIZERS,
  shape: ModelShape,
  seed: number | string,
): ModelSource => freshWords(WORDS[task].vocabulary, shape, seed, TOKENIZERS[task](shape.maxPositions))

/** The same over any words. */
export const freshWords = (
  vocabulary: readonly string[],
  shape: ModelShape,
  seed: number | string,
  files: Readonly<Record<string, string>>,
): ModelSource => ({
  init: { config: wordModel(vocabulary)(shape), seed, embeddingStd: shape.embeddingStd, files },
})

/** Refuses a model that cannot read a task's words. @throws CheckpointError when its vocabulary is too small, or its tokenizer another one */
export const assertWords =
  (name: keyof typeof WORDS) =>
  (folder: string): void => {
    if (isAdapterFolder(folder)) return
    const { task, vocabulary, hint } = WORDS[name]
    const tokenizer = hasTokenizer(folder) ? loadTokenizer(folder) : null
    const fits =
      loadConfig(folder).vocabSize >= vocabulary.length &&
      (tokenizer === null || vocabulary.every((token, id) => tokenizer.idOf(token) === id))
    if (fits) return
    throw new CheckpointError(`${folder}: expected a model of ${task}'s ${vocabulary.length} tokens`, {
      hint,
    })
  }
