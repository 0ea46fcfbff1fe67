/** @file A training service and an inference server of this process, and a policy between them. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeOptions, FakeServer } from '../../tinker/fake-server.fixture.ts'
import type { Engine } from '../local/engine.ts'
import { tinyEngine } from '../local/tiny-model.fixture.ts'
import { EngineServer, type EngineServerOptions } from '../served/engine-server.fixture.ts'
import { adapterOf, engineService, type ServiceOptions } from './engine-service.fixture.ts'
import { openTinker, type TinkerSettings, tinkerSchema } from './settings.ts'
import { SplitPolicy } from './split-policy.ts'

const LORA = { rank: 4, seed: 3 }

/** The tiny model with the adapter of a folder. */
export const loadAdapter = async (folder: string): Promise<Engine> => {
  const engine = tinyEngine(adapterOf({}, LORA))
  await engine.load(folder)
  return engine
}

export class SplitWorld {
  readonly #ends: (() => unknown)[] = []

  async servers(
    service: ServiceOptions = {},
    inference: Partial<EngineServerOptions> = {},
    options: FakeOptions = {},
  ) {
    const trainer = new FakeServer(engineService(service), options)
    const sampler = new EngineServer({ load: loadAdapter, ...inference })
    const folder = mkdtempSync(join(tmpdir(), 'gradus-adapters-'))
    this.#ends.push(
      () => rmSync(folder, { recursive: true, force: true }),
      () => trainer.close(),
      () => sampler.close(),
    )
    const settings = tinkerSchema.parse({
      ...{ kind: 'tinker', url: await trainer.listen(), model: 'tiny', lora: { rank: LORA.rank } },
      sampler: { url: await sampler.listen(), adapters: folder },
    })
    return { trainer, sampler, folder, settings }
  }

  async open(settings: TinkerSettings): Promise<SplitPolicy> {
    const policy = await openTinker(settings, { seed: LORA.seed })
    this.#ends.push(() => policy.close())
    if (policy instanceof SplitPolicy) return policy
    throw new Error('expected a policy with a sampler of its own')
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end()
  }
}
