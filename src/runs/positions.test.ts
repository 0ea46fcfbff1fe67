import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { isLocked, type RunLock, takeLock } from './lock.ts'
import { readEvents, readMetrics } from './readers.ts'
import { FILE_START, readRowsFrom } from './row-files.ts'
import { RunFolder } from './run-folder.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-positions-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

type Action =
  | { kind: 'step' }
  | { kind: 'note'; text: string }
  | { kind: 'save' }
  /** A kill that tears what was written after the last checkpoint at any byte, and a resume. */
  | { kind: 'kill'; at: number; garbage: string }
  | { kind: 'watch' }

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ kind: 'step' } as const) },
  fc.record({ kind: fc.constant('note' as const), text: fc.string({ unit: 'binary', maxLength: 6 }) }),
  { weight: 2, arbitrary: fc.constant({ kind: 'save' } as const) },
  fc.record({
    kind: fc.constant('kill' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    garbage: fc.constantFrom('', '{"step":', '\u0000\u0000', '\n', '{"level":"info","mess'),
  }),
  fc.constant({ kind: 'watch' } as const),
)

it('rows from before a checkpoint are never lost nor shown twice, whatever is appended, torn, cut and opened again', async () => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 25 }), async actions => {
      const dir = join(root, String(runs++))
      const metrics = join(dir, 'metrics.jsonl')
      let run = RunFolder.create(dir, { config: {} })
      const save = (step: number) => run.writeCheckpoint({ step, configHash: 'h', rng: {} }, () => {})
      let step = 0
      let saved = { step: 0, metrics: '', notes: 0 }
      let notes: string[] = []
      await save(0)
      let position = FILE_START
      let watched: unknown[] = []
      for (const { kind, ...rest } of actions) {
        if (kind === 'step') run.appendMetrics({ step: ++step, reward: step / 3 })
        if (kind === 'note') {
          const { text } = rest as Extract<Action, { kind: 'note' }>
          run.appendEvent({ level: 'info', message: text, at: '' })
          notes.push(text)
        }
        if (kind === 'save') {
          await save(step)
          const text = existsSync(metrics) ? readFileSync(metrics, 'utf8') : ''
          saved = { step, metrics: text, notes: notes.length }
        }
        if (kind === 'watch') {
          const found = readRowsFrom(metrics, position)
          watched = found.restarted ? found.rows : [...watched, ...found.rows]
          position = found.position
          expect(watched).toEqual(readMetrics(dir))
        }
        if (kind === 'kill') {
          const { at, garbage } = rest as Extract<Action, { kind: 'kill' }>
          run.close()
          if (existsSync(metrics)) {
            const size = readFileSync(metrics).length
            const least = Buffer.byteLength(saved.metrics)
            truncateSync(metrics, Math.round(least + at * (size - least)))
            appendFileSync(metrics, garbage)
          }
          run = RunFolder.open(dir)
          const point = run.resume('h')
          expect(point).toMatchObject({ step: saved.step, warnings: [] })
          step = saved.step
          expect(existsSync(metrics) ? readFileSync(metrics, 'utf8') : '').toBe(saved.metrics)
          // Notes have no step: those that were whole on the disk stay, in their order, each once.
          const now = readEvents(dir).map(({ message }) => message)
          expect(now).toEqual(notes)
          expect(now.length).toBeGreaterThanOrEqual(saved.notes)
          notes = now
        }
      }
      run.close()
    }),
    { numRuns: 40 },
  )
})

it('a lock is held by one, and by none after it was given back or its holder is dead', () => {
  const step = fc.constantFrom('take', 'give', 'die')
  let runs = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      const dir = join(root, `lock ${runs++}`)
      let lock: RunLock | null = null
      for (const what of steps) {
        if (what === 'take' && lock === null) {
          lock = takeLock(dir)
          expect(() => takeLock(dir)).toThrow(/being written/)
        }
        if (what === 'give') {
          lock?.release()
          lock = null
        }
        // A holder that died leaves its file; it names a process that is not there.
        if (what === 'die' && lock === null) {
          takeLock(dir).release()
          const owner = { pid: 2 ** 22 + 7, host: hostname(), born: null, since: '' }
          writeFileSync(join(dir, 'lock'), JSON.stringify(owner))
        }
        expect(isLocked(dir)).toBe(lock !== null)
      }
      lock?.release()
    }),
    { numRuns: 60 },
  )
})
