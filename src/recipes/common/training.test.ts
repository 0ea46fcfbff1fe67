import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readMetrics } from '../../runs/readers.ts'
import { RunFolder } from '../../runs/run-folder.ts'
import { FakePolicy } from '../../train/fake-policy.fixture.ts'
import { ConfigError } from '../../util/errors.ts'
import { ruscarlSchema } from '../ruscarl/config.ts'
import { reinforce } from './training.ts'

it('a loss that the policy refuses ends the run before anything is sampled or written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-refused-'))
  const run = RunFolder.create(join(folder, 'run'), { config: {} })
  const policy = new FakePolicy()
  policy.refuses = () => '.value: expected null with this policy; take the term out'
  const config = ruscarlSchema.parse({})
  const noRecipe = () => {
    throw new Error('not to be made')
  }
  const session = { run, from: null, fork: null, configHash: 'hash' }
  const training = reinforce(session, policy, config, noRecipe)
  await expect(training).rejects.toThrow(ConfigError)
  await expect(training).rejects.toThrow('loss.value: expected null with this policy; take the term out')
  expect(policy.calls).toEqual([])
  expect(readMetrics(run.dir)).toEqual([])
  run.close()
  rmSync(folder, { recursive: true, force: true })
})
