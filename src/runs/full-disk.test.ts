import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { examineRun } from './check-run.ts'
import { readMetrics } from './readers.ts'
import { RunFolder } from './run-folder.ts'

const dist = new URL('../../dist/', import.meta.url)

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-full-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Goes on with a run, ten steps further, a checkpoint of a megabyte each; prints what stops it. */
const SCRIPT = `
  // Else the system ends a process that goes over its limit.
  process.on('SIGXFSZ', () => {})
  const { RunFolder } = await import('${dist}runs/run-folder.js')
  const { replaceFolder } = await import('${dist}model/folder.js')
  const { writeFileAtomic } = await import('${dist}util/atomic.js')
  const { join } = await import('node:path')
  const [where] = process.argv.slice(1)
  const run = RunFolder.open(where)
  let { step } = run.resume('h')
  const model = dir => replaceFolder(dir, folder => {
    writeFileAtomic(join(folder, 'config.json'), '{}')
    writeFileAtomic(join(folder, 'model.safetensors'), new Uint8Array(2 ** 20 + step * 1024))
  })
  try {
    for (const end = step + 10; step < end; ) {
      run.appendMetrics({ step: ++step, reward: step, text: 'x'.repeat(20_000) })
      await run.writeCheckpoint({ step, configHash: 'h', rng: {} }, model, { keepLast: 2 })
    }
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
  run.close()`

const start = async (where: string) => {
  const run = RunFolder.create(where, { config: {} })
  await run.writeCheckpoint({ step: 0, configHash: 'h', rng: {} }, () => {})
  run.close()
}

/** What stands on the disk is whole, and later there is room. */
const goesOn = (where: string) => {
  const stopped = readMetrics(where).at(-1)?.step ?? 0
  expect(examineRun(where)).toMatchObject({ whole: true, leftovers: [] })
  expect(existsSync(join(where, 'lock'))).toBe(false)
  return stopped
}

const again = (where: string, shell = '') => {
  const command = `${shell}exec "$0" --input-type=module -e "$1" "$2"`
  const { status, stderr } = spawnSync('bash', ['-c', command, process.execPath, SCRIPT, where], {
    encoding: 'utf8',
  })
  return { status, err: stderr.trim() }
}

it('a file larger than the system allows ends the run with advice, and it goes on when there is room', async () => {
  const where = join(dir, 'run')
  await start(where)
  // 1,026 blocks of 1,024 bytes: the model fits twice, and then no more.
  const { status, err } = again(where, 'ulimit -f 1026; ')
  expect({ status, err }).toMatchObject({
    status: 1,
    err: expect.stringMatching(
      /step-000003.*larger than this system allows \(EFBIG\).*intact; raise the limit.*--resume/,
    ),
  })
  expect(readdirSync(join(where, 'checkpoints')).sort()).toEqual(['latest', 'step-000001', 'step-000002'])
  expect(goesOn(where)).toBe(3)
  expect(again(where)).toEqual({ status: 0, err: '' })
  expect(goesOn(where)).toBe(12)
})

it('a row that does not fit is not there by half', async () => {
  const where = join(dir, 'run')
  await start(where)
  const { status, err } = again(where, 'ulimit -f 15; ')
  expect({ status, err }).toMatchObject({
    status: 1,
    err: expect.stringMatching(/metrics\.jsonl.*EFBIG.*--resume/),
  })
  expect(goesOn(where)).toBe(0)
  expect(again(where)).toEqual({ status: 0, err: '' })
})

const tmpfs = () => {
  const mounted = join(dir, 'small')
  mkdirSync(mounted)
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=5m', 'tmpfs', mounted])
  return status === 0 ? mounted : null
}

it('a disk that is full ends the run with advice, and it goes on when there is room', async context => {
  const disk = tmpfs()
  if (disk === null) {
    context.skip('this system does not let us mount a small disk')
    return
  }
  try {
    const where = join(disk, 'run')
    await start(where)
    const ballast = join(disk, 'ballast')
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1k', 'count=2200', 'status=none'])
    const { status, err } = again(where)
    expect({ status, err }).toMatchObject({
      status: 1,
      err: expect.stringMatching(
        /the disk is full \(ENOSPC\).*intact; free some disk space, then go on with --resume/,
      ),
    })
    const stopped = goesOn(where)
    expect(stopped).toBeGreaterThan(0)
    rmSync(ballast)
    expect(again(where)).toEqual({ status: 0, err: '' })
    expect(goesOn(where)).toBeGreaterThan(stopped)
  } finally {
    spawnSync('umount', [disk])
  }
})
