import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, Sandbox, SLOW_MS } from './cli.fixture.ts'
import { faults, filesOf, HOSTILE_TEXTS, type Hostile, mutations } from './hostile.fixture.ts'
import { type Reader, readers } from './hostile-readers.fixture.ts'

const sandbox = new Sandbox()
const model = fileURLToPath(new URL('../../models/logic-start', import.meta.url))
let server: Server
let all: Reader[]
beforeAll(async () => {
  server = createServer((_, response) => response.writeHead(401).end('{}'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  all = readers(sandbox, model, `http://127.0.0.1:${port}/v1`)
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
  sandbox.remove()
})

/** Runs a command on each file in turn and returns what went wrong, by file. */
const faultsOf = async ({ args, json = false, endings, writes }: Reader, hostile: readonly Hostile[]) => {
  const found: string[] = []
  for (const [index, [name, content]] of hostile.entries()) {
    const folder = sandbox.path('case')
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `input.${endings[index % endings.length]}`)
    writeFileSync(file, content)
    const before = filesOf(sandbox.dir)
    const result = await cli(args(file))
    const left = filesOf(sandbox.dir).filter(
      path => !before.includes(path) && path.replace(/ \d+$/, '') !== writes,
    )
    rmSync(folder, { recursive: true })
    const wrong = [...faults(result, json), ...left.map(path => `left ${path} behind`)]
    if (wrong.length > 0) found.push(`${name}: ${wrong.join(', ')}; said ${result.err.slice(0, 300)}`)
  }
  return found
}

const NAMES = readers(new Sandbox(), '', '').map(({ name }) => name)

describe('hostile files', { timeout: SLOW_MS }, () => {
  it.each(NAMES)('%s', async name => {
    const reader = all.find(each => each.name === name)!
    // Nothing of the kind is ever taken for a good file by mistake: the good one is.
    const good = sandbox.write(
      `good/${reader.endings[0]}.${reader.endings[0]}`,
      `${JSON.stringify(reader.good)}\n`,
    )
    const result = await cli(reader.args(good))
    expect(faults(result, reader.json ?? false)).toEqual([])
    const files = [...HOSTILE_TEXTS, ...mutations(reader.good, 12, name)]
    // Readers share what reads: each gets every second file, its neighbour the others.
    const { oneOf = 2 } = reader
    const from = NAMES.indexOf(name) % oneOf
    expect(
      await faultsOf(
        reader,
        files.filter((_, index) => index % oneOf === from),
      ),
    ).toEqual([])
  })
})
