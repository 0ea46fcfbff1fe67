import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Rng } from '../util/rng.ts'
import { readMetrics } from './readers.ts'
import { RunFolder } from './run-folder.ts'

const KILLS = Number(process.env.GRADUS_KILLS ?? 6)
const dist = new URL('../../dist/', import.meta.url)

/** Saves as a training does: the policy replaces a folder as a whole, within the checkpoint in the making. */
const PRELUDE = `
  const { RunFolder } = await import('${dist}runs/run-folder.js')
  const { replaceFolder } = await import('${dist}model/folder.js')
  const { writeFileAtomic } = await import('${dist}util/atomic.js')
  const { join } = await import('node:path')
  const bytes = new Uint8Array(300_000)
  const model = dir => replaceFolder(dir, folder => {
    for (const name of ['model.safetensors', 'optimizer.safetensors', 'config.json']) writeFileAtomic(join(folder, name), bytes)
  })
  const [where] = process.argv.slice(1)
`
const IN_A_RUN = `${PRELUDE}
  const run = RunFolder.open(where)
  let step = run.resume('h').step
  setInterval(() => {}, 1000)
  const last = step + 1
  for (;;) {
    run.appendMetrics({ step: ++step, reward: step })
    const save = async dir => {
      model(dir)
      if (step === last || process.argv[2] !== 'within') return
      console.log('ready')
      await new Promise(() => {})
    }
    await run.writeCheckpoint({ step, configHash: 'h', rng: {} }, save, { keepLast: 2 })
    if (step === last && process.argv[2] !== 'within') console.log('ready')
  }`
const OUTSIDE = `${PRELUDE}
  console.log('ready')
  do {
    model(join(where, 'model'))
    writeFileAtomic(join(where, 'notes.json'), bytes)
  } while (process.argv[2] !== 'once')`

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-kills-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Starts the script and kills it some time after it says that it is ready. */
const killed = async (script: string, where: string, afterMs: number, ...more: string[]) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, where, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  await new Promise(resolve => child.stdout.once('data', resolve))
  await wait(afterMs)
  child.kill('SIGKILL')
  await gone
  expect(child.signalCode).toBe('SIGKILL')
}

describe('a process killed while it saves', { timeout: 600_000 }, () => {
  it('in a run leaves nothing beside checkpoints after the next start, and loses no checkpoint that it finished', async () => {
    const where = join(dir, 'run')
    const run = RunFolder.create(where, { config: {} })
    run.appendMetrics({ step: 1, reward: 1 })
    await run.writeCheckpoint({ step: 1, configHash: 'h', rng: {} }, () => {})
    run.close()
    const rng = new Rng('kills of saves')
    let [leftovers, last] = [0, 1]
    for (let i = 0; i < KILLS; i++) {
      // Every other one surely in the middle of its second save, the rest at any moment after the first.
      await killed(IN_A_RUN, where, rng.next() * 120, ...(i % 2 === 0 ? ['within'] : []))
      leftovers += readdirSync(join(where, 'checkpoints')).filter(name => name.endsWith('.tmp')).length
      const again = RunFolder.open(where)
      const { step, warnings } = again.resume('h')
      again.close()
      expect(readdirSync(where).sort()).toEqual(['checkpoints', 'config.json', 'metrics.jsonl'])
      expect(
        readdirSync(join(where, 'checkpoints')).filter(name => !/^(latest|step-\d+)$/.test(name)),
      ).toEqual([])
      expect(readMetrics(where).map(row => row.step)).toEqual(Array.from({ length: step }, (_, k) => k + 1))
      expect(warnings).toEqual([])
      expect(step).toBeGreaterThan(last)
      last = step
    }
    expect(leftovers).toBeGreaterThanOrEqual(KILLS / 2)
  })

  it('outside of one leaves nothing after the next save', async () => {
    const rng = new Rng('kills of saves outside')
    for (let i = 0; i < KILLS; i++) {
      await killed(OUTSIDE, dir, rng.next() * 60)
      const args = ['--input-type=module', '-e', OUTSIDE, dir, 'once']
      expect(spawnSync(process.execPath, args).status).toBe(0)
      expect(readdirSync(dir).sort()).toEqual(['model', 'notes.json'])
      expect(readdirSync(join(dir, 'model')).sort()).toEqual([
        'config.json',
        'model.safetensors',
        'optimizer.safetensors',
      ])
    }
  })
})
