// What has to hold after a disturbance. Every check returns what is wrong, in words; an empty list is fine.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { newestCheckpoint } from './damage.js'
import { readSeal } from './judge.js'

/** Rows without what depends on the clock, or on how often a judge had to be asked. */
const withoutClock = ({ time: _time, judgeCalls: _calls, ...row }) => JSON.stringify(row)

const rowsOf = path => {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
}

const hashOf = path => createHash('sha256').update(readFileSync(path)).digest('hex')

const WEIGHTS = /^(model|optimizer|adapter_model|value_head|sampled-ahead).*\.safetensors$/
/** Files of a run besides its rows and checkpoints. */
const FILES = ['bank.jsonl']

const sortedKeys = (_key, value) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** What a recipe knew at a checkpoint; the order of keys, which a resume may change, says nothing. */
const stateOf = checkpoint => {
  const path = checkpoint === null ? null : join(checkpoint, 'recipe-state.json')
  if (path === null || !existsSync(path)) return []
  const text = readFileSync(path, 'utf8')
  try {
    return [JSON.stringify(JSON.parse(text), sortedKeys)]
  } catch {
    return [text]
  }
}

/** All that a run says that must not depend on how often it was stopped. */
export const fingerprint = dir => {
  const checkpoint = newestCheckpoint(dir)
  const weights = checkpoint === null ? [] : readdirSync(checkpoint).filter(name => WEIGHTS.test(name))
  const files = FILES.filter(name => existsSync(join(dir, name)))
  return {
    metrics: rowsOf(join(dir, 'metrics.jsonl')).map(withoutClock),
    evals: rowsOf(join(dir, 'evals.jsonl')).map(withoutClock),
    state: stateOf(checkpoint),
    rubrics: rowsOf(join(dir, 'rubrics.jsonl')).map(withoutClock),
    bytes: Object.fromEntries([
      ...weights.sort().map(name => [name, hashOf(join(checkpoint, name))]),
      ...files.map(name => [name, hashOf(join(dir, name))]),
    ]),
  }
}

const firstDifference = (what, mine, reference) => {
  if (mine.length !== reference.length)
    return [`${what}: ${reference.length} rows expected, got ${mine.length}`]
  const at = mine.findIndex((row, i) => row !== reference[i])
  if (at < 0) return []
  const from = [...mine[at]].findIndex((character, i) => character !== reference[at][i])
  const part = text => text.slice(Math.max(0, from - 60), from + 60)
  return [`${what}: row ${at + 1}: expected ...${part(reference[at])}..., got ...${part(mine[at])}...`]
}

/** Differences of a run from its reference. */
export const sameRun = (mine, reference) => [
  ...firstDifference('metrics', mine.metrics, reference.metrics),
  ...firstDifference('evals', mine.evals, reference.evals),
  ...firstDifference("recipe's state", mine.state, reference.state),
  ...firstDifference('rubrics', mine.rubrics, reference.rubrics),
  ...[...new Set([...Object.keys(mine.bytes), ...Object.keys(reference.bytes)])]
    .filter(name => mine.bytes[name] !== reference.bytes[name])
    .map(
      name => `${name}: ${mine.bytes[name] === undefined ? 'missing' : 'other bytes than in the reference'}`,
    ),
]

/** Paths of all files and folders below a folder. */
const everything = dir => {
  if (!existsSync(dir)) return []
  return readdirSync(dir, { recursive: true, withFileTypes: true }).map(entry =>
    join(entry.parentPath ?? entry.path, entry.name),
  )
}

/** Files and folders that a finished command has no use for. */
export const leftovers = dir =>
  everything(dir)
    .filter(path => /\.(tmp|new|old|partial|doomed)(\.|$)/.test(path.slice(dir.length)))
    .map(path => `left over: ${relative(dir, path)}`)

/** A lock that nobody holds any more. */
export const locksLeft = dir =>
  everything(dir)
    .filter(path => /(^|\/)lock$/.test(path))
    .map(path => `a lock is left: ${relative(dir, path)}`)

/** Size of a folder and of its largest file, bytes. */
export const bytesOf = dir => {
  const sizes = everything(dir).map(path => statSync(path).size)
  return { all: sizes.reduce((a, b) => a + b, 0), largest: Math.max(0, ...sizes) }
}

/** Steps of the rows are 1, 2, 3, ... */
export const stepsInOrder = dir => {
  const steps = rowsOf(join(dir, 'metrics.jsonl')).map(({ step }) => step)
  return steps.every((step, i) => step === i + 1) ? [] : [`metrics.jsonl: steps ${steps.join(', ')}`]
}

const STACK = /^\s+at (?:.+ \()?(?:file:|node:|\/).*:\d+:\d+\)?$/m
const UNFORESEEN =
  /GRADUS_DEBUG=1 shows where this came from|^FATAL ERROR|triggerUncaughtException|UnhandledPromiseRejection/m

/** What nobody should have to read: stacks, errors that nobody foresaw. */
export const rawErrors = err => {
  const found = STACK.exec(err) ?? UNFORESEEN.exec(err)
  return found
    ? [`raw error on stderr: ${err.slice(Math.max(0, found.index - 300), found.index + 200).trim()}`]
    : []
}

/**
 * How a command ended.
 * @param {{ code: number | null, signal: string | null, hung: boolean, stacks: string }} ended
 * @param {{ codes: readonly number[], signals: readonly string[] }} expected
 */
export const endedWell = ({ code, signal, hung, stacks }, { codes, signals }, err) => {
  if (hung) return [`hung, and was killed; ${stacks}`]
  if (code === null) return signals.includes(signal) ? [] : [`ended by ${signal}`]
  if (!codes.includes(code)) return [`exit code ${code}: ${err.trim().slice(-400)}`]
  return code === 1 && !/^gradus: /m.test(err) ? ['exit code 1 without a word of why'] : []
}

/** Verdicts that a judge gave, in a run's rollouts: none that it did not give, none inverted. */
export const inventedVerdicts = (verdicts, given) =>
  verdicts
    .filter(({ met }) => met !== null)
    .flatMap(({ met, explanation }) => {
      const seal = readSeal(explanation)
      if (seal === null) return [`a verdict without the judge's seal: ${met}, ${explanation}`]
      return given.get(seal.id) === met && seal.met === met
        ? []
        : [`a verdict that the judge did not give: ${met}, ${explanation}`]
    })

/** All judged verdicts of a run's rollouts. */
export const verdictsOfRun = dir =>
  rowsOf(join(dir, 'rollouts.jsonl')).flatMap(({ verdicts = [] }) => verdicts)

/** All verdicts in a cache's folder; damaged lines are left out, as the cache leaves them out. */
export const verdictsOfCache = folder =>
  everything(folder)
    .filter(path => statSync(path).isFile())
    .flatMap(path => readFileSync(path, 'utf8').split('\n'))
    .flatMap(line => {
      const json = /^[0-9a-f]{8} [0-9a-f]{32} (\[.*\])$/.exec(line)?.[1]
      if (json === undefined) return []
      try {
        return JSON.parse(json)
      } catch {
        return []
      }
    })
