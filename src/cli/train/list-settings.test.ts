import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { RECIPES } from '../../recipes/index.ts'
import { rewardConfigSchema } from '../../serve/reward/config.ts'
import { jsonSchemaOf, schemaKeys } from '../../util/schema-keys.ts'
import { parseYaml } from '../../util/yaml.ts'
import { cli } from '../cli.fixture.ts'

const root = new URL('../../../', import.meta.url)
const example = (path: string) => {
  const file = fileURLToPath(new URL(`examples/${path}`, root))
  return parseYaml(readFileSync(file, 'utf8'), file)
}
const entries = Object.values(RECIPES)

describe('keys of a schema', () => {
  const schema = z.strictObject({
    name: z.string().describe('What it is called.'),
    waitMs: z.number().positive().default(5).describe('How long.'),
    inner: z
      .strictObject({ peak: z.number().default(1), kind: z.enum(['a', 'b']) })
      .prefault({ kind: 'b', peak: 3 })
      .nullable(),
    tools: z.array(z.strictObject({ size: z.int().min(2).max(9) })).default([]),
    engine: z
      .discriminatedUnion('kind', [
        z.strictObject({
          kind: z.literal('near').default('near'),
          threads: z.int(),
          name: z.string().optional(),
        }),
        z.strictObject({ kind: z.literal('far'), url: z.string().optional(), name: z.string().optional() }),
        z.strictObject({ kind: z.literal('none').describe('Off.'), url: z.string().optional() }),
      ])
      .prefault({ threads: 2 }),
    size: z.int().default(1).meta({ only: 'engine.kind: near' }),
  })
  const keys = new Map(schemaKeys(schema).map(key => [key.path, key]))

  it('have their type, unit, default and explanation', () => {
    expect([...keys.keys()]).toEqual([
      'name',
      'waitMs',
      'inner',
      'inner.peak',
      'inner.kind',
      'tools',
      'tools[].size',
      'engine',
      'engine.kind',
      'engine.threads',
      'engine.name',
      'engine.url',
      'size',
    ])
    expect(keys.get('name')).toMatchObject({ type: 'text', required: true, about: 'What it is called.' })
    expect(keys.get('waitMs')).toMatchObject({ type: 'number, above 0', unit: 'ms', default: 5 })
    expect(keys.get('tools[].size')).toMatchObject({ type: 'integer, 2 to 9', required: true })
  })

  it('take what the section says over their own default, and the kind of a union', () => {
    expect(keys.get('inner.peak')).toMatchObject({ default: 3, required: false })
    expect(keys.get('inner.kind')).toMatchObject({ default: 'b', type: 'one of a, b' })
    expect(keys.get('engine.kind')).toMatchObject({
      default: 'near',
      type: 'one of near, far, none',
      about: '`none`: Off.',
    })
    expect(keys.get('engine.threads')).toMatchObject({ default: 2, only: 'engine.kind: near' })
    expect(keys.get('engine.name')).toMatchObject({ only: 'engine.kind: near or far' })
    expect(keys.get('engine.url')).toMatchObject({ only: 'engine.kind: far or none', required: false })
    expect(keys.get('size')).toMatchObject({ only: 'engine.kind: near', default: 1 })
  })
})

describe('settings of recipes', () => {
  it('tell a default that is the word "required" from a value that must be given', async () => {
    const { out } = await cli(['train', 'rit', '--settings', 'task.thinkTags'])
    expect(out).toContain('default required; with task.kind: questions')
  })

  it.each(entries.map(entry => [entry.name, entry] as const))('%s: every key says what it is', (_, entry) => {
    const silent = schemaKeys(entry.schema).filter(({ about }) => about === '')
    expect(silent.map(({ path }) => path)).toEqual([])
  })

  it('are printed, all or a section, with what a preset changes', async () => {
    const all = await cli(['train', 'ruscarl', '--settings'])
    expect(all.code).toBe(0)
    expect(all.out).toContain(
      'task.holdOut\n    integer, at least 0, or null; default null; with task.kind: conversations\n    Number of rows',
    )
    const { out } = await cli(['train', 'ruscarl', '--settings', 'rollout', '--preset', 'paper'])
    expect(out).toContain('rollout.maxTokens\n    integer, above 0; in tokens; default 26; here 4096\n')
    expect(out).not.toContain('judge.')
    const { code, err } = await cli(['train', 'ruscarl', '--settings', 'rolout'])
    expect(code).toBe(2)
    expect(err).toContain('did you mean rollout?')
  })
})

describe('JSON Schema', () => {
  const validate = (schema: Record<string, unknown>) => {
    const check = new Ajv({ strict: false, allErrors: true }).compile(schema)
    return (value: unknown) => (check(value) ? [] : (check.errors ?? []).map(({ message }) => message))
  }

  it('accepts the examples and finds a slip', async () => {
    const { out } = await cli(['train', 'grpo', '--json-schema'])
    const check = validate(JSON.parse(out))
    const train = example('train/train.yaml') as Record<string, unknown>
    expect(check(train)).toEqual([])
    expect(check({ ...train, stepz: 3 })).not.toEqual([])
    expect(check({ ...train, rollout: { samples: 0 } })).not.toEqual([])
    expect(validate(jsonSchemaOf(rewardConfigSchema, 'reward'))(example('reward/reward.yaml'))).toEqual([])
  })

  it.each(entries.map(entry => [entry.name, entry] as const))(
    '%s: accepts every preset',
    (name, { schema, presets }) => {
      const check = validate(jsonSchemaOf(schema, name))
      for (const [preset, { config }] of Object.entries(presets)) expect(check(config), preset).toEqual([])
    },
  )
})
