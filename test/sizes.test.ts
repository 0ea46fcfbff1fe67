import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

/**
 * Most lines of each folder of src, without tests and fixtures. A commit that raises one says why; what a commit makes smaller is
 * taken off here. (Functions: biome.json; exports that tests alone use: the second run of knip in package.json.)
 */
const MOST_LINES: Readonly<Record<string, number>> = {
  bench: 4287,
  chat: 2766,
  cli: 12258,
  eval: 2136,
  experiments: 7275,
  grade: 22361,
  measure: 2215,
  memory: 1742,
  model: 7808,
  plan: 1050,
  policy: 9680,
  recipes: 22642,
  rl: 2467,
  rubric: 4506,
  runs: 10974,
  search: 1184,
  serve: 13181,
  tasks: 17839,
  tensor: 3251,
  tinker: 2039,
  tools: 2099,
  train: 4265,
  util: 6176,
}
const LONGEST_CLASS = 246
/** Of the file that holds a method as its paper has it. */
const LONGEST_METHOD = 150
/** Names that more than one file exports for different things; a commit that raises it says why. */
const MOST_SHARED_NAMES = 0
/** So many lines below its limit, and a folder's limit is to be lowered. */
const SLACK = 100

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter(file => /\.tsx?$/.test(file) && !/\.(?:test|fixture|d)\.tsx?$/.test(file))
  .map(file => ({ file, lines: readFileSync(join(SRC, file), 'utf8').trimEnd().split('\n') }))

/** Lines of each class at the top of a file, as the formatter lays them out. */
const classesOf = (lines: readonly string[]): number[] =>
  lines.flatMap((line, start) =>
    /^(?:export )?(?:abstract )?class \w/.test(line) ? [lines.indexOf('}', start) - start + 1] : [],
  )

it('no folder of src grows, and what shrinks stays so', () => {
  const sizes = new Map<string, number>()
  for (const { file, lines } of files) {
    const [folder, inside] = file.split(/[\\/]/)
    if (inside !== undefined) sizes.set(folder, (sizes.get(folder) ?? 0) + lines.length)
  }
  expect([...sizes.keys()].sort()).toEqual(Object.keys(MOST_LINES))
  const wrong = [...sizes].flatMap(([folder, lines]) => {
    const most = MOST_LINES[folder]
    if (lines > most) return [`${folder}: ${lines} lines, more than ${most}`]
    return lines < most - SLACK ? [`${folder}: ${lines} lines; lower its limit from ${most}`] : []
  })
  expect(wrong).toEqual([])
})

it('no class grows longer than the longest', () => {
  const longest = Math.max(...files.flatMap(({ lines }) => classesOf(lines)))
  expect(longest).toBe(LONGEST_CLASS)
})

it('a method is read at one go', () => {
  const methods = files.filter(({ file }) => /recipes[\\/](?!common)\w[\w-]*[\\/]recipe\.ts$/.test(file))
  expect(methods.length).toBeGreaterThanOrEqual(7)
  const long = methods.filter(({ lines }) => lines.length > LONGEST_METHOD)
  expect(long.map(({ file, lines }) => `${file}: ${lines.length} lines`)).toEqual([])
})

it('no further name is exported by two files', () => {
  const declared = /^export (?:abstract |async )*(?:type|interface|class|const|function) (\w+)/
  const exporters = new Map<string, Set<string>>()
  for (const { file, lines } of files)
    for (const line of lines) {
      const name = declared.exec(line)?.[1]
      if (name !== undefined) exporters.set(name, (exporters.get(name) ?? new Set()).add(file))
    }
  const shared = [...exporters].filter(([, { size }]) => size > 1)
  expect(shared.length, shared.map(([name]) => name).join(' ')).toBe(MOST_SHARED_NAMES)
})
