import { readFileSync, writeFileSync } from 'node:fs'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../model/tiny-chat.fixture.ts'
import { COMMIT, type FakeHub, NEXT_COMMIT, startFakeHub } from '../util/fake-hub.fixture.ts'
import { cli, Sandbox, SLOW_MS } from './cli.fixture.ts'

const sandbox = new Sandbox()
const SOURCE = 'hf://datasets/lab/words/rows.parquet'

/** Rows as others have them: another name for the prompt, a picture that nobody needs. */
const parquetRows = (count: number, word = 'word') =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'question', data: Array.from({ length: count }, (_, i) => `say ${word} ${i}`) },
        {
          name: 'criteria',
          data: Array.from({ length: count }, () => [
            { id: 'a', text: 'has an a', points: 1, verifier: AN_A },
          ]),
          type: 'JSON',
        },
        {
          name: 'picture',
          data: Array.from({ length: count }, () => new Uint8Array([255])),
          type: 'BYTE_ARRAY',
        },
      ],
    }),
  )

const AN_A = { kind: 'rule', fn: 'contains', params: { any: ['a'] } }

let hub: FakeHub
let model: string
beforeAll(() => {
  model = writeTinyChat(sandbox.path('model'))
})
beforeEach(async () => {
  hub = await startFakeHub()
  hub.revisions.set('lab/words@main', COMMIT)
  hub.files.set(`lab/words@${COMMIT}/rows.parquet`, parquetRows(8))
  process.env.HF_ENDPOINT = hub.url
})
afterEach(async () => {
  delete process.env.HF_ENDPOINT
  await hub.close()
})
afterAll(() => sandbox.remove())

const settings = (file: string) =>
  sandbox.write('train.yaml', {
    recipe: 'ruscarl',
    model: { folder: model },
    task: { kind: 'conversations', file, holdOut: 2, columns: { prompt: 'question', picture: null } },
    steps: 2,
    policy: { threads: 1 },
    rollout: { prompts: 2, samples: 2, maxTokens: 8 },
    evaluation: { problems: 2 },
    scaffold: { decay: { kind: 'linear' } },
  })

describe('gradus train on a file of the hub', () => {
  const out = sandbox.path('run')
  const data = () => JSON.parse(readFileSync(sandbox.path('run', 'config.json'), 'utf8')).data

  it(
    'notes the commit, and a resume reads it although the branch has moved',
    async () => {
      const file = settings(SOURCE)
      const first = await cli(['train', file, '--out', out])
      expect(first.err).toContain(`${SOURCE}: read at commit ${COMMIT}`)
      expect(first.code, first.err).toBe(0)
      expect(data()).toEqual([{ source: SOURCE, commit: COMMIT }])
      hub.revisions.set('lab/words@main', NEXT_COMMIT)
      hub.files.set(`lab/words@${NEXT_COMMIT}/rows.parquet`, parquetRows(4, 'other'))
      const more = await cli(['train', file, '--out', out, '--resume', '--set', 'steps=3'])
      expect(more.err).toContain(`${SOURCE}: read at commit ${COMMIT}`)
      expect(more.code, more.err).toBe(0)
      const rows = readFileSync(sandbox.path('run', 'rollouts.jsonl'), 'utf8')
      expect(rows).toContain('say word')
      expect(rows).not.toContain('say other')
    },
    SLOW_MS,
  )

  it('is refused by the plan as by the run', async () => {
    const missing = 'hf://datasets/lab/words/rows.parq'
    for (const more of [['--dry-run'], ['--out', sandbox.path('none')]]) {
      const { code, err } = await cli(['train', settings(missing), ...more])
      expect(code).toBe(1)
      expect(err).toContain(`${missing}: cannot be read: the hub knows no such file (HTTP 404)`)
    }
    const address = await cli(['train', settings('https://example.org/rows.jsonl'), '--dry-run'])
    expect(address.err).toContain('expected a file or folder of this machine, got an address')
  })

  it('is counted by the plan; a Parquet file may come later', async () => {
    const there = await cli(['train', settings(SOURCE), '--dry-run'])
    expect(there.code, there.err).toBe(0)
    expect(there.out).toMatch(/6 (?:rows|conversations) to train on|6 and 2|\b6\b/)
    const later = await cli(['train', settings(sandbox.path('later.parquet')), '--dry-run'])
    expect(later.code, later.err).toBe(0)
  })
})

describe('commands that read rows', () => {
  const rubric = sandbox.write('rubric.yaml', {
    criteria: [{ id: 'a', text: 'has an a', points: 1, verifier: AN_A }],
  })
  const write = (name: string, columns: Record<string, string[]>): string => {
    const columnData = Object.entries(columns).map(([own, data]) => ({ name: own, data }))
    writeFileSync(sandbox.path(name), new Uint8Array(parquetWriteBuffer({ columnData })))
    return sandbox.path(name)
  }

  it('grade: Parquet with other names; rows that lack what is needed say which they are', async () => {
    const file = write('answers.parquet', { answer: ['a cat', 'two'] })
    const grade = (...more: string[]) =>
      cli(['grade', '--rubric', rubric, '--responses', file, '--json', ...more])
    const { code, out, err } = await grade('--columns', 'response=answer')
    expect(code, err).toBe(0)
    expect(
      out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
        .map(({ id, score }) => [id, score]),
    ).toEqual([
      [1, 1],
      [2, 0],
    ])
    const wrong = await grade()
    expect(wrong.code).toBe(1)
    expect(wrong.err).toContain(`${file}:1: response: expected a string, got nothing`)
    const usage = await grade('--columns', 'answer')
    expect(usage.code).toBe(2)
    expect(usage.err).toContain('expected NAME=COLUMN, got "answer"')
  })

  it('score, verify, rubric lint and search read Parquet as JSON Lines', async () => {
    const sums = write('sums.parquet', { pred: ['1/2'], gold: ['0.5'] })
    const verified = await cli(['verify', 'math', sums])
    expect(verified.code, verified.err).toBe(0)
    expect(JSON.parse(verified.out)).toMatchObject({ equal: true })
    const texts = write('texts.parquet', { text: ['the cat sat', 'a dog ran'] })
    const built = await cli(['search', 'build', texts, '--out', sandbox.path('index')])
    expect(built.code, built.err).toBe(0)
    expect(built.out).toContain('2 documents')
    const lint = await cli(['rubric', 'lint', write('rubrics.parquet', { title: ['x'] })])
    expect(lint.err).toContain('rubrics.parquet:1: expected a rubric in a known format')
  })
})
