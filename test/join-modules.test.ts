import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, it } from 'vitest'
import { joinModules } from '../scripts/join-modules.js'

const folder = mkdtempSync(join(tmpdir(), 'gradus-join-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The joined script of modules by name; the first is the entry. */
const joined = (modules: Record<string, string>): string => {
  for (const [name, code] of Object.entries(modules)) writeFileSync(join(folder, name), code)
  return joinModules(join(folder, Object.keys(modules)[0]))
}

it('puts every module once, after what it imports, in a scope of their own', () => {
  const script = joined({
    'main.js':
      "import { twice } from './twice.js';\nimport { one } from './one.js';\nresult.push(twice(one));\n",
    'twice.js': "import { one } from './one.js';\nexport const twice = x => (x + x) * one;\nexport {};\n",
    'one.js': 'export const one = 1;\n//# sourceMappingURL=one.js.map\n',
  })
  const result: number[] = []
  expect(runInNewContext(`${script}; typeof one`, { result })).toBe('undefined')
  expect(result).toEqual([2])
  expect(script.match(/const one/g)).toHaveLength(1)
})

it('refuses what it cannot join', () => {
  const one = "import { a } from './b.js';\n"
  const cases: Record<string, string>[] = [
    { 'a.js': "import { a as b } from './b.js';\n", 'b.js': 'export const a = 1;\n' },
    { 'a.js': "import fs from 'node:fs';\n" },
    { 'a.js': one, 'b.js': 'export default 1;\n' },
  ]
  expect(() => joined(cases[0])).toThrow(/renames/)
  expect(() => joined(cases[1])).toThrow(/cannot be joined: import fs/)
  expect(() => joined(cases[2])).toThrow(/cannot be joined: export default/)
  expect(() =>
    joined({ 'a.js': `${one}const c = 1;\n`, 'b.js': 'export const a = 1;\nconst c = 2;\n' }),
  ).toThrow(SyntaxError)
})
