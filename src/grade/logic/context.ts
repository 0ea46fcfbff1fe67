/** @file What grading needs to know of a problem, worked out once and shared by all its responses. */

import { type Formula, formulaKey, negate } from './formula.ts'
import { groundStatus } from './ground.ts'
import type { LogicProblem } from './problem.ts'
import { keyTerms } from './proxies.ts'
import type { LogicSolver } from './solver.ts'
import { fitStatement, foreignNames, parseStatement, type Vocabulary, vocabularyOf } from './vocabulary.ts'

/** A step's statement, read and looked up among the problem's own statements. */
export interface ReadStep {
  /** Null when the text is no formula, or clashes with the problem's predicates. */
  formula: Formula | null
  key: string
  /** Index of the premise that it restates, or null. */
  premise: number | null
  /** It names a predicate or a constant that the problem never uses. */
  foreign: boolean
}

const UNREADABLE: ReadStep = { formula: null, key: '', premise: null, foreign: false }
const MAX_REMEMBERED = 20_000

/** A sentence as it is compared: case, spaces, the full stop and a leading "so" make no difference. */
const bareSentence = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:therefore|thus|hence|so),? /, '')
    .replace(/ ?\.$/, '')

/** What a source says in its own words has the source's own formula, whatever the reader of English makes of it. */
const sentencesOf = ({ premises, premisesFol, conclusion, conclusionFol }: LogicProblem) =>
  new Map([
    ...(conclusionFol === null ? [] : [[bareSentence(conclusion), conclusionFol] as const]),
    ...premises.map((text, index) => [bareSentence(text), premisesFol[index]] as const),
  ])

/** One a problem; forgotten together with it. */
export class ProblemContext {
  readonly problem: LogicProblem
  readonly vocabulary: Vocabulary
  readonly premiseKeys: ReadonlyMap<string, number>
  /** Null where the conclusion has no formula. */
  readonly conclusionKey: string | null
  readonly denialKey: string | null
  /** Key terms of each premise as shown, for the training proxy of C4. */
  readonly premiseTerms: readonly (readonly string[])[]
  /** The gold proof's statements that could be read. */
  readonly proofNodes: readonly Formula[]
  /** Premises of a minimal proof, by the solver asked: with other settings it may say another thing. */
  readonly support = new WeakMap<LogicSolver, Promise<number[] | null>>()
  /** Formulas of the premises and the conclusion by their sentences. */
  readonly #sentences: ReadonlyMap<string, Formula>
  readonly #steps = new Map<string, ReadStep>()
  readonly #follows = new Map<string, boolean | null>()

  constructor(problem: LogicProblem) {
    const { conclusionFol } = problem
    this.problem = problem
    this.vocabulary = vocabularyOf([
      ...problem.premisesFol,
      ...(conclusionFol === null ? [] : [conclusionFol]),
    ])
    this.premiseKeys = new Map(problem.premisesFol.map((formula, index) => [formulaKey(formula), index]))
    this.conclusionKey = conclusionFol && formulaKey(conclusionFol)
    this.denialKey = conclusionFol && formulaKey(negate(conclusionFol))
    this.#sentences = sentencesOf(problem)
    this.premiseTerms = problem.premises.map(keyTerms)
    this.proofNodes = (problem.proof ?? []).flatMap(text => this.read(text).formula ?? [])
  }

  /** Reads a step's statement in the problem's names. */
  read(text: string): ReadStep {
    let step = this.#steps.get(text)
    if (step === undefined) {
      step = this.#read(text)
      if (this.#steps.size < MAX_REMEMBERED) this.#steps.set(text, step)
    }
    return step
  }

  #read(text: string): ReadStep {
    const formula = this.#sentences.get(bareSentence(text)) ?? this.#translate(text)
    if (!formula) return UNREADABLE
    const key = formulaKey(formula)
    const premise = this.premiseKeys.get(key) ?? null
    return { formula, key, premise, foreign: foreignNames(formula, this.vocabulary).length > 0 }
  }

  #translate(text: string): Formula | null {
    const statement = parseStatement(text)
    return statement && fitStatement(statement, this.vocabulary)
  }

  /** Whether `formula` follows from `earlier` statements alone, by the ground solver; null outside its fragment. */
  followsFrom(earlier: readonly Formula[], formula: Formula): boolean | null {
    const key = `${earlier.map(formulaKey).join('\n')}\n|- ${formulaKey(formula)}`
    let follows = this.#follows.get(key)
    if (follows === undefined) {
      const status = groundStatus(earlier, formula)
      follows = status === null ? null : status === 'entailed'
      if (this.#follows.size < MAX_REMEMBERED) this.#follows.set(key, follows)
    }
    return follows
  }
}

const contexts = new WeakMap<LogicProblem, ProblemContext>()

/** The context of a problem object. Never change a problem in place after grading it. */
export const contextOf = (problem: LogicProblem): ProblemContext => {
  let context = contexts.get(problem)
  if (!context) {
    context = new ProblemContext(problem)
    contexts.set(problem, context)
  }
  return context
}
