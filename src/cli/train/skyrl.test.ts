import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { checkForm, checkLearning, checkMethod, METHODS, startFolder } from './remote-checks.fixture.ts'

/** Of an environment with skyrl, jax and what test/skyrl/README.md lists. */
const PYTHON = process.env.GRADUS_SKYRL_PYTHON
/** Starting takes up to two minutes, and every new shape is compiled. */
const SLOW_MS = 1_200_000
const LAUNCHER = fileURLToPath(new URL('../../../test/skyrl/serve.py', import.meta.url))
/** Few shapes: each is compiled. */
const BACKEND = {
  ...{ max_lora_adapters: 8, max_lora_rank: 16, train_micro_batch_size: 1, sample_max_num_sequences: 8 },
}

const dir = mkdtempSync(join(tmpdir(), 'gradus-skyrl-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const servers: ChildProcess[] = []
afterEach(() => {
  // Its engine is a process of its own, in the same group.
  for (const { pid } of servers.splice(0)) process.kill(-pid!, 'SIGKILL')
})

/** A server of a model; a port each, so that none waits for the one before. */
const start = async (model: string): Promise<string> => {
  const port = 18_700 + METHODS.findIndex(([, name]) => name === model)
  const state = join(dir, model)
  const url = `http://127.0.0.1:${port}`
  const server = spawn(
    PYTHON!,
    [
      ...[LAUNCHER, '--base-model', startFolder(model), '--backend', 'jax'],
      ...['--backend-config', JSON.stringify(BACKEND), '--checkpoints-base', join(state, 'checkpoints')],
      ...['--database-url', `sqlite:///${state}.db`, '--host', '127.0.0.1', '--port', String(port)],
    ],
    {
      env: { ...process.env, JAX_PLATFORMS: 'cpu', HF_HUB_OFFLINE: '1' },
      detached: true,
      stdio: 'ignore',
    },
  )
  servers.push(server)
  for (let attempt = 0; attempt < 300; attempt++) {
    const isUp = await fetch(`${url}/api/v1/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return url
    if (server.exitCode !== null) throw new Error(`SkyRL ended with ${server.exitCode}`)
    await new Promise(wake => setTimeout(wake, 1000))
  }
  throw new Error('SkyRL did not start within five minutes')
}

describe.skipIf(PYTHON === undefined)('gradus train on a SkyRL server', () => {
  it.each(METHODS)('trains the quick method of %s', { timeout: SLOW_MS }, async (...method) => {
    const [recipe, model] = method
    const url = await start(model)
    const rows = await checkMethod(method, { url, out: join(dir, 'there', recipe), steps: 3 })
    expect(rows).toHaveLength(3)
    await checkForm(method, rows, join(dir, 'here', recipe))
  })

  it('knows the log-probs of this process, and learns', { timeout: SLOW_MS }, async () => {
    await checkLearning(await start('packing-start'), 'packing-start')
  })
})
