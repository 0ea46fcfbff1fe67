/** @file The sentences of a generated problem: each as text and as a formula, built once and shared. */

import { atom, type Formula, forall, implies, not } from '../../grade/logic/formula.ts'
import { capitalised } from '../../util/format.ts'
import { remembered } from '../../util/remembered.ts'

/** How a rule is worded: "Wumpuses are ...", "Each wumpus is ...", "Every wumpus is ...". */
export type RuleTemplate = 'plural' | 'each' | 'every'

/** One sentence and its meaning. Shared between problems: read only. */
export interface Sentence {
  readonly text: string
  readonly fol: Formula
}

const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
const signed = (body: Formula, negated: boolean) => (negated ? not(body) : body)

// One formula per meaning, however it is worded: formula keys are remembered by object.
const ruleFormula = remembered(key => {
  const [noun, sign, object] = key.split('|')
  return forall('x', implies(atom(noun, 'x'), signed(atom(object, 'x'), sign !== '')))
})

const subjectText = (template: string, noun: string) =>
  template === 'plural'
    ? `${capitalised(noun)}es are`
    : `${template === 'each' ? 'Each' : 'Every'} ${noun} is`

const isaRules = remembered((key): Sentence => {
  const [template, noun, kind] = key.split('|')
  const predicate = template === 'plural' ? `${kind}es` : withArticle(kind)
  return {
    text: `${subjectText(template, noun)} ${predicate}.`,
    fol: ruleFormula(`${noun}||${kind}`),
  }
})

const propertyRules = remembered((key): Sentence => {
  const [template, noun, sign, adjective] = key.split('|')
  return {
    text: `${subjectText(template, noun)} ${sign}${adjective}.`,
    fol: ruleFormula(`${noun}|${sign}|${adjective}`),
  }
})

const kindFacts = remembered((key): Sentence => {
  const [name, kind] = key.split('|')
  return { text: `${name} is ${withArticle(kind)}.`, fol: atom(kind, name.toLowerCase()) }
})

const propertyFacts = remembered((key): Sentence => {
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
