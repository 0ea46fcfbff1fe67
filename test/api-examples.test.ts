import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
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

const DOCUMENTED = /@example\n(?: *\* .*\n)+ *\*\/\nexport (?:async )?(?:const|class|function\*?) (\w+)/g
/** Names that are declared with an example. */
const documented = new Set(
  [...modules.values()].flatMap(text => [...text.matchAll(DOCUMENTED)].map(([, name]) => name)),
)

const SERVICE = 'asks a training service: packages/tinker/README.md'
/** What people import and has no example, with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  ...{ Connection: SERVICE, SamplingClient: SERVICE, TinkerSession: SERVICE, TrainingClient: SERVICE },
  ServedModel: 'asks an inference server: docs/howto/inference-engines.md',
  runMethod: 'needs a method: examples/own-method.ts',
  train: 'needs a policy, a recipe and a run: examples/own-tool.ts',
}

/** Pages and programs that show people what to import. */
const shownTo = ['docs', 'examples', 'packages']
  .flatMap(folder => filesBelow(join(root, folder)))
  .filter(file => /\.(?:md|ts|js)$/.test(file) && !/\bdist\b/.test(file))
  .concat(join(root, 'README.md'))
  .map(file => readFileSync(file, 'utf8'))

/** The folder of src that an entry of the package, or of one of its parts, is: `grade/math` of `@gradus/verify/math`. */
const folderOf = (entry: string): string => {
  if (entry.startsWith('gradus')) return entry.slice(7)
  const [, part, ...rest] = entry.split('/')
  const { exports } = JSON.parse(readFileSync(join(root, 'packages', part, 'package.json'), 'utf8'))
  return relative('dist', dirname(exports[['.', ...rest].join('/')].default))
}

const IMPORT = /import (?:\* as (\w+)|\{([^}]*)\}) from '(@gradus\/[\w/]+|gradus(?:\/\w+)?)'/g
/**
 * Functions and classes that a text imports, by the names that they are declared with, and names that an entry does not have; of a
 * namespace the functions that the text speaks of.
 */
const importedBy = async (text: string): Promise<string[]> => {
  const names: string[] = []
  const add = (value: unknown, name: string) => {
    if (typeof value === 'function') names.push(documented.has(value.name) ? value.name : name)
    else if (Object.prototype.toString.call(value) === '[object Module]')
      for (const [, inner] of text.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g')))
        add((value as Record<string, unknown>)[inner], inner)
  }
  for (const [, whole, some = '', entry] of text.matchAll(IMPORT)) {
    const values = await namesOf(folderOf(entry))
    if (whole !== undefined) add(values, whole)
    for (const name of some.split(',').map(each => each.trim()))
      if (name !== '' && !name.startsWith('type '))
        if (name in values) add(values[name], name)
        else names.push(`${name} of ${entry}`)
  }
  return names
}

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

/** An example as a program of its own, its lines one further down, with all that its entry exports in scope. */
const programOf = async ({ entry, lines }: Example): Promise<string> => {
  const names = Object.keys(await namesOf(entry))
  const imported = names.length > 0 ? `import { ${names.join(', ')} } from 'gradus/${entry}'; ` : ''
  return `${imported}{\n${lines.join('\n')}\n}\nexport {}\n`
}

/** What the compiler says of examples, by the declarations that the package ships (dist/). */
const compile = async (programs: readonly Example[]): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-example-'))
  try {
    for (const [i, example] of programs.entries()) {
      const name = `${example.place.replace(/\W+/g, '-')}-${i}.ts`
      writeFileSync(join(folder, name), await programOf(example))
    }
    const compilerOptions = {
      ...{ target: 'es2023', module: 'nodenext', strict: true, skipLibCheck: true, noEmit: true },
      ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
      paths: { 'gradus/*': [join(root, 'dist/*/index.d.ts')] },
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder])
    return ''
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout ?? error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('examples in the documentation of the API', () => {
  it('show a value each', () => {
    expect(examples.filter(({ lines }) => !lines.some(line => SHOWN.test(line)))).toEqual([])
  })

  it('are above all that documentation and examples import', async () => {
    const imported = new Set((await Promise.all(shownTo.map(importedBy))).flat())
    expect(imported.size).toBeGreaterThan(50)
    expect([...imported].filter(name => !documented.has(name)).sort()).toEqual(Object.keys(WITHOUT).sort())
  }, 180_000)

  it.each(examples.map(example => [`${example.place}: ${example.lines[0]}`, example] as const))(
    '%s',
    (_, example) => run(example),
    180_000,
  )

  it('compile as they are', async () => {
    expect(await compile(examples)).toBe('')
    const wrong = { entry: 'rl', place: 'wrong', lines: ['thinkFormat(1)'] }
    expect(await compile([wrong])).toMatch(/^\S*wrong-0.ts\(2,13\): error/)
  }, 180_000)

  it('fail where a value is another, or a name is not exported', async () => {
    const wrong = { entry: 'rl', place: '', lines: ["thinkFormat('<think>a</think>b') // 0"] }
    await expect(run(wrong)).rejects.toThrow()
    await expect(run({ ...wrong, lines: ["thinkFromat('a') // 0"] })).rejects.toThrow(
      /thinkFromat is not defined/,
    )
  })
})
