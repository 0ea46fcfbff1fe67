import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SRC = fileURLToPath(new URL('../src', import.meta.url))
const ARCHITECTURE = fileURLToPath(new URL('../docs/ARCHITECTURE.md', import.meta.url))

/** Files that import each other, and why they may. One that is mended must leave the list. */
const CIRCLES: Record<string, readonly string[]> = {
  'the gradient of an operation is written with other operations': [
    'tensor/ops/elementwise.ts',
    'tensor/ops/reduce.ts',
    'tensor/ops/shape.ts',
  ],
}

type Imports = ReadonlyMap<string, readonly string[]>

/** What each file of src imports of src, types and dynamic imports included; tests and fixtures left out. */
const importsOf = (): Imports => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
    file => /\.tsx?$/.test(file) && !/\.(?:test|fixture|d)\.tsx?$/.test(file),
  )
  return new Map(
    files.map(file => {
      const code = readFileSync(join(SRC, file), 'utf8')
      const found = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+\.tsx?)'/g)]
      return [file, found.map(([, path]) => relative(SRC, resolve(SRC, dirname(file), path)))]
    }),
  )
}

interface Layer {
  number: number
  /** Folders that it may import; null: all below. */
  imports: readonly string[] | null
}

/** The table under "Folders": layer, name, what it holds, what it imports. */
const readLayers = (): Map<string, Layer> => {
  const rows = readFileSync(ARCHITECTURE, 'utf8').matchAll(/^\| (\d+) \| `(\w+)\/` \| .* \| (.*) \|$/gm)
  return new Map(
    [...rows].map(([, number, name, imports]) => {
      const named = imports === 'nothing' ? [] : imports.split(', ')
      return [name, { number: Number(number), imports: imports === 'all below' ? null : named }]
    }),
  )
}

/** Groups of files that reach each other, each sorted (Tarjan). */
const circlesOf = (imports: Imports): string[][] => {
  const order = new Map<string, number>()
  const reached = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (file: string) => {
    order.set(file, order.size)
    reached.set(file, order.get(file)!)
    open.push(file)
    for (const next of imports.get(file) ?? []) {
      if (!order.has(next)) visit(next)
      if (open.includes(next)) reached.set(file, Math.min(reached.get(file)!, reached.get(next)!))
    }
    if (reached.get(file) !== order.get(file)) return
    const circle = open.splice(open.indexOf(file))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const file of imports.keys()) if (!order.has(file)) visit(file)
  return circles
}

/** Imports that a folder may not make, in words. The package's entry is in no folder and may import any. */
const wrongArrows = (imports: Imports, layers: ReadonlyMap<string, Layer>): string[] =>
  [...imports].flatMap(([file, targets]) => {
    const [from] = file.split('/')
    if (file === 'index.ts') return []
    return targets.flatMap(target => {
      const [to] = target.split('/')
      if (to === from || to === 'util') return []
      const [here, there] = [layers.get(from), layers.get(to)]
      if (!here || !there) return [`${file} imports ${target}: the table of folders lacks one of them`]
      if (there.number >= here.number) return [`${file} imports ${target}: that is not below`]
      if (here.imports !== null && !here.imports.includes(to))
        return [`${file} imports ${target}: the table does not say so`]
      return []
    })
  })

it('imports files that are there', () => {
  const imports = importsOf()
  expect(imports.size).toBeGreaterThan(100)
  const lost = [...imports].flatMap(([file, targets]) =>
    targets.filter(target => !imports.has(target)).map(target => `${file} imports ${target}`),
  )
  expect(lost).toEqual([])
})

it('imports go down only, as the table of the architecture says', () => {
  const layers = readLayers()
  const folders = readdirSync(SRC, { withFileTypes: true }).filter(entry => entry.isDirectory())
  expect([...layers.keys()].sort()).toEqual(folders.map(({ name }) => name).sort())
  for (const [name, { number, imports }] of layers)
    for (const other of imports ?? [])
      expect(layers.get(other)?.number, `${name} imports ${other}`).toBeLessThan(number)
  expect(wrongArrows(importsOf(), layers)).toEqual([])
})

it('no files import each other, but for those that have a reason', () => {
  const byName = (a: readonly string[], b: readonly string[]) => a[0].localeCompare(b[0])
  const known = Object.values(CIRCLES).map(files => [...files])
  const found = circlesOf(importsOf())
  expect(found.sort(byName), 'mend what is new; take what is mended off CIRCLES').toEqual(known.sort(byName))
})

it('sees circles of several files, arrows that run up and sideways, and folders that the table lacks', () => {
  const imports = new Map([
    ['a/one.ts', ['a/two.ts']],
    ['a/two.ts', ['b/three.ts', 'a/alone.ts']],
    ['b/three.ts', ['a/one.ts', 'c/four.ts', 'util/five.ts']],
    ['a/alone.ts', []],
  ])
  expect(circlesOf(imports)).toEqual([['a/one.ts', 'a/two.ts', 'b/three.ts']])
  const layers = new Map([
    ['a', { number: 3, imports: [] }],
    ['b', { number: 2, imports: null }],
    ['c', { number: 2, imports: [] }],
  ])
  expect(wrongArrows(imports, layers)).toEqual([
    'a/two.ts imports b/three.ts: the table does not say so',
    'b/three.ts imports a/one.ts: that is not below',
    'b/three.ts imports c/four.ts: that is not below',
  ])
  layers.delete('c')
  expect(wrongArrows(imports, layers)[2]).toMatch(/lacks/)
})
