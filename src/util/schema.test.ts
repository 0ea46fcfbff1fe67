import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { DataError, GradusError, NumericError } from './errors.ts'
import { closest, describeValue, parseWith } from './schema.ts'

const schema = z.strictObject({
  name: z.string().min(1),
  steps: z.int().min(1).optional(),
  kind: z.enum(['a', 'b']).default('a'),
  arms: z.array(z.strictObject({ rate: z.number().gt(0) })).default([]),
  size: z.union([z.number(), z.string()]).default(1),
  even: z
    .number()
    .refine(n => n % 2 === 0, 'an even number; pairs are compared')
    .default(0),
})
const parse = (value: unknown) => parseWith(schema, value, 'run.yaml')
const message = (value: unknown): string => {
  try {
    parse(value)
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

describe('errors', () => {
  it('carry the hint in the message and their own name', () => {
    const error = new NumericError('loss is NaN', { hint: 'lower the learning rate' })
    expect(error.message).toBe('loss is NaN; lower the learning rate')
    expect(error.name).toBe('NumericError')
    expect(error.hint).toBe('lower the learning rate')
    expect(error).toBeInstanceOf(GradusError)
    expect(new GradusError('plain').message).toBe('plain')
  })
})

describe('parseWith', () => {
  it('returns the parsed value with defaults', () => {
    expect(parse({ name: 'x' })).toEqual({ name: 'x', kind: 'a', arms: [], size: 1, even: 0 })
  })

  it('says what was expected, what came and where', () => {
    expect(message({ name: 3 })).toBe('run.yaml: name: expected a string, got 3; correct this value')
    expect(message({})).toBe('run.yaml: name: expected a string, got nothing; correct this value')
    expect(message({ name: 'x', steps: 1.5 })).toContain('steps: expected an integer, got 1.5')
    expect(message({ name: 'x', steps: 0 })).toContain('steps: expected a number of at least 1, got 0')
    expect(message({ name: '' })).toContain('expected at least 1 character, got ""')
    expect(message({ name: 'x', arms: [{ rate: 1 }, { rate: 0 }] })).toContain(
      'arms[1].rate: expected a number of more than 0, got 0',
    )
    expect(message({ name: 'x', kind: 'c' })).toContain('kind: expected one of a, b, got "c"')
    expect(message({ name: 'x', size: true })).toContain('size: expected a number or a string, got true')
    expect(message({ name: 'x', even: 3 })).toBe(
      'run.yaml: even: expected an even number, got 3; pairs are compared',
    )
    expect(message([])).toContain('run.yaml: expected an object, got a list of 0')
  })

  it("takes the schema's own words where it has any", () => {
    const words = z.strictObject({
      why: z.string().min(20, 'a reason of at least 20 characters; say why'),
      list: z.array(z.string(), 'a list of names; see the manual'),
    })
    expect(() => parseWith(words, { why: 'short' }, 'a.yaml')).toThrow(
      'a.yaml: why: expected a reason of at least 20 characters, got "short"; say why\n' +
        'a.yaml: list: expected a list of names, got nothing; see the manual',
    )
  })

  it('takes the branch of a union that the value was meant for', () => {
    const source = z.union(
      [z.string(), z.strictObject({ file: z.string() }), z.strictObject({ rows: z.array(z.int()) })],
      {
        error: 'a file name, {file: ...} or {rows: [...]}',
      },
    )
    const shape = z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('circle'), radius: z.number() }),
      z.strictObject({ kind: z.literal('square'), side: z.number() }),
    ])
    const says = (value: object, expected: string) =>
      expect(() =>
        parseWith(z.strictObject({ source: source.optional(), shape: shape.optional() }), value, 'x'),
      ).toThrow(expected)
    says({ source: 3 }, 'x: source: expected a file name, {file: ...} or {rows: [...]}, got 3')
    says({ source: { rows: [1, 'a'] } }, 'x: source.rows[1]: expected a number, got "a"')
    says({ source: { file: 3 } }, 'x: source.file: expected a string, got 3')
    says({ shape: { kind: 'cirle' } }, 'x: shape.kind: expected one of circle, square, got "cirle"')
    says({ shape: { kind: 'circle', radus: 3, radius: 1 } }, 'did you mean radius?')
    // What another branch has is no key here, and is said to be that branch's.
    says(
      { shape: { kind: 'circle', side: 3, radius: 1 } },
      'x: shape.side: expected one of kind, radius, got an unknown key; it belongs to shape.kind: square',
    )
  })

  it('counts what it does not list', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`key${i}`, i]))
    const lines = message(many).split('\n')
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toMatch(/^run\.yaml: and \d+ more problems like these$/)
    expect(Number(/and (\d+) more/.exec(lines.at(-1)!)![1])).toBeGreaterThanOrEqual(80)
  })

  it('says which kinds have a key that the one at hand lacks, defaults and lists included', () => {
    const kinds = z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('none') }),
      z.strictObject({ kind: z.literal('bank'), file: z.string(), top: z.number() }),
      z.strictObject({ kind: z.literal('disk'), file: z.string() }),
    ])
    const both = z.strictObject({ memory: kinds.default({ kind: 'none' }), more: z.array(kinds).default([]) })
    const says = (value: object, expected: string) =>
      expect(() => parseWith(both, value, '')).toThrow(expected)
    says(
      { memory: { kind: 'none', top: 2 } },
      'memory.top: expected one of kind, got an unknown key; it belongs to memory.kind: bank',
    )
    says({ memory: { kind: 'none', file: '' } }, 'it belongs to memory.kind: bank, or memory.kind: disk')
    says({ more: [{ kind: 'disk', file: 'a', top: 2 }] }, 'it belongs to more[0].kind: bank')
    says(
      { memory: { kind: 'none', knd: 2 } },
      'memory.knd: expected one of kind, got an unknown key; did you mean kind?',
    )
  })

  it('says where a key belongs that stands a level too high or too low', () => {
    const task = z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('none') }),
      z.strictObject({ kind: z.literal('disk'), file: z.string().optional(), top: z.number().optional() }),
    ])
    const both = z.strictObject({ task, memory: z.strictObject({ top: z.number() }).optional() })
    const says = (value: object, expected: string) =>
      expect(() => parseWith(both, value, '')).toThrow(expected)
    says({ task: { kind: 'disk' }, file: 'a' }, 'unknown key; did you mean task.file?')
    says({ task: { kind: 'disk' }, top: 3 }, 'unknown key; did you mean task.top or memory.top?')
    says({ task: { kind: 'disk', files: { file: 'a', top: 1 } } }, 'unknown key; write task.file, task.top')
    says({ task: { kind: 'disk', fils: { fle: 'a' } } }, 'unknown key; did you mean file?')
  })

  it('knows the keys behind a change that comes first', () => {
    const changed = z.preprocess(value => value, z.strictObject({ steps: z.int() }))
    expect(() => parseWith(changed, { steps: 1, setps: 2 }, '')).toThrow('did you mean steps?')
  })

  it('says nothing of a place where there is none', () => {
    expect(() => parseWith(schema, [], '')).toThrow(/^expected an object, got a list of 0/)
  })

  it('suggests the key that was meant', () => {
    expect(message({ name: 'x', setps: 2 })).toBe(
      'run.yaml: setps: expected one of name, steps, kind, arms, size, even, got an unknown key; did you mean steps?',
    )
    expect(message({ name: 'x', arms: [{ rate: 1, zzzzzzzz: 1 }] })).toContain(
      'arms[0].zzzzzzzz: expected one of rate, got an unknown key; remove it',
    )
  })

  it('lists every problem and throws the kind asked for', () => {
    expect(message({ name: 3, steps: 'x' }).split('\n')).toHaveLength(2)
    expect(() => parseWith(schema, {}, 'file', DataError)).toThrow(DataError)
  })

  it('has small helpers', () => {
    const nested = z.object({ a: z.array(z.object({ b: z.number() })) })
    expect(() => parseWith(nested, { a: [{ b: 'x' }] }, 'file')).toThrow('a[0].b')
    expect(describeValue('x'.repeat(100))).toHaveLength(60)
    expect(describeValue({})).toBe('an object')
    expect(describeValue('https://me:word@host/')).toBe('an address with a password in it')
    expect(describeValue(`sk-0123456789abcdef`)).toBe('a text with a secret in it')
    expect(describeValue(`--token abc ${'x'.repeat(9999)}`)).toBe('a text with a secret in it')
    expect(describeValue('http://host/?q=a')).toBe('"http://host/?q=a"')
    expect(closest('epsilonn', ['epsilon', 'kl'])).toBe('epsilon')
    expect(closest('zzz', ['epsilon'])).toBeNull()
  })
})
