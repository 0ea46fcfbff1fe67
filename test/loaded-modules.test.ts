/** @file What a command loads before it does anything: a module costs most of a millisecond, a package up to a tenth of a second. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const DIST = new URL('../dist/', import.meta.url).href
const MAIN = fileURLToPath(new URL('cli/main.js', DIST))
const TIMEOUT_MS = 300_000

const folder = mkdtempSync(join(tmpdir(), 'gradus-loaded-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Our modules by their place in dist/, and packages by name, that a command line loads: the runtime's coverage lists them. */
const loadedBy = (args: readonly string[]): { modules: string[]; packages: string[] } => {
  const coverage = mkdtempSync(join(folder, 'coverage-'))
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  })
  expect(status, stderr).toBeLessThan(2)
  const urls = readdirSync(coverage).flatMap(name => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as { result: { url: string }[] }
    return result.map(({ url }) => url)
  })
  const packageOf = (url: string) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []
  return {
    modules: urls.flatMap(url => (url.startsWith(DIST) ? [url.slice(DIST.length)] : [])),
    packages: [...new Set(urls.flatMap(packageOf))],
  }
}

/** Folders of recipes among modules. */
const recipesOf = (modules: readonly string[]): string[] =>
  [...new Set(modules.flatMap(path => /^recipes\/([\w-]+)\//.exec(path)?.[1] ?? []))].sort()

/** What only a training, a server or a report needs. */
const WORK =
  /^(?:policy\/local\/(?:engine|sampler|trainer)|tensor\/executable|train\/loop|serve\/(?!http\/pages)|runs\/report\/(?:report|page)\.)/

describe('modules that a command loads', { timeout: TIMEOUT_MS }, () => {
  it.each([
    { args: ['train', '--help'], packages: ['commander'], most: 90 },
    { args: ['bench', 'overlap', '--help'], packages: ['commander'], most: 90 },
    { args: ['runs', 'list', '.'], packages: ['commander', 'zod'], most: 120 },
    {
      args: ['train', 'learned-verifier', '--settings'],
      packages: ['@huggingface/tokenizers', 'commander', 'yaml', 'zod'],
      most: 200,
    },
  ])('are few for $args', ({ args, packages, most }) => {
    const loaded = loadedBy(args)
    expect(loaded.packages.sort()).toEqual(packages)
    expect(loaded.modules.length).toBeGreaterThan(40)
    expect(loaded.modules.length).toBeLessThan(most)
    expect(loaded.modules.filter(path => WORK.test(path))).toEqual([])
  })

  it.each([
    { recipe: 'logic-cold-start', own: ['common', 'logic', 'options', 'sft'] },
    { recipe: 'rit', own: ['common', 'logic', 'options', 'rit', 'sft'] },
  ])('are for a plan of $recipe those of it, and nothing that computes', ({ recipe, own }) => {
    const { modules, packages } = loadedBy(['train', recipe, '--dry-run'])
    expect(recipesOf(modules)).toEqual(own)
    expect(modules.filter(path => WORK.test(path))).toEqual([])
    expect(packages).not.toContain('onnxruntime-node')
  })
})
