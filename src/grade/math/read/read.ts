/** @file From the text of an answer to the trees that it may stand for. */

import type { Budget } from '../budget.ts'
import { mapChildren, type Node, some, symbolsOf } from './expression.ts'
import { ParseError, parse } from './parse.ts'
import { withUnits } from './unit-text.ts'
import { FUNCTIONS } from './vocabulary.ts'
import { withoutTextCommands } from './words.ts'

/** Longer answers are compared as text only. */
const MAX_ANSWER_CHARACTERS = 4000

/** A clock time and no ratio: the minutes start with 0, or the half of the day follows. */
const TIME_OF_DAY = /^\d{1,2}:(?:0\d|[0-5]\d(?=\s*[ap]))(?::\d\d)?(?:\s*[ap]\.?m\.?)?$/i

const ALL_REALS = /^(?:x (?:is|can be) )?(?:all|any|every) reals?(?: numbers?)?$/i
const NO_SOLUTION = /^(?:there (?:is|are) )?no (?:real )?(?:solutions?|roots?)$/i

/** Only words, with at least one that is neither a function nor a connective. */
const isSentence = (text: string): boolean =>
  /^[\p{L}\s'’.,-]+$/u.test(text) &&
  (text.match(/\p{L}{3,}/gu) ?? []).some(
    word => !MATHEMATICAL.test(word) && !FUNCTIONS[word.toLowerCase()],
  ) &&
  /\s/.test(text)

const MATHEMATICAL = /^(?:and|sqrt|infinity|inf|union|percent|pct|percentage|degrees?|[a-z]{3})$/i

const tryParse = (text: string, thousands: boolean, budget: Budget): Node | null => {
  try {
    return parse(text, { thousands }, budget)
  } catch (error) {
    if (error instanceof ParseError) return null
    throw error
  }
}

/** With letters as units where numbers carry them, then with letters as variables. */
const readBothWays = (text: string, thousands: boolean, budget: Budget): Node[] => {
  const [units, variables] = [withUnits(text, 'units'), withUnits(text, 'variables')]
  const first = units === variables ? null : tryParse(units, thousands, budget)
  const second = tryParse(variables, thousands, budget)
  const found = [first && some(first, isUnitOfVariables) ? null : first, second].filter(node => node !== null)
  return [...found, ...found.map(withPythonConstants).filter(node => node !== null)]
}

/** SymPy's I and E and Python's j as the constants; null where the letters are none of them, or something else as well. */
const withPythonConstants = (node: Node): Node | null => {
  const names = symbolsOf(node)
  const hasConstant = (name: string) => some(node, child => child.kind === 'constant' && child.name === name)
  const constants = new Map<string, Node>()
  if (names.includes('I') && !hasConstant('i')) constants.set('I', { kind: 'constant', name: 'i' })
  if (names.includes('E') && !hasConstant('e')) constants.set('E', { kind: 'constant', name: 'e' })
  if (names.join() === 'j' && node.kind !== 'symbol' && !hasConstant('i'))
    constants.set('j', { kind: 'constant', name: 'i' })
  const replaced = (child: Node): Node =>
    (child.kind === 'symbol' && constants.get(child.name)) || mapChildren(child, replaced)
  return constants.size > 0 ? replaced(node) : null
}

/** `2x + 3 m`: where there are variables, that letter is one of them. */
const isUnitOfVariables = (node: Node): boolean =>
  node.kind === 'quantity' && symbolsOf(node.value).length > 0

/**
 * The readings of a cleaned answer, the likeliest first; none where it is not understood. A comma between digits may
 * separate thousands, a list, or decimals.
 * @throws BudgetSpent
 */
export const readings = (text: string, budget: Budget): Node[] => {
  if (text === '' || text.length > MAX_ANSWER_CHARACTERS) return []
  if (TIME_OF_DAY.test(text)) return [{ kind: 'text', text }]
  const words = withoutTextCommands(text)
  if (ALL_REALS.test(words)) return [{ kind: 'setName', name: 'reals' }]
  if (NO_SOLUTION.test(words)) return [{ kind: 'setName', name: 'empty' }]
  if (isSentence(text)) return [{ kind: 'text', text }]
  const isNumberWithComma = /^-?\d+,\d+$/.test(text)
  const nodes = readBothWays(text, true, budget)
  if (/\d,\d{3}/.test(text)) nodes.push(...readBothWays(text, false, budget))
  if (isNumberWithComma && !/^-?\d{1,3},\d{3}$/.test(text))
    nodes.push(...readBothWays(text.replace(',', '.'), true, budget))
  return nodes.length === 0 && isWords(text) ? [{ kind: 'text', text }] : nodes
}

/** Letters, digits and punctuation, but nothing that only a formula has. */
const isWords = (text: string): boolean => /\p{L}{2}/u.test(text) && !/[\\^_=<>{}|+*/]/.test(text)
