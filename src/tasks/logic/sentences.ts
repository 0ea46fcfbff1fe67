/** @file The sentences of a generated problem: each as text and as a formula, built once and shared. */

import { atom, type Formula, forall, implies, not } from '../../grade/logic/formula.ts'

/** How a rule is worded: "Wumpuses are ...", "Each wumpus is ...", "Every wumpus is ...". */
export type RuleTemplate = 'plural' | 'each' | 'every'

/** One sentence and its meaning. Shared between problems: read only. */
export interface Sentence {
  readonly text: string
  readonly fol: Formula
}

const memoise = (build: (key: string) => Sentence) => {
  const known = new Map<string, Sentence>()
  return (key: string): Sentence => {
    let sentence = known.get(key)
    if (sentence === undefined) {
      sentence = build(key)
      known.set(key, sentence)
    }
    return sentence
  }
}

const capitalise = (word: string) => word[0].toUpperCase() + word.slice(1)
const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
const signed = (body: Formula, negated: boolean) => (negated ? not(body) : body)

// One formula per meaning, however it is worded: formula keys are remembered by object.
const formulas = new Map<string, Formula>()
const shared = (key: string, build: () => Formula): Formula => {
  let formula = formulas.get(key)
  if (formula === undefined) {
    formula = build()
    formulas.set(key, formula)
  }
  return formula
}

const subjectText = (template: string, noun: string) =>
  template === 'plural' ? `${capitalise(noun)}es are` : `${template === 'each' ? 'Each' : 'Every'} ${noun} is`

const isaRules = memoise(key => {
  const [template, noun, kind] = key.split('|')
  const predicate = template === 'plural' ? `${kind}es` : withArticle(kind)
  return {
    text: `${subjectText(template, noun)} ${predicate}.`,
    fol: shared(`${noun}|${kind}`, () => forall('x', implies(atom(noun, 'x'), atom(kind, 'x')))),
  }
})

const propertyRules = memoise(key => {
  const [template, noun, sign, adjective] = key.split('|')
  return {
    text: `${subjectText(template, noun)} ${sign}${adjective}.`,
    fol: shared(`${noun}|${sign}|${adjective}`, () =>
      forall('x', implies(atom(noun, 'x'), signed(atom(adjective, 'x'), sign !== ''))),
    ),
  }
})

const kindFacts = memoise(key => {
  const [name, kind] = key.split('|')
  return { text: `${name} is ${withArticle(kind)}.`, fol: atom(kind, name.toLowerCase()) }
})

const propertyFacts = memoise(key => {
  const [name, sign, adjective] = key.split('|')
  return {
    text: `${name} is ${sign}${adjective}.`,
    fol: signed(atom(adjective, name.toLowerCase()), sign !== ''),
  }
})

const signWord = (negated: boolean) => (negated ? 'not ' : '')

/** "Wumpuses are zumpuses.": everything of one kind is of another. */
export const isaRule = (template: RuleTemplate, noun: string, kind: string): Sentence =>
  isaRules(`${template}|${noun}|${kind}`)

/** "Each wumpus is not bright.": everything of a kind has, or lacks, a property. */
export const propertyRule = (
  template: RuleTemplate,
  noun: string,
  adjective: string,
  negated: boolean,
): Sentence => propertyRules(`${template}|${noun}|${signWord(negated)}|${adjective}`)

/** "Stella is a wumpus." */
export const kindFact = (name: string, kind: string): Sentence => kindFacts(`${name}|${kind}`)

/** "Stella is not bright." */
export const propertyFact = (name: string, adjective: string, negated: boolean): Sentence =>
  propertyFacts(`${name}|${signWord(negated)}|${adjective}`)
