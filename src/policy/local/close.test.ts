import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { workerUrl } from '../../util/worker-url.ts'
import { RunGate } from './run-gate.ts'
import { ENGINE } from './tiny-model.fixture.ts'

const MODEL = fileURLToPath(new URL('../../../models/packing-start', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'gradus-close-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A process that samples, and after `ms` milliseconds does what `end` says. */
const endWhileSampling = (times: number, end: string) => {
  const code = `
    import { LocalPolicy } from ${JSON.stringify(workerUrl(import.meta.url, './local-policy.js').href)}
    const prompts = Array.from({ length: 16 }, () => new Int32Array([1, 2, 3, 4]))
    for (let time = 0; time < ${times}; time++) {
      const policy = await LocalPolicy.start({ folder: ${JSON.stringify(MODEL)} }, ${JSON.stringify(ENGINE)})
      const sampled = policy.sample({ prompts, samplesPerPrompt: 4, maxTokens: 60, temperature: 1, seed: 'a' })
      const outcome = sampled.then(() => 'sampled', error => error.message)
      await new Promise(resolve => setTimeout(resolve, 60 + 25 * time))
      ${end}
    }`
  const file = join(folder, 'run.mjs')
  writeFileSync(file, code)
  const { status, signal, stderr, stdout } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
  return { status, signal, stderr, said: stdout.trim().split('\n') }
}

describe('an engine that is in the middle of a computation', () => {
  it('can be closed', () => {
    const { said, ...ended } = endWhileSampling(12, 'await policy.close(); console.log(await outcome)')
    expect(ended).toEqual({ status: 0, signal: null, stderr: '' })
    expect(said).toHaveLength(12)
    for (const outcome of said) expect(['the policy is closed', 'sampled']).toContain(outcome)
  }, 120_000)

  it('does not take down a process that exits', () => {
    for (let time = 0; time < 6; time++) {
      const { status, signal, stderr } = endWhileSampling(
        1,
        `await new Promise(r => setTimeout(r, ${40 * time})); process.exit(3)`,
      )
      expect({ status, signal, stderr }).toEqual({ status: 3, signal: null, stderr: '' })
    }
  }, 120_000)
})

describe('a gate', () => {
  it('waits for who is inside, and lets nobody in any more', async () => {
    const gate = new RunGate()
    const other = new RunGate(gate.shared)
    other.enter()
    let shut = false
    const shutting = gate.shut().then(() => {
      shut = true
    })
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(shut).toBe(false)
    other.leave()
    await shutting
    expect(() => other.enter()).toThrow('the policy is closed')
    gate.shutNow()
  })
})
