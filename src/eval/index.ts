/** @file Evaluation: pass@k, best-of-N, diversity, novelty, validity of criteria, win rates, balance, optimisation tax. */

export * from './agreement.ts'
export * from './balance.ts'
export * from './bleu.ts'
export * from './embedding.ts'
export * from './internalisation.ts'
export * from './judge-quality.ts'
export * from './novelty.ts'
export * from './passk.ts'
export * from './tax.ts'
export * from './validity.ts'
export * from './winrate.ts'
