import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeReference } from '../../policy/tinker/checkpoint.ts'
import { resolveShipped } from '../../util/package.ts'
import { RECIPES } from '../index.ts'
import { decidingHash } from './deciding.ts'
import { refusals } from './refusals.fixture.ts'
import { existingModel } from './starting-model.ts'

const dir = mkdtempSync(join(tmpdir(), 'gradus-remote-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const model = (name: string) => resolveShipped(`package:models/${name}`)
/** Nobody is there: what is refused must be refused before anyone is asked. */
const policy = (name: string, more: object = {}) => ({
  ...{ kind: 'tinker', url: 'http://127.0.0.1:9', model: model(name), ...more },
})

/** A configuration of each recipe that a server could train. */
const ABLE: Record<string, Record<string, unknown>> = {
  ruscarl: { policy: policy('packing-start') },
  'rubric-as-reward': { policy: policy('logic-start'), coldStart: null },
  rlcer: { policy: policy('arithmetic-start'), critic: null },
  rit: { policy: policy('packing-thinking-start') },
  rubricem: { policy: policy('records-start'), reflection: { temperature: 1 } },
}

const COLD = { coldStart: {} }
const UNABLE: [recipe: string, more: Record<string, unknown>, message: RegExp][] = [
  ['ruscarl', COLD, /^ConfigError: coldStart: expected null with policy\.kind tinker.*checklist-cold-start/],
  ['rubric-as-reward', COLD, /^ConfigError: coldStart: expected null.*logic-cold-start/],
  ['rlcer', COLD, /^ConfigError: coldStart: expected null.*arithmetic-cold-start/],
  ['rit', COLD, /^ConfigError: coldStart: expected null.*checklist-cold-start/],
  ['rubricem', COLD, /^ConfigError: coldStart: expected null.*records-cold-start/],
  ['ruscarl', { model: { lora: { rank: 4 } } }, /model\.lora: expected null.*policy\.lora\.rank/],
  ['rit', { rollout: { temperature: 0.7 } }, /rollout\.temperature: expected 1 with.*got 0\.7/],
  ['ruscarl', { sft: {} }, /sft: expected null/],
  ['ruscarl', { exploration: { entropyBonus: {} } }, /exploration\.entropyBonus: expected null/],
  [
    'ruscarl',
    { loss: { preset: 'gradus:ruscarl', entropyCoef: 0.01 } },
    /loss\.entropyCoef: expected 0 with policy\.kind tinker/,
  ],
  [
    'rlcer',
    { critic: { own: { lora: null } } },
    /critic\.own: expected nothing in it with policy\.kind tinker.*set it to \{\}/,
  ],
  ['rlcer', { rubricator: { constrained: true } }, /rubricator\.constrained: expected false/],
  ['rubricem', { reflection: { temperature: 0.7 } }, /reflection\.temperature: expected 1.*got 0\.7/],
  ['rubric-as-reward', { softCriteria: 'learned' }, /softCriteria: expected another than "learned"/],
  ['ruscarl', { policy: policy('packing-start', { model: 'Qwen/Qwen3-8B' }) }, /policy\.tokenizer: expected/],
  [
    'ruscarl',
    { policy: policy('packing-start', { tokenizer: model('logic-start') }) },
    /expected a model of the packing task's/,
  ],
]

describe('a policy on a server', () => {
  it.each(Object.keys(ABLE))('is planned for %s without asking anyone, and needs no memory here', name => {
    const { schema, plan } = RECIPES[name]
    const { lines, json } = plan(schema.parse(ABLE[name]))
    expect(lines[0]).toMatch(/^model {8}.*models.*, on the server http:\/\/127\.0\.0\.1:9$/)
    expect(lines.join('\n')).not.toContain('memory       about')
    expect(json.memoryBytes).toBeNull()
  })

  it.each(UNABLE)(
    'refuses in plan and run of %s what a server cannot do: %j',
    async (name, more, message) => {
      const refused = await refusals(RECIPES[name], { ...ABLE[name], ...more }, dir)
      expect(refused.plan).toMatch(message)
      expect(refused.run).toBe(refused.plan)
    },
  )

  it('refuses a run without its key, by the name of the variable; a plan needs none', async () => {
    const keyed = { policy: policy('packing-start', { apiKeyEnv: 'GRADUS_NO_SUCH_KEY' }) }
    const { plan, run } = await refusals(RECIPES.ruscarl, keyed, dir)
    expect(plan).toBeNull()
    expect(run).toMatch(/policy\.apiKeyEnv: the environment variable GRADUS_NO_SUCH_KEY is not set/)
  })

  it('says before all else that a critic has to be offered, and what is without one', () => {
    const { schema, plan } = RECIPES.rlcer
    const { lines } = plan(schema.parse({ ...ABLE.rlcer, critic: {} }))
    expect(lines[0]).toMatch(
      /^critic {7}needs a server that offers one \(ppo_critic.*critic: null needs none: a reward is then compared with those of its group/,
    )
  })

  it('says how to get the words of a model that only the server has, and takes a folder that lacks the weights', () => {
    const { schema, plan } = RECIPES.ruscarl
    const words = join(dir, 'words')
    cpSync(model('packing-start'), words, { recursive: true, filter: path => !path.endsWith('.safetensors') })
    const named = { model: 'packing', tokenizer: words }
    const { lines } = plan(schema.parse({ policy: policy('', named) }))
    expect(lines[0]).toBe('model        packing, on the server http://127.0.0.1:9')
    rmSync(join(words, 'tokenizer.json'))
    expect(() => plan(schema.parse({ policy: policy('', named) }))).toThrow(/which lacks tokenizer\.json/)
    expect(() => plan(schema.parse({ policy: policy('', { model: 'packing' }) }))).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('OWNER/NAME') }),
    )
  })

  it('says where the weights of its checkpoint are to who would load them here', () => {
    const folder = join(dir, 'step-000003')
    const [state, sampler] = ['tinker://m/weights/s3', 'tinker://m/sampler_weights/s3']
    writeReference(folder, { url: 'http://a:1', model: 'm', rank: 4, steps: 3, state, sampler })
    const command = 'curl -L http://a:1/api/v1/training_runs/m/checkpoints/sampler_weights/s3/archive | tar x'
    expect(() => existingModel(folder, 'model.folder')).toThrow(
      `model.folder: the weights of ${folder} are on the server http://a:1, as ${sampler}; fetch the adapter, where the server hands it out, and name its folder: \`${command}\``,
    )
  })

  it('takes the adapter of a checkpoint where it was brought here', () => {
    const folder = join(dir, 'step-000004')
    const [state, sampler] = ['tinker://m/weights/s4', 'tinker://m/sampler_weights/s4']
    writeReference(folder, { url: 'http://a:1', model: 'm', rank: 4, steps: 4, state, sampler })
    mkdirSync(join(folder, 'adapter'))
    writeFileSync(join(folder, 'adapter', 'adapter_config.json'), '{}')
    expect(existingModel(folder, 'model.folder')).toBe(join(folder, 'adapter'))
  })

  it('decides what a run computes by its model and adapter, not by address, key or prices', () => {
    const hash = (more: object, name = 'packing-start') =>
      decidingHash(RECIPES.ruscarl.schema.parse({ policy: policy(name, more) }) as object)
    const moved = {
      url: 'http://elsewhere:1',
      apiKeyEnv: 'K',
      concurrency: 2,
      prices: {},
      patienceMinutes: 1,
    }
    expect(hash(moved)).toBe(hash({}))
    const sampler = { url: 'http://a:1/v1', adapters: 'a' }
    expect(hash({ sampler })).not.toBe(hash({}))
    expect(hash({ sampler: { url: 'http://b:1/v1', adapters: 'b', seenAs: '/c' } })).toBe(hash({ sampler }))
    expect(hash({ sampler: { ...sampler, correction: null } })).not.toBe(hash({ sampler }))
    expect(hash({ lora: { rank: 4 } })).not.toBe(hash({}))
    expect(hash({}, 'logic-start')).not.toBe(hash({}))
    expect(hash({})).not.toBe(decidingHash(RECIPES.ruscarl.schema.parse({}) as object))
  })
})
