/** @file Inputs that mean no good, for every command: texts that break readers, files changed in one place, and what may never happen. */

import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Rng } from '../util/rng.ts'
import type { CliResult } from './cli.fixture.ts'

/** A file's content, by what is wrong with it. */
export type Hostile = readonly [name: string, content: string | Uint8Array]

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

const list = (name: string, of: string) => `${name}: &${name} [${Array(10).fill(of).join(', ')}]`

/** Eight lists of ten aliases each: a hundred million values. */
const BOMB = 'abcdefgh'
  .split('')
  .map((name, i) => list(name, i === 0 ? '1' : `*${'abcdefgh'[i - 1]}`))
  .join('\n')

/** Texts that are hostile to every reader, whatever it expects. */
export const HOSTILE_TEXTS: readonly Hostile[] = [
  ['nothing', ''],
  ['blanks', ' \n\t\n\r\n'],
  ['a byte order mark alone', bytes([0xef, 0xbb, 0xbf])],
  ['UTF-16, little end first', bytes([0xff, 0xfe], [0x7b, 0, 0x7d, 0])],
  ['UTF-16, big end first', bytes([0xfe, 0xff], [0, 0x7b, 0, 0x7d])],
  ['UTF-16 without a mark', bytes([0x7b, 0, 0x7d, 0, 0x0a, 0])],
  ['Latin-1', bytes('{"response": "caf', [0xe9], '"}\n')],
  ['half a character at the end', bytes('{"response": "caf', [0xc3])],
  ['a byte that no UTF-8 has', bytes('{}\n', [0xff], '\n')],
  ['a NUL byte', bytes('{"response": "a', [0], 'b"}\n')],
  ['only NUL bytes', new Uint8Array(5000)],
  ['half of a surrogate pair', '{"response": "\\ud800", "id": "\\udc00"}\n'],
  ['half of a surrogate pair as key', '{"\\ud800": 1}\n'],
  ['null', 'null\n'],
  ['a number', '1\n'],
  ['a text', '"text"\n'],
  ['a truth', 'true\n'],
  ['an empty list', '[]\n'],
  ['an empty object', '{}\n'],
  ['a list of nulls', '[null, null]\n'],
  ['lists without end', '['.repeat(100_000)],
  ['lists 100,000 deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['objects 100,000 deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['objects 5,000 deep', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`],
  ['a key __proto__', '{"__proto__": {"polluted": true}, "response": "x"}\n'],
  [
    'constructor.prototype',
    '{"constructor": {"prototype": {"polluted": true}}, "toString": 1, "hasOwnProperty": 2}\n',
  ],
  ['a number beyond all', '{"points": 1e400, "score": -1e400, "response": "x"}\n'],
  ['a number of 5,000 digits', `{"points": ${'9'.repeat(5_000)}}\n`],
  ['NaN and infinity', '{"points": NaN, "score": Infinity}\n'],
  ['a torn last line', '{"response": "a"}\n{"response": "b'],
  ['Windows line ends', '{"response": "a"}\r\n{"response": "b"}\r\n'],
  ['old Macintosh line ends', '{"response": "a"}\r{"response": "b"}\r'],
  ['line separators of Unicode', '{"response": "a\u2028b"}\u2029\n'],
  ['escapes for the terminal', '{"id": "\\u001b[2J\\u001b]0;owned\\u0007", "\\u001b[31mkey": 1}\n'],
  ['escapes as they are', '{"id": \u001b[2J}\n'],
  ['escapes of eight bits', '{"\u009b2J": "\u009b31m", "\u202egnp.exe": 1}\n'],
  ['a line of a megabyte', `{"response": 1, "x": "${'x'.repeat(1_000_000)}"}\n`],
  ['a key of a megabyte', `{"${'k'.repeat(1_000_000)}": 1}\n`],
  ['20,000 keys', `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}": 1`).join(', ')}}\n`],
  ['20,000 rows', '{"a": 1}\n'.repeat(20_000)],
  ['keys that stand twice', 'a: 1\na: 2\n'],
  ['a YAML bomb', BOMB],
  ['an anchor in itself', 'criteria: &a [*a]\nrecipe: *a\n'],
  ['an alias of nothing', 'criteria: *nowhere\n'],
  ['YAML lists without end', '- '.repeat(20_000)],
  ['YAML keys without end', '? '.repeat(20_000)],
  ['YAML maps without end', '{a: '.repeat(20_000)],
  ['YAML indented 2,000 times', Array.from({ length: 2_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ['YAML numbers', 'points: .nan\nseed: .inf\nsteps: -.inf\nx: 0x7fffffffffffffffffff\ny: 1e400\n'],
  ['YAML dates and tags', 'a: 2024-01-01\nb: !!binary aGVsbG8=\nc: !!js/function "x"\n'],
  ['YAML of version 1.1', '%YAML 1.1\n---\na: !!set {x, y}\nb: yes\nc: 2001-01-01\n'],
  ['YAML tabs', 'criteria:\n\t- id: a\n'],
  ['YAML documents', 'a: 1\n---\nb: 2\n'],
  ['YAML with lists as keys', '? [1, 2]\n: 3\n'],
  ['YAML merge keys', 'a: &a {x: 1}\n<<: *a\n'],
  ['commas', `[${','.repeat(5_000)}`],
  ['brackets that close', ']'.repeat(5_000)],
  ['HTML', '<!doctype html><html><body>404</body></html>\n'],
  ['gzip', bytes([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0x56])],
]

/** Values that a field does not expect. */
const WRONG_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 53,
  '',
  ' ',
  'x'.repeat(100_000),
  '\u001b[2J\u0007',
  '\u0000',
  '\u202e',
  '__proto__',
  'constructor',
  'NaN',
  '../../../../etc/passwd',
  [],
  {},
  [[]],
  [null],
  { toString: 1 },
  Array(1_000).fill({}),
]

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const paths = (value: Json, path: (string | number)[] = []): (string | number)[][] => {
  if (value === null || typeof value !== 'object') return [path]
  const below = Array.isArray(value)
    ? value.flatMap((child, i) => paths(child, [...path, i]))
    : Object.entries(value).flatMap(([key, child]) => paths(child, [...path, key]))
  return [path, ...below]
}

const changed = (value: Json, path: readonly (string | number)[], to: unknown): Json => {
  const [key, ...rest] = path
  if (key === undefined) return to as Json
  if (Array.isArray(value)) return value.map((child, i) => (i === key ? changed(child, rest, to) : child))
  return Object.fromEntries(
    Object.entries(value as { [key: string]: Json }).flatMap(([name, child]): [string, Json][] => {
      if (name !== key) return [[name, child]]
      return rest.length === 0 && to === undefined ? [] : [[name, changed(child, rest, to)]]
    }),
  )
}

/**
 * So many copies of a good value, each with one field replaced, removed, or the text cut or changed in one byte: by a seed,
 * so that the same copies are made every time.
 */
export const mutations = (good: unknown, count: number, seed: string): Hostile[] => {
  const rng = new Rng(`mutations ${seed}`)
  const all = paths(good as Json).slice(1)
  const text = JSON.stringify(good)
  return Array.from({ length: count }, (_, n): Hostile => {
    const path = all[rng.int(all.length)]
    const at = path.join('.')
    if (n % 5 === 3) return [`without ${at}`, JSON.stringify(changed(good as Json, path, undefined))]
    if (n % 5 === 4) {
      const cut = 1 + rng.int(text.length - 1)
      return n % 2 === 0
        ? [`cut at ${cut}`, text.slice(0, cut)]
        : [
            `another byte at ${cut}`,
            `${text.slice(0, cut)}${'{}[]",:\\-\n'[rng.int(10)]}${text.slice(cut + 1)}`,
          ]
    }
    const value = WRONG_VALUES[rng.int(WRONG_VALUES.length)]
    const shown = JSON.stringify(value).slice(0, 30)
    return [`${at} = ${shown}`, JSON.stringify(changed(good as Json, path, value))]
  })
}

/** Files below a folder, with their sizes: what a command left behind. */
export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => {
      const stat = lstatSync(join(folder, name), { throwIfNoEntry: false })
      return `${name} ${stat?.isFile() ? stat.size : ''}`
    })
    .sort()

const CODES = new Set([0, 1, 2, 100])

/** Words of engines and systems that no message for people has. */
const ENGINE_WORDS: readonly RegExp[] = [
  /\n +at .*[:(]/,
  /\b(?:Type|Range|Reference|Syntax|Assertion)Error\b/,
  /Cannot (?:read|set|convert|destructure)/,
  /is not (?:a function|iterable|a constructor)/,
  /Maximum call stack/,
  /Invalid (?:array|string|count)/,
  /GRADUS_DEBUG=1 shows/,
  /\[object \w+\]/,
  /\bE[A-Z]{3,}: /,
  /read \(E[A-Z]+\)/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what may not be there
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/,
]

const jsonProblem = (out: string): string[] => {
  for (const line of out.split('\n').filter(text => text !== ''))
    try {
      JSON.parse(line)
    } catch {
      return [`no JSON: ${line.slice(0, 100)}`]
    }
  return []
}

/** Longest line of a message: what was typed on the command line itself may be repeated. */
const MAX_LINE = 20_000

/**
 * What is wrong with the way in which a command ended; nothing where it behaved.
 * @param json whether stdout has to be JSON, a value a line
 */
export const faults = ({ code, out, err }: CliResult, json: boolean): string[] => {
  const longest = err.split('\n').reduce((most, line) => Math.max(most, line.length), 0)
  return [
    ...(CODES.has(code) ? [] : [`exit code ${code}`]),
    ...(code !== 0 && err === '' ? ['no message'] : []),
    ...ENGINE_WORDS.filter(words => words.test(err)).map(words => `stderr has ${words}`),
    ...(longest > MAX_LINE ? [`a line of ${longest}`] : []),
    ...(json ? jsonProblem(out) : []),
    ...(!json && /\bNaN\b|\bundefined\b|\[object /.test(out)
      ? ['NaN, undefined or an object in a table']
      : []),
    ...('polluted' in {} ? ['Object.prototype was changed'] : []),
  ]
}
