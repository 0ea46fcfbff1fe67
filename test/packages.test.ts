import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'gradus-packages-'))
const names = readdirSync(join(root, 'packages'))
const read = (name: string, file: string) => readFileSync(join(root, 'packages', name, file), 'utf8')
const dependenciesOf = (name: string) =>
  Object.keys((JSON.parse(read(name, 'package.json')) as { dependencies: object }).dependencies)

/** Each package is installed alone, beside what it says that it depends on. */
beforeAll(() => {
  for (const name of names) {
    const modules = join(folder, name, 'node_modules')
    const cut = spawnSync(
      process.execPath,
      ['scripts/packages.js', name, '--out', join(modules, '@gradus')],
      {
        cwd: root,
        encoding: 'utf8',
      },
    )
    expect(cut.stderr).toBe('')
    for (const dependency of dependenciesOf(name)) {
      const path = join(modules, dependency)
      mkdirSync(dirname(path), { recursive: true })
      symlinkSync(join(root, 'node_modules', dependency), path)
    }
  }
}, 120_000)

let server: ChildProcess | null = null
afterAll(() => {
  server?.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** A server of the Tinker protocol; settles with its address. */
const serve = async (): Promise<string> => {
  const args = ['bin/gradus.js', 'serve', 'tinker', '--model', 'models/logic-start', '--port', '0']
  server = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for await (const chunk of server.stderr!) {
    said += chunk
    const [address] = /http:\/\/[\d.:]+/.exec(said) ?? []
    if (address) return address
  }
  throw new Error(said)
}

const fence = (text: string, language: string) =>
  new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(text)![1]

it.each(names)(
  '%s: the first example of its README prints what it says',
  async name => {
    const readme = read(name, 'README.md')
    writeFileSync(join(folder, name, 'example.mjs'), fence(readme, 'js'))
    const env = { ...process.env, ...(name === 'tinker' && { TINKER_BASE_URL: await serve() }) }
    const options = { cwd: join(folder, name), encoding: 'utf8', env } as const
    const { stdout, stderr } = spawnSync(process.execPath, ['example.mjs'], options)
    expect({ stdout, stderr }).toEqual({ stdout: fence(readme, 'text'), stderr: '' })
  },
  120_000,
)

it('the reward server alone has its command, and says what it leaves out', () => {
  const cwd = join(folder, 'serve')
  const run = (config: string) => {
    writeFileSync(join(cwd, 'reward.yaml'), config)
    const { bin } = JSON.parse(read('serve', 'package.json')) as { bin: Record<string, string> }
    const command = join('node_modules/@gradus/serve', bin['gradus-rewards'])
    return spawnSync(process.execPath, [command, '--config', 'reward.yaml', '--check'], {
      cwd,
      encoding: 'utf8',
    })
  }
  const rubrics = 'rubrics: { a: { criteria: [{ id: x, text: Explains, points: 1 }] } }\njudge: main\n'
  const scripted = run(`${rubrics}judges: { main: { kind: scripted, script: [] } }\n`)
  expect({ status: scripted.status, stderr: scripted.stderr }).toEqual({
    status: 0,
    stderr: 'reward.yaml: fine\n',
  })
  const learned = run(`${rubrics}judges: { main: { kind: learned, folder: verifier } }\n`)
  expect(learned.status).toBe(1)
  expect(learned.stderr).toMatch(
    /^gradus-rewards: judges: .*the engine, which @gradus\/serve leaves out; run/,
  )
})

it.each(names)(
  '%s: its types are whole for whoever has none of Node',
  name => {
    const modules = join(folder, name, 'node_modules')
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
    const link = (dependency: string): void => {
      const path = join(modules, dependency)
      mkdirSync(dirname(path), { recursive: true })
      if (!existsSync(path)) symlinkSync(join(root, 'node_modules', dependency), path)
      for (const further of Object.keys(packages[`node_modules/${dependency}`].dependencies ?? {}))
        if (!existsSync(join(modules, further))) link(further)
    }
    for (const dependency of dependenciesOf(name)) link(dependency)
    const { exports } = JSON.parse(read(name, 'package.json')) as { exports: Record<string, unknown> }
    const entries = Object.keys(exports).filter(entry => entry !== './package.json')
    const lines = entries.map((entry, i) => `export * as part${i} from '@gradus/${name}${entry.slice(1)}'`)
    writeFileSync(join(folder, name, 'types.mts'), lines.join('\n'))
    const flags =
      '--noEmit --strict --skipLibCheck false --preserveSymlinks --module nodenext --target es2023'
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const args = [tsc, ...flags.split(' '), 'types.mts']
    const { stdout } = spawnSync(process.execPath, args, { cwd: join(folder, name), encoding: 'utf8' })
    expect(stdout).toBe('')
  },
  120_000,
)

it.each([
  ['onnxruntime-node', ['core']],
  ['@huggingface/hub', ['agents', 'core']],
  ['hyparquet', ['agents']],
])('%s is a dependency of those alone that use it', (dependency, users) => {
  expect(names.filter(name => dependenciesOf(name).includes(dependency))).toEqual(users)
})

it('a package is refused that lists what nothing imports, or lacks what something does', () => {
  const copy = join(folder, 'copy')
  mkdirSync(join(copy, 'packages/tinker'), { recursive: true })
  mkdirSync(join(copy, 'scripts'))
  for (const part of ['dist', 'package.json', 'LICENSE']) symlinkSync(join(root, part), join(copy, part))
  writeFileSync(join(copy, 'scripts/packages.js'), readFileSync(join(root, 'scripts/packages.js')))
  const described = JSON.parse(read('tinker', 'package.json'))
  const { undici: _, ...rest } = described.dependencies
  writeFileSync(
    join(copy, 'packages/tinker/package.json'),
    JSON.stringify({ ...described, dependencies: { ...rest, yaml: '2.9.1' } }),
  )
  const { status, stderr } = spawnSync(process.execPath, ['scripts/packages.js'], {
    cwd: copy,
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toMatch(
    /packages\/tinker\/package\.json: dependencies lack undici; dependencies: nothing imports yaml/,
  )
})
