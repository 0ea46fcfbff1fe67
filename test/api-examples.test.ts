import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')

interface Example {
  /** The entry whose names it uses: `rl` for `gradus/rl`. */
  entry: string
  place: string
  lines: string[]
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(file => join(folder, file))

/** Modules of src, by their paths in it. */
const modules = new Map(
  filesBelow(src)
    .filter(file => /\.ts$/.test(file) && !/\.(?:test|fixture|d)\.ts$/.test(file))
    .map(file => [relative(src, file), readFileSync(file, 'utf8')]),
)

/** What stands under `@example` in the docstrings of src, up to the next tag. */
const examples: Example[] = [...modules].flatMap(([file, text]) =>
  [...text.matchAll(/@example\n((?: *\* (?!@).*\n)+)/g)].map(([, body]) => ({
    entry: file.split('/')[0],
    place: file,
    lines: body
      .trimEnd()
      .split('\n')
      .map(line => line.replace(/^ *\* /, '')),
  })),
)

/** Numbers to four places, as examples show them. */
const rounded = (value: unknown): unknown => {
  if (typeof value === 'number') return Number(value.toFixed(4))
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array, rounded)
  if (Array.isArray(value)) return value.map(rounded)
  if (value === null || typeof value !== 'object' || value.constructor !== Object) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rounded(inner)]))
}
const shown = (value: unknown) => inspect(rounded(value), { breakLength: Number.POSITIVE_INFINITY, depth: 6 })

const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...args: unknown[]) => Promise<unknown>

/** An expression whose value an example shows. */
const SHOWN = /^(const \w+ = )?(.+?) +\/\/ (.+)$/

/** Names of an entry; of a folder that is none, nothing: its examples say from where they import. */
const namesOf = async (folder: string): Promise<Record<string, unknown>> =>
  existsSync(join(src, folder, 'index.ts')) ? await import(join(src, folder, 'index.ts')) : {}

/** Runs an example: a line that ends in a comment must be worth what the comment says. */
const run = async ({ entry: own, lines }: Example): Promise<void> => {
  const names = await namesOf(own)
  const code = lines.map(line => {
    const [, declared, expression, value] = SHOWN.exec(line) ?? []
    if (value === undefined) return line.replace(/\bimport\('/, "entry('")
    const checked = `check(${expression}, ${JSON.stringify(value)})`
    return `${declared ?? ''}${expression.startsWith('await ') ? `await ${checked.replace('check(await ', 'checkLater(')}` : checked}`
  })
  const check = (value: unknown, said: string) => {
    expect(shown(value)).toBe(said)
    return value
  }
  const checkLater = async (value: Promise<unknown>, said: string) => check(await value, said)
  const entry = (name: string) => (name.startsWith('gradus/') ? namesOf(name.slice(7)) : import(name))
  const scope = { ...names, check, checkLater, entry }
  const before = process.cwd()
  const folder = mkdtempSync(join(tmpdir(), 'gradus-example-'))
  try {
    process.chdir(folder)
    await new AsyncFunction(...Object.keys(scope), code.join('\n'))(...Object.values(scope))
  } finally {
    process.chdir(before)
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('examples in the documentation of the API', () => {
  it('show a value each', () => {
    expect(examples.filter(({ lines }) => !lines.some(line => SHOWN.test(line)))).toEqual([])
  })

  it.each(examples.map(example => [`${example.place}: ${example.lines[0]}`, example] as const))(
    '%s',
    (_, example) => run(example),
    180_000,
  )

  it('fail where a value is another, or a name is not exported', async () => {
    const wrong = { entry: 'rl', place: '', lines: ["thinkFormat('<think>a</think>b') // 0"] }
    await expect(run(wrong)).rejects.toThrow()
    await expect(run({ ...wrong, lines: ["thinkFromat('a') // 0"] })).rejects.toThrow(
      /thinkFromat is not defined/,
    )
  })
})
