import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
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
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linkedFiles } from './packed-links.fixture.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const app = mkdtempSync(join(tmpdir(), 'gradus-app-'))
const installed = join(app, 'node_modules', 'gradus')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Compiling, training and starting processes take their time on a busy machine. */
const TIMEOUT_MS = 300_000

const exec = (command: string, args: string[], cwd = app) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** What `npm install <tarball>` leaves, with dependencies linked to this checkout's so that no registry is asked. */
const install = () => {
  const [{ filename }] = JSON.parse(
    exec('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', app], root),
  )
  mkdirSync(installed, { recursive: true })
  exec('tar', ['-xzf', join(app, filename), '-C', installed, '--strip-components=1'])
  for (const name of Object.keys(manifest.dependencies)) {
    const link = join(app, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link)
  }
  const bin = join(app, 'node_modules', '.bin')
  mkdirSync(bin)
  chmodSync(join(installed, manifest.bin.gradus), 0o755)
  symlinkSync(join('..', 'gradus', manifest.bin.gradus), join(bin, 'gradus'))
  writeFileSync(join(app, 'package.json'), '{"type": "module", "private": true}\n')
}

/** Compiles an example by the command in its second line, strictly. */
const compile = (name: string) => {
  const source = join(root, 'examples', `${name}.ts`)
  const example = readFileSync(source, 'utf8')
  expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(80)
  copyFileSync(source, join(app, `${name}.ts`))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const [, options] = /npx tsc (.*?) own-/.exec(example)!
  exec('node', [tsc, ...options.split(' '), '--strict', '--skipLibCheck', `${name}.ts`])
}

const rowsOf = (file: string): Record<string, unknown>[] =>
  readFileSync(join(app, file), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

describe('the package as others get it', { timeout: TIMEOUT_MS }, () => {
  beforeAll(install, TIMEOUT_MS)
  afterAll(() => rmSync(app, { recursive: true, force: true }))

  it('holds what it needs and no sources or tests', () => {
    expect(readdirSync(installed)).toEqual(
      expect.arrayContaining(['bin', 'dist', 'examples', 'package.json']),
    )
    expect(existsSync(join(installed, 'src'))).toBe(false)
    const files = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' })
    expect(files.filter(name => /\.(?:test|fixture)\./.test(name))).toEqual([])
  })

  it('has no link that leads nowhere, in its pages and in its source maps', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    const pages = files.filter(name => name.endsWith('.md'))
    expect(pages.length).toBeGreaterThan(20)
    const dead = pages.flatMap(page =>
      linkedFiles(installed, page)
        .filter(target => !existsSync(join(installed, target)))
        .map(target => `${page}: ${target}`),
    )
    expect(dead).toEqual([])
    const maps = files.filter(name => name.endsWith('.js.map'))
    const without = maps.filter(name => {
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(join(installed, name), 'utf8'))
      return sourcesContent.length !== sources.length
    })
    expect(without).toEqual([])
  })

  it('finds the registrations that its pages name, from any folder', () => {
    const plan = exec('npx', ['--no-install', 'gradus', 'experiment', 'experiments/rit.yaml', '--dry-run'])
    expect(plan).toContain('nothing was run')
  })

  it('says what it needs where Node is too old', () => {
    const script = join(app, 'old.mjs')
    writeFileSync(
      script,
      `Object.defineProperty(process.versions, 'node', { value: '20.18.3' })\nawait import(${JSON.stringify(join(installed, 'bin', 'gradus.js'))})\n`,
    )
    const { status, stderr } = spawnSync('node', [script], { encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toContain('expected Node.js 20 from 20.19 on, or 22.12 or newer, got 20.18.3')
  })

  it('has every entry that it promises, with types', () => {
    const entries = Object.entries<string | { types: string }>(manifest.exports)
    const modules = entries.flatMap(([entry, target]) =>
      typeof target === 'string' ? [] : [{ name: entry.replace('.', 'gradus'), types: target.types }],
    )
    for (const { types } of modules) expect(existsSync(join(installed, types)), types).toBe(true)
    const names = modules.map(({ name }) => name)
    const script = `for (const name of ${JSON.stringify(names)}) if (Object.keys(await import(name)).length > 0) console.log(name)`
    expect(exec('node', ['--input-type=module', '-e', script]).trim().split('\n')).toEqual(names)
  })

  it('runs as a command', () => {
    expect(exec('npx', ['--no-install', 'gradus', '--version'])).toBe(`${manifest.version}\n`)
  })

  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const rewardsOf = (run: string) => rowsOf(`${run}/metrics.jsonl`).map(({ reward }) => reward as number)

  it('trains the example of an own task under two methods: the reward rises, also after a resume', () => {
    compile('own-task')
    for (const steps of ['20', '60']) exec('node', ['own-task.js', 'task-run', steps])
    for (const method of ['grpo', 'ruscarl']) {
      const rewards = rewardsOf(`task-run/${method}`)
      expect(rewards).toHaveLength(60)
      expect(mean(rewards.slice(0, 10))).toBeLessThan(0.1)
      expect(mean(rewards.slice(-10))).toBeGreaterThan(0.25)
      expect(readFileSync(join(app, `task-run/${method}/report.html`), 'utf8')).toContain(method)
    }
  })

  it('trains the example of an own method on two tasks: both rewards rise', () => {
    compile('own-method')
    exec('node', ['own-method.js', 'method-run', '20'])
    for (const task of ['packing', 'arithmetic']) {
      const rewards = rewardsOf(`method-run/${task}`)
      expect(mean(rewards.slice(-5))).toBeGreaterThan(mean(rewards.slice(0, 5)) + 0.02)
      expect(rowsOf(`method-run/${task}/evals.jsonl`).map(({ step }) => step)).toEqual([0, 20])
    }
  })

  it('trains the example of an own tool: it is called, and what it says is not learnt', () => {
    compile('own-tool')
    writeFileSync(join(app, 'asking.js'), ASKING)
    const lines = exec('node', ['asking.js', 'tool-run', '3']).trim().split('\n')
    expect(rowsOf('tool-run/metrics.jsonl').map(({ turns }) => (turns as number) > 1)).toEqual([
      true,
      true,
      true,
    ])
    expect(readFileSync(lines.at(-2)!, 'utf8')).toContain('own-tool')
    const [asked, guessed] = JSON.parse(lines.at(-1)!)
    expect(asked).toMatchObject({ turns: 2, reward: 1, mask: [1, 1, 0, 1] })
    const [ask, who, found, said] = asked.advantages
    expect([ask, who, said].every(advantage => advantage > 0)).toBe(true)
    expect(found).toBe(0)
    expect(guessed).toMatchObject({ turns: 1, mask: [1] })
    expect(guessed.advantages[0]).toBeLessThan(0)
  })
})

/** Of the second example, after its training: what is learnt from a sample that asks and one that does not, on the first problem. */
const ASKING = `
import { recipe } from './own-tool.js'
import { StepRollouts } from 'gradus/train'

const [ASK, NO_ROOM] = [11, 10]
const respond = (prompt, index) => {
  if (prompt.length > 2) return prompt.slice(-1)
  return index === 0 ? [ASK, prompt[1]] : [NO_ROOM]
}
const policy = {
  async sample({ prompts, samplesPerPrompt = 1 }, onSample) {
    prompts.forEach((prompt, p) => {
      for (let index = 0; index < samplesPerPrompt; index++) {
        const tokens = Int32Array.from(respond([...prompt], index))
        onSample({ prompt: p, index, tokens, logprobs: new Float32Array(tokens.length), finishReason: 'stop' })
      }
    })
  },
}
const groups = await recipe.rollOut(1, new StepRollouts(policy, { seed: 1, step: 1 }))
const { phases } = await recipe.learn(1, groups)
const learnt = groups[0].map(({ rollout: { turns }, reward }, i) => {
  const { mask, advantages } = phases[0].datums[i].datum
  return { turns: turns.length, reward, mask: [...mask], advantages: [...advantages] }
})
console.log(JSON.stringify(learnt))
`
