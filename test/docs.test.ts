import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import {
  CommandHost,
  type Fence,
  markProblem,
  missingTools,
  PageRunner,
  readFences,
} from './howto.fixture.ts'

const docs = fileURLToPath(new URL('../docs', import.meta.url))
const pages = ['howto', 'integrations'].flatMap(folder =>
  readdirSync(join(docs, folder))
    .filter(name => name.endsWith('.md'))
    .map(name => `${folder}/${name}`),
)

/** Starting a process takes its time on a busy machine. */
const TIMEOUT_MS = 120_000

/** One value, or one a line. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    const lines = text.split('\n').filter(line => line.trim() !== '')
    return lines.map(line => JSON.parse(line))
  }
}

/** `json`: the output has at least these keys and values. Otherwise: these lines, in this order; `...` skips. */
const expectOutput = ({ language, text }: Fence, output: string): void => {
  if (language.startsWith('json')) {
    const expected = parseJson(text)
    expect(parseJson(output)).toEqual(subset(expected))
    return
  }
  let from = 0
  for (const line of text.split('\n').map(each => each.trim())) {
    if (line === '' || line === '...') continue
    const at = output.indexOf(line, from)
    expect(at, `${JSON.stringify(line)} in\n${output}`).toBeGreaterThanOrEqual(0)
    from = at + line.length
  }
}

/** Objects may have more keys than the page shows, lists have the same length, numbers agree to six digits. */
const subset = (value: unknown): unknown => {
  if (typeof value === 'number' && !Number.isInteger(value)) return expect.closeTo(value, 6)
  if (Array.isArray(value)) return value.map(subset)
  if (value === null || typeof value !== 'object') return value
  return expect.objectContaining(
    Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, subset(inner)])),
  )
}

const host = await CommandHost.start()
afterAll(() => host.close())

for (const page of pages) {
  describe(`docs/${page}`, { timeout: TIMEOUT_MS }, () => {
    const fences = readFences(readFileSync(join(docs, page), 'utf8'))
    const runner = new PageRunner(host)
    let skipped = ''
    afterAll(() => runner.close(), TIMEOUT_MS)

    it('says of every example what is to be done with it', () => {
      const problems = fences.flatMap(fence => {
        const problem = markProblem(fence)
        return problem === null ? [] : [`line ${fence.line}: ${problem}`]
      })
      expect(problems).toEqual([])
    })

    for (const fence of fences) {
      const { language, marks, line } = fence
      if (Object.keys(marks).length === 0 || 'norun' in marks) continue
      it(`line ${line}: ${language} ${Object.keys(marks).join(' ')}`, async context => {
        if ('expect' in marks) {
          if (skipped !== '') context.skip(skipped)
          expectOutput(fence, runner.output)
          return
        }
        const missing = missingTools(fence)
        skipped = missing.length > 0 ? `needs ${missing.join(', ')}` : ''
        if (skipped !== '') context.skip(skipped)
        await runner.step(fence)
      })
    }
  })
}

describe('examples of how-to pages', () => {
  const page = ['Text', '```sh run exit=3', 'echo a', 'exit 3', '```', '```text expect', 'a', '```'].join(
    '\n',
  )

  it('are read with their marks', () => {
    expect(readFences(page)).toEqual([
      { line: 2, language: 'sh', marks: { run: '', exit: '3' }, text: 'echo a\nexit 3\n' },
      { line: 6, language: 'text', marks: { expect: '' }, text: 'a\n' },
    ])
    expect(() => readFences('```sh run\nls')).toThrow(/line 1.*never closed/)
  })

  it('must say what is to be done with them', () => {
    const [unmarked, misspelt, prose] = readFences('```sh\n```\n```sh rum\n```\n```text\n```')
    expect(markProblem(unmarked)).toMatch(/expected a mark/)
    expect(markProblem(misspelt)).toMatch(/unknown mark rum/)
    expect(markProblem(prose)).toBeNull()
  })

  it('are run in a folder of their own, and a wrong exit code or output is found', async () => {
    const runner = new PageRunner(host)
    try {
      const [run, shows] = readFences(page)
      await runner.step({ ...run, marks: { file: 'sub/a.txt' } })
      await runner.step(run)
      expectOutput(shows, runner.output)
      expect(() => expectOutput({ ...shows, text: 'b\n' }, runner.output)).toThrow()
      await expect(runner.step({ ...run, marks: { run: '' } })).rejects.toThrow(/exit code 3, expected 0/)
      await runner.step({ ...run, marks: { run: '' }, text: 'cat sub/a.txt' })
      expect(runner.output).toBe('echo a\nexit 3\n')
    } finally {
      await runner.close()
    }
    expect(existsSync(runner.folder)).toBe(false)
  })

  it('show at least what matters of the output', () => {
    const shows = (text: string): Fence => ({ line: 1, language: 'json', marks: {}, text })
    expectOutput(shows('{"a": [{"b": 0.3333333}]}'), '{"a":[{"b":0.33333333333,"c":1}],"d":2}')
    expect(() => expectOutput(shows('{"a": 0.34}'), '{"a":0.33}')).toThrow()
    expectOutput(shows('{"a": 1}\n{"a": 2}'), '{"a":1,"z":0}\n{"a":2}\n')
    expect(() => expectOutput(shows('{"a": 1}\n{"a": 2}'), '{"a":1}\n{"a":2}\n{"a":3}\n')).toThrow()
  })
})
