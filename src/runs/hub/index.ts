/** @file Models of runs on the Hugging Face Hub: card, files, upload. */

export { type CardFacts, isTold, modelCard, withoutFolders } from './card.ts'
export { isAdapter, type ModelFile, modelFiles } from './files.ts'
export { HubError, type Pushed, type PushOptions, pushModel } from './push.ts'
