import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')

interface Locked {
  version: string
  integrity?: string
  dev?: boolean
  optional?: boolean
  resolved?: string
  hasInstallScript?: boolean
}
interface Component {
  name: string
  version: string
  hashes?: { alg: string; content: string }[]
  licenses?: { license?: { id?: string }; expression?: string }[]
}

const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
const installed = Object.entries(lock.packages).filter(([path]) => path !== '')
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Licences under which a program of Apache-2.0 may be handed on. */
const LICENCES = [
  ...['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'],
  ...['(MIT OR CC0-1.0)', '(Apache-2.0 AND BSD-3-Clause)'],
]

describe('the bill of materials', () => {
  const bom = JSON.parse(read('sbom.cdx.json')) as { components: Component[] }

  it('lists what the lockfile installs, with its checksums (npm run sbom writes it anew)', () => {
    const wanted = installed
      .filter(([, { dev }]) => dev !== true)
      .map(([path, { version, integrity = '' }]) => {
        const hash = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
        return `${nameOf(path)}@${version} ${hash}`
      })
    const listed = bom.components.map(({ name, version, hashes = [] }) => {
      const hash = hashes.find(({ alg }) => alg === 'SHA-512')?.content
      return `${name}@${version} ${hash}`
    })
    expect(listed.toSorted()).toEqual([...new Set(wanted)].toSorted())
  })

  it('knows a licence of every package, and each may be handed on', () => {
    const odd = bom.components.filter(({ licenses = [] }) => {
      const named = licenses.map(({ license, expression }) => license?.id ?? expression ?? 'none')
      return named.length === 0 || named.some(name => !LICENCES.includes(name))
    })
    expect(odd.map(({ name }) => name)).toEqual([])
  })
})

describe('the lockfile', () => {
  it('has a checksum of every package and no address to download from', () => {
    // But for the formatter's binaries for other platforms, which only developers there install.
    const faulty = installed.filter(
      ([, { integrity, resolved, dev, optional }]) =>
        resolved !== undefined || !(integrity?.startsWith('sha512-') || (dev && optional)),
    )
    expect(faulty.map(([path]) => path)).toEqual([])
  })

  it('is installed without running scripts of packages', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m)
  })
})

describe('the table of dependencies', () => {
  it('has every one once, with its version', () => {
    const table = read('docs', 'decisions', 'dependencies.md')
    const rows = [...table.matchAll(/^\| ([@a-z][^|]*) \| (\d[^|]*) \|/gm)]
    const listed = rows.flatMap(([, names, versions]) => {
      const each = versions.split(', ')
      return names.split(', ').map((name, i) => `${name} ${each[i]}`)
    })
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
    const wanted = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`)
    expect(listed.toSorted()).toEqual(wanted.toSorted())
  })
})

describe('workflows', () => {
  const folder = join('.github', 'workflows')
  const files = readdirSync(join(root, folder))

  it.each(files)('%s pins every action by commit and asks for no more than it needs', file => {
    const text = read(folder, file)
    const uses = [...text.matchAll(/uses: (\S+)(.*)/g)]
    expect(uses.length).toBeGreaterThan(0)
    for (const [, action, comment] of uses) {
      expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
      expect(comment).toMatch(/^ # v\d+\.\d+\.\d+$/)
    }
    const { permissions } = parse(text) as { permissions: unknown }
    expect(permissions).toEqual({ contents: 'read' })
    expect(text).not.toMatch(/pull_request_target|secrets\./)
  })
})
