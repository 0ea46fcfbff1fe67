import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))

interface Example {
  /** The entry whose names it uses: `rl` for `gradus/rl`. */
  entry: string
  place: string
  lines: string[]
}

/** What stands under `@example` in the docstrings of src, up to the next tag. */
const examples: Example[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter(file => /\.ts$/.test(file) && !/\.(?:test|fixture|d)\.ts$/.test(file))
  .flatMap(file =>
    [...readFileSync(join(src, file), 'utf8').matchAll(/@example\n((?: *\* (?!@).*\n)+)/g)].map(
      ([, body]) => ({
        entry: file.split('/')[0],
        place: file,
        lines: body
          .trimEnd()
          .split('\n')
          .map(line => line.replace(/^ *\* /, '')),
      }),
    ),
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

/** Runs an example: a line that ends in a comment must be worth what the comment says. */
const run = async ({ entry: own, lines }: Example): Promise<void> => {
  const names: Record<string, unknown> = await import(`../src/${own}/index.ts`)
  const code = lines.map(line => {
    const [, declared, expression, value] = /^(const \w+ = )?(.+?) +\/\/ (.+)$/.exec(line) ?? []
    if (value === undefined) return line.replace(/import\('gradus\//, "entry('")
    const checked = `check(${expression}, ${JSON.stringify(value)})`
    return `${declared ?? ''}${expression.startsWith('await ') ? `await ${checked.replace('check(await ', 'checkLater(')}` : checked}`
  })
  const check = (value: unknown, said: string) => {
    expect(shown(value)).toBe(said)
    return value
  }
  const checkLater = async (value: Promise<unknown>, said: string) => check(await value, said)
  const entry = (name: string) => import(`../src/${name}/index.ts`)
  const scope = { ...names, check, checkLater, entry }
  await new AsyncFunction(...Object.keys(scope), code.join('\n'))(...Object.values(scope))
}

describe('examples in the documentation of the API', () => {
  it('are there', () => expect(examples.length).toBeGreaterThan(20))

  it.each(examples.map(example => [`${example.place}: ${example.lines[0]}`, example] as const))(
    '%s',
    (_, example) => run(example),
  )

  it('fail where a value is another, or a name is not exported', async () => {
    const wrong = { entry: 'rl', place: '', lines: ["thinkFormat('<think>a</think>b') // 0"] }
    await expect(run(wrong)).rejects.toThrow()
    await expect(run({ ...wrong, lines: ["thinkFromat('a') // 0"] })).rejects.toThrow(
      /thinkFromat is not defined/,
    )
  })
})
