/** @file Models: decoder transformers and their files, tokenizers, chat templates. */

export { AutomatonBuilder, follow, type TokenAutomaton } from './automaton.ts'
export {
  type ChatFormat,
  chatFormat,
  chatFormatOf,
  stopTokensOf,
  type TokenText,
  withoutThinking,
} from './chat-format.ts'
export * from './chat-template.ts'
export * from './checkpoint.ts'
export * from './config.ts'
export { type FetchModelOptions, fetchModel, type ModelPart } from './fetch-model.ts'
export { type GrownVocabulary, growCheckpoint, growModel } from './grow.ts'
export {
  initLora,
  isAdapterFolder,
  type LoraConfig,
  loadAdapter,
  loraModules,
  saveAdapter,
} from './lora-files.ts'
export { type NamedTensors, readSafetensors, writeSafetensors } from './safetensors.ts'
export * from './tokenizer.ts'
export { initWeights, loadWeights, tensorSpecs } from './weights.ts'
