/** @file Rows in FOLIO's and ProofWriter's form, of our own, for tests. */

import { writeFileSync } from 'node:fs'

const NAMES = ['Mira', 'Anselm', 'Orla', 'Teo', 'Quinn', 'Ysolde', 'Bram', 'Fenna']

/** Two rows on each of `stories` stories. @param withConclusions whether conclusions have formulas */
export const folioRows = (stories: number, withConclusions: boolean, first = 0) =>
  Array.from({ length: 2 * stories }, (_, i) => {
    const name = `${NAMES[(first + (i >> 1)) % NAMES.length]}${first + (i >> 1)}`
    const id = name.toLowerCase()
    const isFirst = i % 2 === 0
    return {
      example_id: 100 * first + i,
      premises: [`Whoever mends nets at ${name}'s harbour owns a boat.`, `${name} mends nets all winter.`],
      'premises-FOL': ['∀x (Mends(x) → Owns(x))', `Mends(${id})`],
      conclusion: isFirst ? `${name} owns a boat.` : `${name} sails at night.`,
      ...(withConclusions && { 'conclusion-FOL': isFirst ? `Owns(${id})` : `Sails(${id})` }),
      label: isFirst ? 'True' : 'Uncertain',
    }
  })

/** Rows as ProofWriter's are written; two questions on each context. */
export const proofWriterRows = (contexts: number) =>
  Array.from({ length: 2 * contexts }, (_, i) => ({
    id: `PW-${i}`,
    context: `The otter likes the pike. If something likes the pike then it is number${i >> 1}. Kind things are wet.`,
    question: `Is the following statement true, false, or unknown? The otter is ${i % 2 === 0 ? `number${i >> 1}` : 'wet'}.`,
    options: ['A) True', 'B) False', 'C) Unknown'],
    answer: i % 2 === 0 ? 'A' : 'C',
  }))

/** Writes rows as JSON Lines. */
export const writeRows = (path: string, rows: readonly unknown[]): string => {
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return path
}
