#!/usr/bin/env node
/**
 * @file Cuts the packages of packages/ out of dist/: of each what its `exports` and `bin` reach. Its package.json says under
 * `gradus` which files that are imported late stay out (`without`), and which folders go along (`with`). It may then be packed or
 * published from its folder. Fails where the dependencies that it lists are not those that its files import, at the version of the
 * whole.
 *
 *   node scripts/packages.js [NAME...] [--out DIR]      DIR/NAME in place of packages/NAME
 */

import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const readJson = path => JSON.parse(readFileSync(path, 'utf8'))
const whole = readJson(join(root, 'package.json'))

/** What a module names of others: imports, types, modules that a worker starts with, packages that are loaded late. */
const NAMES = [
  /(?:\bfrom|\bimport)\s*\(?\s*['"]([\w@.][\w@./:-]*)['"]/g,
  /\bworkerUrl\(import\.meta\.url,\s*'([^']+)'\)/g,
  /\blazily\('([^']+)'\)/g,
]

/** Kernels in WebAssembly that a module loads. */
const KERNEL = /\bloadKernels\('(\w+)'/g

/** A file without its docstrings, which have examples. */
const codeOf = path => readFileSync(path, 'utf8').replace(/^\s*\*.*$/gm, '')

/** What a file of dist/ needs: packages, and files by their paths from it. */
const namedBy = path => {
  if (/\.(?:wasm|json)$/.test(path)) return []
  const code = codeOf(path)
  const kernels = [...code.matchAll(KERNEL)].map(([, name]) => join(dist, 'kernels', `${name}.wasm`))
  return [
    ...NAMES.flatMap(pattern => [...code.matchAll(pattern)].map(([, name]) => name)),
    ...kernels.map(file => `./${relative(dirname(path), file)}`),
  ]
}

/** Whether a declaration names types of Node, or those of undici, which name them. */
const namesNode = path =>
  path.endsWith('.d.ts') && /\bNodeJS\.|\bBuffer\b|from '(?:node:|undici')/.test(codeOf(path))

/** The package of a module's name: `ajv` of `ajv/dist/2020.js`. */
const packageOf = name => name.split('/', name.startsWith('@') ? 2 : 1).join('/')

/**
 * Files of dist/ that these reach, declarations with their modules, and the packages that they import.
 * @param without files that are imported late, and left out
 */
const reached = (entries, without) => {
  const files = new Set()
  const packages = new Set()
  const open = [...entries]
  while (open.length > 0) {
    const path = open.pop()
    if (files.has(path)) continue
    files.add(path)
    if (namesNode(path)) packages.add('@types/node')
    for (const name of namedBy(path)) {
      if (isBuiltin(name)) continue
      if (!name.startsWith('.')) packages.add(packageOf(name))
      else {
        const file = resolve(dirname(path), name)
        if (!without.includes(file))
          open.push(path.endsWith('.d.ts') ? file.replace(/\.[jt]s$/, '.d.ts') : file)
      }
    }
  }
  return { files, packages }
}

/** What keeps a package from being as its package.json says. */
const faultsOf = ({ version, dependencies = {} }, packages) => [
  ...(version === whole.version ? [] : [`version: expected ${whole.version}, got ${version}`]),
  ...[...packages].filter(name => !(name in dependencies)).map(name => `dependencies lack ${name}`),
  ...Object.keys(dependencies)
    .filter(name => !packages.has(name))
    .map(name => `dependencies: nothing imports ${name}`),
  ...Object.entries(dependencies)
    .filter(([name, range]) => whole.dependencies[name] !== range)
    .map(([name, range]) => `dependencies.${name}: expected ${whole.dependencies[name]}, got ${range}`),
]

/** Of a folder that goes along. */
const isShipped = path => !/[\\/](?:tests|__pycache__|[^\\/]*\.egg-info)$/.test(path)

const cut = (name, folder) => {
  const source = join(root, 'packages', name)
  const described = readJson(join(source, 'package.json'))
  const entries = Object.values(described.exports).flatMap(entry =>
    typeof entry === 'string' ? [] : Object.values(entry).map(path => join(root, path)),
  )
  const commands = Object.values(described.bin ?? {}).map(path => join(root, path))
  const without = (described.gradus?.without ?? []).map(path => join(root, path))
  const { files, packages } = reached([...entries, ...commands], without)
  const faults = faultsOf(described, packages)
  if (faults.length > 0) throw new Error(`packages/${name}/package.json: ${faults.join('; ')}`)
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  if (folder !== source)
    cpSync(source, folder, { recursive: true, filter: path => path !== join(source, 'dist') })
  for (const path of files) {
    const target = join(folder, 'dist', relative(dist, path))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(path, target)
  }
  for (const path of described.gradus?.with ?? [])
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: isShipped })
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  return `${described.name}: ${files.size} files, dependencies ${[...packages].sort().join(', ') || 'none'}`
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { out: { type: 'string' } } })
if (!existsSync(join(dist, '.built'))) {
  console.error('dist/ is not built; run `npm run build` first')
  process.exit(1)
}
const names = positionals.length > 0 ? positionals : readdirSync(join(root, 'packages'))
try {
  for (const name of names)
    console.log(
      cut(name, values.out === undefined ? join(root, 'packages', name) : join(resolve(values.out), name)),
    )
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
