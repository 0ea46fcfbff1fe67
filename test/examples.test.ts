/**
 * Whole training configurations that README and docs show: each is run, here or by its page (docs.test.ts), or needs what no
 * test has and is held against its schema. Run here they are shortened.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { cli } from '../src/cli/cli.fixture.ts'
import { resolveSettings } from '../src/cli/train/settings.ts'
import { meantBy } from '../src/recipes/by-name.ts'
import { type Fence, readFences } from './howto.fixture.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'gradus-examples-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const TIMEOUT_MS = 300_000

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name.replaceAll('\\', '/')}`),
]

/** Registrations name a recipe as well; src/experiments reads those. */
const isTraining = ({ language, text }: Fence) =>
  language === 'yaml' && /^recipe: /m.test(text) && !/^paper: /m.test(text)

/** Whether a command of the page trains by the file, all the way. */
const isRunByPage = ({ marks: { file } }: Fence, fences: readonly Fence[]) =>
  file !== undefined &&
  fences.some(
    ({ marks, text }) =>
      'run' in marks &&
      text.split('\n').some(line => line.includes(`gradus train ${file} `) && !line.includes('--dry-run')),
  )

/** The preset that a command of the page has the file over. */
const presetOf = ({ marks: { file } }: Fence, fences: readonly Fence[]) =>
  fences
    .flatMap(({ text }) => text.split('\n'))
    .filter(line => file !== undefined && line.includes(`gradus train ${file} `))
    .map(line => /--preset (\S+)/.exec(line)?.[1])
    .find(preset => preset !== undefined)

const configs = pages.flatMap(page => {
  const fences = readFences(readFileSync(join(root, page), 'utf8'))
  return fences.filter(isTraining).map(fence => ({
    name: `${page}: ${fence.marks.file ?? /^# ([\w-]+\.yaml)/.exec(fence.text)?.[1] ?? /^recipe: ([\w-]+)/m.exec(fence.text)![1]}`,
    text: fence.text,
    byPage: isRunByPage(fence, fences),
    preset: presetOf(fence, fences),
  }))
})

/** What is missing here of each that is not run. */
const NEEDS: Readonly<Record<string, string>> = {
  'docs/howto/anchors.md: questions.yaml': 'a chat model with room for rubrics',
  'docs/howto/author-a-thinking-rubric.md: mine.yaml': 'a chat model that thinks, and a judge',
  'docs/howto/data.md: columns.yaml': 'a file on the hub',
  'docs/howto/environments.md: environment.yaml': 'a chat model, and an OpenEnv server',
  'docs/howto/environments.md: tools-environment.yaml': 'a chat model, a judge, and an MCP server',
  'docs/howto/research-agents.md: research.yaml': 'a chat model, and a judge',
  'docs/howto/train-on-your-own.md: no-template.yaml': 'a chat model: the page shows that it is refused',
}

const FEW = ['rollout.prompts=2', 'rollout.samples=4']
/** Settings that shorten what is run here. */
const SHORTER: Readonly<Record<string, readonly string[]>> = {
  'docs/recipes/rit.md: mine.yaml': [
    ...['steps=3', ...FEW, 'rubric.problems=8'],
    ...['evaluation.problems=4', 'evaluation.samples=2'],
  ],
  'docs/recipes/rlcer.md: scaffolded.yaml': [
    ...['steps=3', ...FEW],
    ...['evaluation.problems=4', 'evaluation.samples=1', 'evaluation.rubrics=2'],
  ],
  'docs/howto/anchors.md: anchored.yaml': [
    ...['steps=3', ...FEW],
    ...['evaluation.problems=4', 'evaluation.samples=1', 'evaluation.rubrics=2'],
  ],
  'docs/recipes/rubric-as-reward.md: drills.yaml': ['steps=16', 'batch=16'],
  'docs/howto/rubric-dropout.md: ruscarl': ['steps=3', 'rollout.prompts=4', 'evaluation.problems=8'],
}

interface Row extends Record<string, unknown> {
  step: number
}
const rowsOf = (run: string, file: string): Row[] =>
  readFileSync(join(run, file), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

const train = async (name: string, text: string) => {
  const run = mkdtempSync(join(folder, 'run-'))
  const config = `${run}.yaml`
  writeFileSync(config, text)
  const settings = [...SHORTER[name], 'policy.threads=2', 'policy.spinning=false'].flatMap(each => [
    '--set',
    each,
  ])
  const options = ['--out', run, '--quiet', '--no-dashboard', ...settings]
  expect(await cli(['train', config, ...options])).toMatchObject({ code: 0 })
  expect(existsSync(join(run, 'report.html'))).toBe(true)
  return { metrics: rowsOf(run, 'metrics.jsonl'), evals: rowsOf(run, 'evals.jsonl') }
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe('configurations that README and docs show', () => {
  it.each(configs)('$name has settings that there are', async ({ text, preset }) => {
    const path = join(folder, 'shown.yaml')
    writeFileSync(path, text)
    const [, name] = /^recipe: ([\w-]+)/m.exec(text)!
    const { entry } = await resolveSettings({ target: path, preset })
    expect(entry.name).toBe(meantBy(name, preset).recipe)
  })

  it('are each run by their page, run here, or known to need what is not here', () => {
    const others = configs.filter(({ byPage }) => !byPage).map(({ name }) => name)
    expect(others.toSorted()).toEqual([...Object.keys(NEEDS), ...Object.keys(SHORTER)].toSorted())
    expect(configs.filter(({ byPage }) => byPage).length).toBeGreaterThan(5)
  })

  it('are trained by the command of a clone, which first looks whether dist/ is older than its source', () => {
    const help = execFileSync('node', [join(root, 'bin', 'gradus.js'), 'train', '--help'], {
      encoding: 'utf8',
    })
    expect(help).toContain('Usage: gradus train')
  }, 120_000)

  describe('shortened', { timeout: TIMEOUT_MS }, () => {
    const shortened = configs.filter(({ name }) => name in SHORTER)
    const supervised = shortened.filter(({ text }) => /^recipe: .*-cold-start/m.test(text))
    const reinforced = shortened.filter(each => !supervised.includes(each))

    it.each(reinforced)('$name trains', async ({ name, text }) => {
      const { metrics, evals } = await train(name, text)
      expect(metrics.map(({ step }) => step)).toEqual([1, 2, 3])
      for (const { reward, gradNorm } of metrics) {
        expect(reward).toEqual(expect.any(Number))
        expect(gradNorm).toEqual(expect.any(Number))
      }
      expect(Math.max(...metrics.map(({ gradNorm }) => gradNorm as number))).toBeGreaterThan(0)
      expect(new Set(evals.map(({ step }) => step))).toEqual(new Set([0, 3]))
    })

    it.each(supervised)('$name learns what it is shown', async ({ name, text }) => {
      const losses = (await train(name, text)).metrics.map(({ loss }) => loss as number)
      expect(losses).toHaveLength(16)
      expect(mean(losses.slice(-4))).toBeLessThan(0.9 * mean(losses.slice(0, 4)))
    })
  })
})
