import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, Sandbox, SLOW_MS } from './cli.fixture.ts'
import { faults, filesOf } from './hostile.fixture.ts'
import { GOOD_RUBRIC, type Reader, readers } from './hostile-readers.fixture.ts'

const sandbox = new Sandbox()
const model = fileURLToPath(new URL('../../models/logic-start', import.meta.url))
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const isRoot = process.getuid?.() === 0
// Refused before anything is asked: no judge ever answers here.
const all: Reader[] = readers(sandbox, model, 'http://127.0.0.1:9/v1')
let rubric = ''
let graded = ''

beforeAll(() => {
  rubric = sandbox.write('rubric.json', JSON.stringify(GOOD_RUBRIC))
  graded = sandbox.write('graded.jsonl', '{"id": 1, "criteria": [{"points": 1}], "verdicts": [true]}\n')
  mkdirSync(sandbox.path('folder'))
  symlinkSync(sandbox.path('loop'), sandbox.path('loop'))
  writeFileSync(sandbox.path('secret.jsonl'), '{}\n')
  chmodSync(sandbox.path('secret.jsonl'), 0o000)
})
afterAll(() => sandbox.remove())

describe('paths that hold no file', { timeout: SLOW_MS }, () => {
  const kinds: [string, () => string, RegExp][] = [
    [
      'that is not there',
      () => sandbox.path('none.jsonl'),
      /none\.jsonl: cannot be read: there is no such file/,
    ],
    [
      'in a folder that is not there',
      () => sandbox.path('no', 'x.jsonl'),
      /no\/x\.jsonl: cannot be read: there is no/,
    ],
    ['that is empty', () => '', /expected|an empty path: cannot be read|no such file/],
    ['of a folder', () => sandbox.path('folder'), /folder\S*(: .*(folder|run)| holds no model)/],
    [
      'below a file',
      () => sandbox.path('rubric.json', 'x.jsonl'),
      /x\.jsonl: cannot be read: a part of its path is a file/,
    ],
    [
      'of links in a circle',
      () => sandbox.path('loop'),
      /loop: (cannot be read: )?its path goes round in circles/,
    ],
    ['that is too long', () => sandbox.path('x'.repeat(5_000)), /its name is longer than this system allows/],
    [
      'with a NUL',
      () => sandbox.path('a\0b.jsonl'),
      /cannot be read: its name has a character that no path may have/,
    ],
    ['of nothing', () => '/dev/null', /\/dev\/null.*(expected|holds no)/],
    [
      'of zeros without end',
      () => '/dev/zero',
      /\/dev\/zero(:1)?(: expected text in UTF-8, got a NUL byte|: expected a file or a folder, got something else| holds no model)/,
    ],
    [
      'with an escape',
      () => sandbox.path('\u001b[31mred\u0007.jsonl'),
      /\\u001b\[31mred\\u0007\.jsonl: cannot be read/,
    ],
    ...(isRoot
      ? []
      : [
          [
            'that may not be read',
            () => sandbox.path('secret.jsonl'),
            /secret\.jsonl: cannot be read: permission was refused/,
          ] as [string, () => string, RegExp],
        ]),
  ]

  it.each(kinds)('a path %s', async (_, path, words) => {
    const before = filesOf(sandbox.dir)
    const found: string[] = []
    for (const { name, args, json = false, mayComeLater } of all) {
      const result = await cli(args(path()))
      const wrong = faults(result, json)
      if (mayComeLater && result.code === 0) continue
      if (result.code !== 1 && result.code !== 2) wrong.push(`exit code ${result.code}`)
      if (path() !== '' && !words.test(result.err)) wrong.push('other words')
      if (wrong.length > 0) found.push(`${name}: ${wrong.join(', ')}; said ${result.err.slice(0, 300)}`)
    }
    expect(found).toEqual([])
    expect(filesOf(sandbox.dir)).toEqual(before)
  })

  it('reads a pipe, and standard input', () => {
    const pipe = spawnSync(
      'bash',
      ['-c', `"${process.execPath}" "${main}" score <(cat "${graded}") -r signed`],
      {
        encoding: 'utf8',
      },
    )
    expect([pipe.status, pipe.stderr]).toEqual([0, ''])
    const latin = spawnSync(
      process.execPath,
      [main, 'grade', '--rubric', rubric, '--responses', '-', '--json'],
      { input: Buffer.from('{"response": "caf\xe9"}\n', 'latin1'), encoding: 'utf8' },
    )
    expect(latin.status).toBe(1)
    expect(latin.stderr).toContain(
      'standard input:1: expected text in UTF-8, got the byte 0xE9 at offset 17 of the file',
    )
  })
})

describe('outputs', { timeout: SLOW_MS }, () => {
  const profile = (svg: string) => cli(['profile', graded, '--svg', svg])
  const perturb = (out: string) => cli(['rubric', 'perturb', rubric, '--variant', 'inverse', '--out', out])

  it.each([
    ['a folder', () => sandbox.path('folder'), /folder: cannot be written: it is a folder/],
    ['an empty path', () => '', /an empty path: cannot be written/],
    [
      'a path below a file',
      () => sandbox.path('rubric.json', 'x.svg'),
      /x\.svg: cannot be written: .*(file|there)/,
    ],
    [
      'links in a circle',
      () => sandbox.path('loop'),
      /loop: cannot be written: its path goes round in circles/,
    ],
    ['a name that is too long', () => sandbox.path('x'.repeat(300)), /cannot be written: its name is longer/],
    ['a full disk', () => '/dev/full', /\/dev\/full: cannot be written: the disk is full/],
  ])('refuses %s', async (_, path, words) => {
    const before = filesOf(sandbox.dir)
    for (const run of [profile, perturb]) {
      if (run === profile && path() === '') continue
      const result = await run(path())
      expect(result.code).toBe(1)
      expect(result.err).toMatch(words)
      expect(faults(result, false)).toEqual([])
    }
    expect(filesOf(sandbox.dir)).toEqual(before)
  })

  it('writes into a device and through a link, and replaces neither', async () => {
    expect((await profile('/dev/null')).code).toBe(0)
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true)
    writeFileSync(sandbox.path('target.svg'), 'old')
    symlinkSync(sandbox.path('target.svg'), sandbox.path('link.svg'))
    expect((await profile(sandbox.path('link.svg'))).code).toBe(0)
    expect(readlinkSync(sandbox.path('link.svg'))).toBe(sandbox.path('target.svg'))
    expect(readFileSync(sandbox.path('target.svg'), 'utf8')).toMatch(/^<svg/)
  })

  it.skipIf(process.platform === 'win32')('leaves the old file whole when the disk is full', () => {
    const target = sandbox.write('kept.json', 'old')
    const big = {
      criteria: Array.from({ length: 300 }, (_, i) => ({ id: `c${i}`, text: 'Says it', points: 1 })),
    }
    const source = sandbox.write('big.json', JSON.stringify(big))
    const command = `trap '' XFSZ; ulimit -f 8; exec "${process.execPath}" "${main}" rubric perturb "${source}" --variant inverse --out "${target}"`
    const failed = spawnSync('bash', ['-c', command], { encoding: 'utf8' })
    expect(failed.status).toBe(1)
    expect(failed.stderr).toMatch(
      /kept\.json: cannot be written: the file is larger than this system allows \(EFBIG\)/,
    )
    expect(readFileSync(target, 'utf8')).toBe('old')
  })

  it('says so when standard output is full, and ends quietly when nobody reads it any more', () => {
    const bash = (command: string) =>
      spawnSync('bash', ['-c', `gradus() { "${process.execPath}" "${main}" "$@"; }; ${command}`], {
        encoding: 'utf8',
      })
    const full = bash(`gradus score "${graded}" -r signed > /dev/full`)
    expect(full.status).toBe(1)
    expect(full.stderr).toMatch(/^gradus: standard output could not be written: the disk is full \(ENOSPC\)/)
    const many = sandbox.write(
      'many.jsonl',
      '{"criteria": [{"points": 1}], "verdicts": [true]}\n'.repeat(20_000),
    )
    const early = bash(`gradus score "${many}" -r signed | head -1; echo "\${PIPESTATUS[0]}"`)
    expect(early.stderr).toBe('')
    expect(early.stdout).toMatch(/^\{.*\}\n0\n$/)
    const both = bash(`gradus grade --responses x 2>&1 | true; echo "\${PIPESTATUS[0]}"`)
    expect(both.stdout).toBe('2\n')
  })

  it('refuses to write an example over files, as training does over a run', async () => {
    const folder = sandbox.path('example')
    expect((await cli(['init', 'reward', folder])).code).toBe(0)
    const again = await cli(['init', 'reward', folder])
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('there already')])
    const below = await cli(['init', 'reward', sandbox.path('rubric.json', 'x')])
    expect(below.code).toBe(1)
    expect(faults(below, false)).toEqual([])
    expect(existsSync(sandbox.path('rubric.json', 'x'))).toBe(false)
  })
})

describe('options', { timeout: SLOW_MS }, () => {
  const NUMBERS = [
    '',
    ' ',
    '-1',
    'NaN',
    'Infinity',
    '1e309',
    '-1e309',
    '٣',
    '１',
    '0x',
    '1,5',
    '1_000',
    'x'.repeat(10_000),
  ]
  const grade = ['grade', '--rubric', 'none.yaml', '--responses', 'none.jsonl']
  const sample = ['sample', '--model', 'none', '--prompt', 'x']
  const commands: [string[], string][] = [
    [grade, '--concurrency'],
    [grade, '--max-null-rate'],
    [grade, '--call-seconds'],
    [grade, '--price'],
    [grade, '--calls'],
    [grade, '--solver-timeout-ms'],
    [sample, '--max-tokens'],
    [sample, '--temperature'],
    [sample, '--top-p'],
    [sample, '--top-k'],
    [sample, '--prompt-tokens'],
    [sample, '--threads'],
    [['experiment', 'none.yaml'], '--budget'],
    [['experiment', 'none.yaml'], '--jobs'],
    [['profile', 'none.jsonl'], '--steps'],
    [['serve', 'chat', '--model', 'none'], '--port'],
    [['serve', 'reward', '--config', 'none'], '--port'],
    [['bench', 'engine'], '--threads'],
    [['eval', '--task', 'logic', '--model', 'none', '--data', 'none'], '--min-accuracy'],
  ]
  it.each(commands)('%j %s refuses what is no number', async (args, option) => {
    const found: string[] = []
    for (const value of NUMBERS) {
      const result = await cli([...args, `${option}=${value}`])
      if (value === '1,5' && option === '--price') continue
      if (result.code !== 2 || faults(result, false).length > 0)
        found.push(`${value.slice(0, 20)}: ${result.code} ${result.err.slice(0, 200)}`)
    }
    expect(found).toEqual([])
  })

  const SETTINGS = [
    '',
    '=',
    '=1',
    'steps',
    'steps=',
    'steps=[',
    'steps={',
    'steps=&a [*a]',
    'steps=*a',
    'steps=!!js/function x',
    `steps=${'['.repeat(100_000)}`,
    'steps=.nan',
    'steps=.inf',
    'steps=1e400',
    'steps=-1',
    'steps=0.5',
    'steps=٣',
    'steps=\u001b[2J',
    'steps=a: b: c',
    '__proto__.polluted=1',
    'constructor.prototype.polluted=1',
    'optimizer.__proto__.polluted=1',
    'optimizer={__proto__: {polluted: 1}}',
    'toString=1',
    'a.b.c.d.e=1',
    `${'a.'.repeat(10_000)}b=1`,
    'steps..x=1',
    '.steps=1',
    'optimizer=null',
    'seed=held-out:1',
    `seed=${'x'.repeat(100_000)}`,
  ]
  it('--set refuses what is no setting', async () => {
    const found: string[] = []
    for (const setting of SETTINGS) {
      const result = await cli(['train', 'logic-cold-start', '--dry-run', '--json', `--set=${setting}`])
      const wrong = faults(result, true)
      if (result.code === 0 && !/^(steps=\d|seed=x)/.test(setting)) wrong.push('was taken')
      if (wrong.length > 0)
        found.push(`${setting.slice(0, 40)}: ${wrong.join(', ')}; said ${result.err.slice(0, 300)}`)
    }
    expect(found).toEqual([])
  })
})

it('says which words of a prompt the vocabulary lacks', async () => {
  const args = ['sample', '--model', model, '--max-tokens', '1', '--json']
  const known = await cli([...args, '--prompt', 'Every wumpus is red. Stella is a wumpus.'])
  expect([known.code, known.err]).toEqual([0, ''])
  const unknown = await cli([...args, '--prompt', 'Every elephant is red. Bob is a wumpus.'])
  expect(unknown.code).toBe(0)
  expect(unknown.err).toMatch(
    /^warning: .*logic-start: its vocabulary lacks "elephant", "Bob"; the model sees/,
  )
})
