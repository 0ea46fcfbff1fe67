/**
 * @file Writes sbom.cdx.json: what is installed with this package, by version, checksum and licence (CycloneDX, as npm
 * makes it of the lockfile). What differs from machine to machine is left out, so that the file only changes with the lockfile.
 */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const pathOf = name => fileURLToPath(new URL(`../${name}`, import.meta.url))

const ARGUMENTS = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']
const made = execFileSync('npm', ARGUMENTS, {
  cwd: pathOf(''),
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
})
const { serialNumber: _serial, metadata, components, dependencies, ...bom } = JSON.parse(made)

// npm's own `--omit dev` also omits what a development dependency needs as well (ajv): the lockfile knows better.
const { packages } = JSON.parse(readFileSync(pathOf('package-lock.json'), 'utf8'))
const nameOf = path => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
const installed = new Set(
  Object.entries(packages).flatMap(([path, { version, dev }]) => (dev ? [] : [`${nameOf(path)}@${version}`])),
)
const root = metadata.component['bom-ref']
const kept = [root, ...components.map(each => each['bom-ref'])].filter(
  ref => ref === root || installed.has(ref),
)

const { timestamp: _made, tools: _tools, ...described } = metadata
const list = {
  ...bom,
  // npm names the package after the folder of the clone.
  metadata: { ...described, component: { ...described.component, name: 'gradus' } },
  components: components.filter(each => kept.includes(each['bom-ref'])),
  dependencies: dependencies
    .filter(({ ref }) => kept.includes(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(each => kept.includes(each)) })),
}
writeFileSync(pathOf('sbom.cdx.json'), `${JSON.stringify(list, null, 2)}\n`)
console.log(`sbom.cdx.json: ${list.components.length} packages`)
