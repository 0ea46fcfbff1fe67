/** @file Memory: a bank of lessons by question, embedders, retrieval, injection, and the curriculum around it. */

export * from './acceptance.ts'
export * from './bank.ts'
export {
  BankFile,
  type BankFileContent,
  checkBankFile,
  readBankFile,
  startFromFile,
  writeBankFile,
} from './bank-file.ts'
export type { BankState, OtherEmbedder } from './bank-state.ts'
export * from './config.ts'
export type { Embedder } from './embedder.ts'
export * from './guidance.ts'
export { HashedNgrams, type HashedOptions } from './hashed.ts'
export { type BankItem, questionHash, type Reflection, type TakeawaysSchema } from './item.ts'
export type { Json } from './json.ts'
export * from './open.ts'
export * from './references.ts'
export * from './reflection-format.ts'
export * from './window.ts'
