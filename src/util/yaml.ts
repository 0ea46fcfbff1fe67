/** @file YAML as people write it: an error says in which line; nothing unfolds, or is nested, without end. */

import {
  CST,
  type Document,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
} from 'yaml'
import { ConfigError, type GradusError } from './errors.ts'
import { isTooDeep, MAX_DEPTH } from './json.ts'

/** Most characters of a YAML text: it is for people to write. Data sets are JSON or JSON Lines. */
const MAX_CHARACTERS = 8 * 1024 * 1024
/** Most values that a text unfolds to once its aliases are filled in. */
const MAX_VALUES = 2_000_000

type ErrorClass = new (message: string, options?: { hint?: string; cause?: unknown }) => GradusError

/**
 * The value of a YAML text (JSON is YAML, too). Aliases may be used as often as one likes, as long as the whole does not
 * unfold to millions of values.
 * @param path named in errors
 * @throws ErrorKind (ConfigError unless given) naming file and line for what is not YAML, a key that stands twice, an unknown
 * tag, nesting without end, and a text in which aliases stand for too much, or for themselves.
 */
export const parseYaml = (text: string, path: string, ErrorKind: ErrorClass = ConfigError): unknown => {
  const refuse = (line: number | null, message: string, hint = 'correct the YAML there'): never => {
    throw new ErrorKind(`${path}${line === null ? '' : `:${line}`}: ${message}`, { hint })
  }
  if (text.length > MAX_CHARACTERS)
    refuse(null, `expected YAML of at most ${MAX_CHARACTERS} characters, got ${text.length}`, 'split it')
  const deep = deeperThan(text, MAX_DEPTH)
  if (deep !== null)
    refuse(
      deep,
      `expected lists and maps at most ${MAX_DEPTH} deep, or indented half as often, got deeper ones`,
      'write it flatter',
    )
  const lineCounter = new LineCounter()
  // The library's own look for keys that stand twice takes a time that grows with the square of their number.
  const document = parseDocument(text, { lineCounter, uniqueKeys: false, prettyErrors: false })
  const lineOf = (offset: number) => lineCounter.linePos(offset).line
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) refuse(lineOf(problem.pos[0]), problem.message.split('\n')[0].replace(/:$/, ''))
  const wrong = wrongKey(document)
  if (wrong) refuse(lineOf(wrong.offset), wrong.message)
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: -1 })
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    refuse(null, error.message)
  }
  if (isTooDeep(value, MAX_VALUES))
    refuse(
      null,
      `expected a value of bounded size, got aliases that stand for more than ${MAX_VALUES} values, or for themselves`,
      'write out what they stand for',
    )
  return value
}

/** The first key that stands twice in its map, or is a list or a map itself. */
const wrongKey = (document: Document): { message: string; offset: number } | null => {
  let found: { message: string; offset: number } | null = null
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<string>()
      for (const { key } of map.items as Pair[]) {
        const name = isScalar(key) ? String(key.value) : null
        if (name !== null && !seen.has(name)) {
          seen.add(name)
          continue
        }
        const message =
          name === null
            ? 'expected a plain word as key, got a list, a map or an alias'
            : `Map keys must be unique, got ${JSON.stringify(name)} again`
        found = { message, offset: (isNode(key) ? key.range?.[0] : undefined) ?? 0 }
        return visit.BREAK
      }
      return undefined
    },
  })
  return found
}

const OPENS: ReadonlySet<string | null> = new Set(['flow-map-start', 'flow-seq-start'])
const CLOSES: ReadonlySet<string | null> = new Set(['flow-map-end', 'flow-seq-end', 'flow-error-end'])
const MARKS: ReadonlySet<string> = new Set([CST.BOM, CST.DOCUMENT, CST.FLOW_END, CST.SCALAR])
const BLANKS: ReadonlySet<string | null> = new Set(['space', 'newline', 'comment'])

/**
 * Line of the first place that may lie in more than `most` lists and maps; null where there is none. Block collections are
 * told by the columns at which their entries begin, so that the value may be up to twice too high, never too low.
 */
const deeperThan = (text: string, most: number): number | null => {
  const columns: number[] = []
  let [flow, line, column, atStart] = [0, 1, 0, true]
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token)
    if (OPENS.has(type)) flow++
    else if (CLOSES.has(type)) flow = Math.max(0, flow - 1)
    else if (flow === 0 && atStart && !BLANKS.has(type)) {
      while (columns.length > 0 && columns[columns.length - 1] >= column) columns.pop()
      columns.push(column)
    }
    if (flow + 2 * columns.length > most) return line
    const lastFeed = token.lastIndexOf('\n')
    if (lastFeed >= 0) {
      for (const char of token) if (char === '\n') line++
      column = token.length - lastFeed - 1
      atStart = true
    } else {
      // Marks of the lexer's own take no room.
      if (!MARKS.has(token)) column += token.length
      if (type === 'seq-item-ind' || type === 'explicit-key-ind') atStart = true
      else if (!BLANKS.has(type) && type !== 'scalar') atStart = false
    }
  }
  return null
}
