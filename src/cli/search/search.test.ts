import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
const index = sandbox.path('wings.index')
let rows = ''
beforeAll(() => {
  rows = sandbox.write(
    'rows.jsonl',
    '{"key": "w", "name": "Wings", "body": "A wing\\nlifts the aircraft."}\n{"key": "h", "body": "Heat flows."}\n',
  )
})
afterAll(() => sandbox.remove())

const keys = ['--id-key', 'key', '--title-key', 'name', '--text-key', 'body']

describe('gradus search', () => {
  it('builds an index and asks it', async () => {
    const built = await cli(['search', 'build', rows, '--out', index, ...keys])
    expect([built.code, built.err]).toEqual([0, ''])
    expect(built.out).toMatch(/wings\.index: 2 documents, 2 passages, 5 different words, .* MB, .* s\n$/)
    const found = await cli(['search', 'query', index, 'wings'])
    expect([found.code, found.err]).toEqual([0, ''])
    expect(found.out).toMatch(/^1\. \[w\] Wings \(\d\.\d\d\)\n {3}A wing lifts the aircraft\.\n$/)
    const spread = await cli(['search', 'query', index, 'heat', 'wings', '--json'])
    expect(JSON.parse(spread.out).query).toBe('heat wings')
    const { code, out } = await cli(['search', 'query', index, 'heat', '--json', '--top', '1'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      query: 'heat',
      hits: [
        { id: 'h', document: 'h', text: 'Heat flows.', snippet: 'Heat flows.', score: expect.any(Number) },
      ],
    })
  })

  it('says on stderr what is left out, and when nothing is found', async () => {
    sandbox.write('mixed/a.txt', 'A zebra.')
    sandbox.write('mixed/b.png', 'x')
    const built = await cli([
      'search',
      'build',
      sandbox.path('mixed'),
      '--out',
      sandbox.path('z.index'),
      '--json',
    ])
    expect(built.code).toBe(0)
    expect(built.err).toMatch(/^gradus: .*b\.png: left out: neither JSON Lines/)
    expect(JSON.parse(built.out)).toMatchObject({ documents: 1, passages: 1 })
    const none = await cli(['search', 'query', sandbox.path('z.index'), 'aircraft'])
    expect(none).toEqual({ code: 0, out: '', err: 'gradus: no passage has any of these words\n' })
  })

  it('keeps the index that was there when it is interrupted, and leaves nothing behind', async () => {
    const many = sandbox.write(
      'many.jsonl',
      Array.from({ length: 100_000 }, (_, i) => `{"text": "w${i}"}`).join('\n'),
    )
    const before = readFileSync(index)
    const names = readdirSync(sandbox.dir)
    const { code, err } = await cli(['search', 'build', sandbox.path('mixed'), many, '--out', index], {
      onProgress: (_, interrupt) => interrupt(),
    })
    expect([code, err]).toEqual([130, expect.stringMatching(/interrupted; no index was written\n$/)])
    expect(readFileSync(index).equals(before)).toBe(true)
    expect(readdirSync(sandbox.dir)).toEqual(names)
  })

  it.each([
    [['build', '--out', 'x.index'], 2, /missing required argument/],
    [['build', 'none.jsonl', '--out', 'x.index'], 1, /none\.jsonl: cannot be read: there is no such file/],
    [['build', 'none.jsonl', '--out', 'x.index', '--max-chars', '3'], 2, /--max-chars: /],
    [['build', 'none.jsonl', '--out', 'x.index', '--b', '2'], 2, /--b: /],
    [['query', 'none.index', 'x'], 1, /none\.index: cannot be read/],
    [['query', 'none.index', ' '], 2, /words: expected something to look for/],
    [['query', 'none.index', 'x', '--top', '5000'], 2, /--top: expected at most 1000/],
  ])('%j ends with %i', async (args, code, words) => {
    const result = await cli(['search', ...args])
    expect(result.code).toBe(code)
    expect(result.err).toMatch(words)
    expect(result.out).toBe('')
  })
})
