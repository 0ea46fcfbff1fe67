import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readNewRows } from './readers.ts'
import { appendRows, FILE_START, keepThrough, type RowPosition, readRows, readRowsFrom } from './row-files.ts'
import { RunFolder } from './run-folder.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-new-rows-'))
  path = join(dir, 'rollouts.jsonl')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

interface Row {
  step: number
  text?: string
}

/** A reader that remembers where it was. */
const reader = () => {
  let position: RowPosition = FILE_START
  return () => {
    const found = readRowsFrom<Row>(path, position)
    // A position may be sent around as text.
    position = JSON.parse(JSON.stringify(found.position))
    return { steps: found.rows.map(({ step }) => step), restarted: found.restarted }
  }
}

describe('rows since a position', () => {
  it('are those that were added, and nothing where nothing was', () => {
    const next = reader()
    expect(next()).toEqual({ steps: [], restarted: false })
    appendRows(path, [{ step: 1 }, { step: 2 }])
    expect(next()).toEqual({ steps: [1, 2], restarted: false })
    expect(next()).toEqual({ steps: [], restarted: false })
    appendRows(path, [{ step: 3 }])
    expect(next()).toEqual({ steps: [3], restarted: false })
  })

  it('leave a line that has no end to the next call, also where it is JSON already', () => {
    const next = reader()
    appendFileSync(path, '{"step":1}\n{"step":2')
    expect(next().steps).toEqual([1])
    appendFileSync(path, '}')
    expect(next().steps).toEqual([])
    appendFileSync(path, '\n\n{"step":3}\n')
    expect(next().steps).toEqual([2, 3])
  })

  it('come whole where a character of several bytes was cut in two', () => {
    const row = { step: 1, text: 'é–𝄞' }
    const bytes = Buffer.from(`${JSON.stringify(row)}\n`)
    for (let cut = 1; cut < bytes.length; cut++) {
      writeFileSync(path, bytes.subarray(0, cut))
      const { rows, position } = readRowsFrom<Row>(path)
      expect([rows, position]).toEqual([[], FILE_START])
      appendFileSync(path, bytes.subarray(cut))
      expect(readRowsFrom<Row>(path, position)).toMatchObject({ rows: [row], restarted: false })
    }
  })

  it('start again where the file was cut back', () => {
    const next = reader()
    appendRows(path, [{ step: 1 }, { step: 2 }, { step: 3 }])
    next()
    keepThrough(path, 1)
    expect(next()).toEqual({ steps: [1], restarted: true })
    appendRows(path, [{ step: 2 }])
    expect(next()).toEqual({ steps: [2], restarted: false })
  })

  it('start again where it was cut back and has grown past the position before anybody looked', () => {
    const next = reader()
    appendRows(path, [{ step: 1 }, { step: 2, text: 'a' }])
    next()
    keepThrough(path, 1)
    appendRows(path, [{ step: 2, text: 'b' }, { step: 3 }])
    expect(next()).toEqual({ steps: [1, 2, 3], restarted: true })
  })

  it('go on where a resumed run wrote the same bytes again', () => {
    const next = reader()
    appendRows(path, [{ step: 1 }, { step: 2 }])
    next()
    keepThrough(path, 1)
    appendRows(path, [{ step: 2 }, { step: 3 }])
    expect(next()).toEqual({ steps: [3], restarted: false })
  })

  it('start again where the file is gone, and where a write was taken back', () => {
    const next = reader()
    appendRows(path, [{ step: 1 }])
    next()
    rmSync(path)
    expect(next()).toEqual({ steps: [], restarted: true })
    expect(next()).toEqual({ steps: [], restarted: false })
    appendRows(path, [{ step: 1 }, { step: 2 }])
    next()
    truncateSync(path, '{"step":1}\n'.length)
    expect(next()).toEqual({ steps: [1], restarted: true })
  })

  it('name the byte of a whole line that is broken', () => {
    writeFileSync(path, '{"step":1}\n{"step":\n')
    expect(() => readRowsFrom(path)).toThrow(`${path}, the line at byte 11: not JSON`)
  })

  it('tell of lines longer than what is remembered of them', () => {
    const next = reader()
    const long = 'x'.repeat(20_000)
    appendRows(path, [{ step: 1, text: `a${long}` }])
    next()
    writeFileSync(path, '')
    appendRows(path, [{ step: 5, text: `a${long}b` }])
    expect(next()).toEqual({ steps: [5], restarted: true })
  })

  it('are all there, once, in order, while another process writes them byte by byte', async () => {
    // Pieces of 1 to 9 bytes, so that lines and characters are torn everywhere.
    const script = `
      const fs = require('node:fs')
      const fd = fs.openSync(process.argv[1], 'a')
      for (let step = 1; step <= 400; step++) {
        const bytes = Buffer.from(JSON.stringify({ step, text: 'é–𝄞'.repeat(step % 4) }) + '\\n')
        for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at, Math.min(1 + (step * 7 + at) % 9, bytes.length - at))
      }`
    const writer = spawn(process.execPath, ['-e', script, path], { stdio: 'inherit' })
    let done = false
    const ended = new Promise<number | null>(resolve =>
      writer.on('close', code => {
        done = true
        resolve(code)
      }),
    )
    const rows: Row[] = []
    let position = FILE_START
    const look = () => {
      const found = readRowsFrom<Row>(path, position)
      expect(found.restarted).toBe(false)
      rows.push(...found.rows)
      position = found.position
    }
    while (!done) {
      look()
      await sleep(0)
    }
    look()
    expect(await ended).toBe(0)
    expect(rows).toHaveLength(400)
    expect(rows).toEqual(readRows<Row>(path))
  })
})

it('of a run are those of a file, each once', () => {
  const run = RunFolder.create(join(dir, 'run'), { config: {} })
  appendRows(run.path('evals.jsonl'), [
    { step: 0, set: 'real', n: 1, primary: 'a', scores: { a: { value: 0.5 } } },
  ])
  const { rows, position } = readNewRows(run.dir, 'evals')
  expect(rows).toMatchObject([{ primary: 'a', scores: { a: { value: 0.5 } } }])
  run.appendMetrics({ step: 1, reward: 1 })
  expect(readNewRows(run.dir, 'metrics').rows).toEqual([{ step: 1, reward: 1 }])
  expect(readNewRows(run.dir, 'evals', position).rows).toEqual([])
  expect(readNewRows(run.dir, 'events').rows).toEqual([])
  run.close()
})

it('of evaluations are refused without their primary score', () => {
  const run = RunFolder.create(join(dir, 'primary'), { config: {} })
  const row = { step: 2, set: 'real', n: 1, scores: { accuracy: { value: 1 } }, primary: 'correctAndProved' }
  expect(() => run.appendEvals([row])).toThrow(
    'evaluation of step 2 on real: primary: expected the name of one of its scores, got correctAndProved',
  )
  run.close()
})
