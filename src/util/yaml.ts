/** @file YAML as people write it: an error says in which line; nothing unfolds, or is nested, without end. */

import { type Document, isNode, isScalar, LineCounter, type Pair, parseDocument, visit } from 'yaml'
import { ConfigError, type GradusError } from './errors.ts'
import { isTooDeep, MAX_DEPTH } from './json.ts'
import { deeperThan } from './yaml-depth.ts'

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
