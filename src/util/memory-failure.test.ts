import { spawnSync } from 'node:child_process'
import { expect, it, vi } from 'vitest'
import { DataError, MemoryError } from './errors.ts'
import { asMemoryError, watchHeap } from './memory-failure.ts'

const code = (message: string, value: string) => Object.assign(new Error(message), { code: value })

// What Node 20, V8, ONNX Runtime and Linux say.
it.each([
  new RangeError('WebAssembly.Memory(): could not allocate memory'),
  new RangeError('WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory for new instance'),
  new RangeError('Array buffer allocation failed'),
  code('Failed to allocate memory', 'ERR_MEMORY_ALLOCATION_FAILED'),
  code('spawn ENOMEM', 'ENOMEM'),
  new Error('Non-zero status code returned while running MatMul node. std::bad_alloc'),
  code('Worker terminated due to reaching memory limit: JS heap out of memory', 'ERR_WORKER_OUT_OF_MEMORY'),
])('says of %s that memory ended, and what to set', error => {
  const said = asMemoryError(error, 'the engine')
  expect(said).toBeInstanceOf(MemoryError)
  expect(String(said)).toMatch(
    /^MemoryError: the engine: (?:there is not enough memory; .*ulimit -v|a JavaScript heap is full; .*--max-old-space-size)/,
  )
})

it.runIf(process.platform === 'linux')('says it of a limit on the address space', () => {
  const kernels = new URL('../../dist/util/kernels.js', import.meta.url)
  const script = `import('${kernels}').then(({ kernelMemory }) => kernelMemory(16)).catch(error => console.log(String(error)))`
  const { stdout } = spawnSync(
    'sh',
    ['-c', 'ulimit -v 8000000; exec "$0" -e "$1"', process.execPath, script],
    {
      encoding: 'utf8',
    },
  )
  expect(stdout).toMatch(/^MemoryError: 1 MB for numbers: there is not enough memory; .*ulimit -v/)
})

it('leaves other errors, and those in words, as they are', () => {
  for (const error of [
    new RangeError('Invalid array length'),
    new DataError('out of memory'),
    'out of memory',
  ])
    expect(asMemoryError(error)).toBe(error)
})

it('tells of a heap that is small, and once of one that is nearly full', () => {
  vi.useFakeTimers()
  try {
    const said: string[] = []
    let used = 10
    const mb = 1024 ** 2
    const read = () => ({ used_heap_size: used * mb, heap_size_limit: 100 * mb }) as never
    const end = watchHeap(words => said.push(words), read)
    vi.advanceTimersByTime(2_000)
    expect(said).toEqual([expect.stringMatching(/may hold 100 MB only.*--max-old-space-size/)])
    used = 95
    vi.advanceTimersByTime(2_000)
    expect(said.slice(1)).toEqual([
      expect.stringMatching(/nearly full: 95 of 100 MB; .*--max-old-space-size/),
    ])
    end()
  } finally {
    vi.useRealTimers()
  }
})
