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
  const bomb = [list('a', '1'), list('b', '*a'), list('c', '*b'), list('d', '*c')].join('\n')
  expect(() => parseYaml(bomb, 'bomb.yaml')).toThrow(/alias/i)
})
