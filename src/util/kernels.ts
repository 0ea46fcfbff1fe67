/** @file WebAssembly kernels that the build compiles from `assembly/`: found, compiled once, and given their memory. */

import { readFileSync } from 'node:fs'
import { UsageError } from './errors.ts'
import { asMemoryError } from './memory-failure.ts'

// The part of the WebAssembly interface that is used here: the compiler's type library for it belongs to browsers.
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  /** Pages more; views of the buffer as it was are no longer of use. */
  grow(pages: number): number
}
interface Wasm {
  Memory: new (limits: { initial: number; maximum: number }) => WasmMemory
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => { exports: unknown }
}
const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly

export const PAGE_BYTES = 65_536
/** WebAssembly memory ends at 4 GiB. */
export const MAX_PAGES = 65_536

const compiled = new Map<string, object>()

const compile = (name: string): object => {
  const known = compiled.get(name)
  if (known) return known
  const fromSource = import.meta.url.endsWith('.ts')
  const url = new URL(`${fromSource ? '../../dist' : '..'}/kernels/${name}.wasm`, import.meta.url)
  let bytes: Uint8Array
  try {
    bytes = readFileSync(url)
  } catch (cause) {
    throw new UsageError(`compiled kernels not found at ${url.pathname}`, {
      hint: 'run `npm run build`',
      cause,
    })
  }
  const module = new wasm.Module(bytes)
  compiled.set(name, module)
  return module
}

/** Memory of at least one page that kernels may work on. @throws MemoryError where there is not so much */
export const kernelMemory = (pages: number, maximum = MAX_PAGES): WasmMemory => {
  try {
    return new wasm.Memory({ initial: pages, maximum })
  } catch (error) {
    throw asMemoryError(error, `${Math.ceil((pages * PAGE_BYTES) / 1024 ** 2)} MB for numbers`)
  }
}

/**
 * What `assembly/<name>.ts` exports, working on a memory.
 * @throws UsageError where it has not been built
 */
export const loadKernels = <Kernels>(name: string, memory: WasmMemory): Kernels =>
  new wasm.Instance(compile(name), { env: { memory } }).exports as Kernels
