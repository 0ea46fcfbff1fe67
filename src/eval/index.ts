/** @file Evaluation: pass@k, best-of-N, balance over labels, optimisation tax. */

export * from './balance.ts'
export * from './passk.ts'
export * from './tax.ts'
