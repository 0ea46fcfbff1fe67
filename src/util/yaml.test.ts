import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ConfigError } from './errors.ts'
import { parseYaml } from './yaml.ts'

it('reads YAML and JSON', () => {
  expect(parseYaml('a: 1\nb: [x, 2]\n', 'some.yaml')).toEqual({ a: 1, b: ['x', 2] })
  expect(parseYaml('{"a": null}', 'some.json')).toEqual({ a: null })
})

it('says in which line of which file the error is, and refuses texts that unfold without end', () => {
  const wrong = () => parseYaml('a: 1\nb: [1, 2\nc: 3\n', 'some.yaml')
  expect(wrong).toThrow(ConfigError)
  expect(wrong).toThrow(/^some\.yaml:3: .*; correct the YAML there$/)
  const list = (name: string, of: string) => `${name}: &${name} [${Array(10).fill(of).join(', ')}]`
  const names = 'abcdefgh'.split('')
  const bomb = names.map((name, i) => list(name, i === 0 ? '1' : `*${names[i - 1]}`)).join('\n')
  expect(() => parseYaml(bomb, 'bomb.yaml')).toThrow(/alias/i)
})

it('takes many aliases of little, and refuses those that stand for themselves or for nothing', () => {
  const many = `a: &a 1\nb: [${Array(5_000).fill('*a').join(', ')}]`
  expect((parseYaml(many, 'many.yaml') as { b: number[] }).b).toHaveLength(5_000)
  expect(() => parseYaml('&a [*a]', 'round.yaml')).toThrow(/^round\.yaml: .*for themselves/)
  expect(() => parseYaml('a: *b', 'none.yaml')).toThrow(ConfigError)
})

it('refuses nesting that would end the process, in every way of nesting', () => {
  const depth = 20_000
  const texts = ['[', '{a: ', '- ', '? ', '{? '].map(open => open.repeat(depth))
  const indented = Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')
  for (const text of [...texts, indented])
    expect(() => parseYaml(text, 'deep.yaml')).toThrow(
      /^deep\.yaml:\d+: expected lists and maps at most 200 deep/,
    )
})

it('takes what people nest', () => {
  const maps = Array.from({ length: 60 }, (_, i) => `${'  '.repeat(i)}a:`).join('\n')
  expect(JSON.stringify(parseYaml(maps, 'x')).match(/a/g)).toHaveLength(60)
  const flow = `${'['.repeat(150)}${']'.repeat(150)}`
  expect(JSON.stringify(parseYaml(flow, 'x'))).toBe(flow)
  const long = Array.from({ length: 500 }, (_, i) => `- a: [${i}]\n  b:\n    - c: {d: ${i}}`).join('\n')
  expect(parseYaml(long, 'x')).toHaveLength(500)
  expect(parseYaml(`a: |\n${'   '.repeat(200)}text [[[\n`, 'x')).toEqual({ a: 'text [[[\n' })
})

it('refuses keys that stand twice, tags that nobody knows, and keys that are no words', () => {
  expect(() => parseYaml('a: 1\nb: {c: 1, c: 2}', 'x')).toThrow('x:2: Map keys must be unique, got "c" again')
  expect(() => parseYaml('a: !!js/function x', 'x')).toThrow(/^x:1: Unresolved tag/)
  expect(() => parseYaml('? [1]\n: 2', 'x')).toThrow(/^x:1: expected a plain word as key/)
})

it('reads what JSON.stringify writes, and refuses other texts with an error of its own', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), value => {
      const text = JSON.stringify(value)
      expect(parseYaml(text, 'x')).toEqual(JSON.parse(text))
    }),
    { numRuns: 200 },
  )
  const noise = fc
    .array(fc.constantFrom(...'[]{}:,-?&*!|>%@`"\'#\n \ta1\\~<'.split('')))
    .map(marks => marks.join(''))
  fc.assert(
    fc.property(noise, text => {
      try {
        parseYaml(text, 'x')
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
      }
    }),
    { numRuns: 500 },
  )
})
