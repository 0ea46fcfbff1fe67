/** @file Models of runs on the Hugging Face Hub: card, files, upload. */

export { isShared, modelCard, withoutFolders } from './card.ts'
export { isAdapter, type ModelFile, modelFiles } from './files.ts'
export { pushModel } from './push.ts'
