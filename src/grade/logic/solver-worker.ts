/** @file The worker thread that Z3 lives in: a script in, its output out, one at a time. */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { init } from 'z3-solver'

export interface ScriptRequest {
  id: number
  script: string
}

/** `compiled` is for the next worker: compiling Z3 is most of what a start takes, and half of what the first scripts do. */
export type WorkerMessage = { ready: true; compiled: object } | { ready: false; error: string } | ScriptReply
export interface ScriptReply {
  id: number
  output?: string
  error?: string
  elapsedMs: number
}

// Z3 keeps what it learnt about names; a fresh context now and then keeps memory level over long runs.
const SCRIPTS_PER_CONTEXT = 500

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

// The part of the WebAssembly interface that is used here: the compiler's type library for it belongs to browsers.
interface Wasm {
  compile(bytes: Uint8Array): Promise<object>
  instantiate(module: object, imports: object): Promise<object>
}
const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly

const compile = async () => {
  const place = createRequire(import.meta.url).resolve('z3-solver')
  return wasm.compile(await readFile(join(dirname(place), 'z3-built.wasm')))
}

const serve = async () => {
  const port = parentPort!
  const compiled = (workerData as object | null) ?? (await compile())
  const { Z3 } = await new Promise<Awaited<ReturnType<typeof init>>>((resolve, reject) => {
    const instantiateWasm = (imports: object, done: (instance: object, module: object) => void) => {
      wasm.instantiate(compiled, imports).then(instance => done(instance, compiled), reject)
      return {}
    }
    init({ instantiateWasm }).then(resolve, reject)
  })
  const open = () => {
    const config = Z3.mk_config()
    const context = Z3.mk_context(config)
    Z3.del_config(config)
    return context
  }
  let context = open()
  let scripts = 0
  let tail: Promise<void> = Promise.resolve()
  const answer = async ({ id, script }: ScriptRequest) => {
    const startedMs = performance.now()
    try {
      if (++scripts % SCRIPTS_PER_CONTEXT === 0) {
        Z3.del_context(context)
        context = open()
      }
      const output = await Z3.eval_smtlib2_string(context, script)
      port.postMessage({ id, output, elapsedMs: performance.now() - startedMs } satisfies ScriptReply)
    } catch (error) {
      port.postMessage({
        id,
        error: messageOf(error),
        elapsedMs: performance.now() - startedMs,
      } satisfies ScriptReply)
    }
  }
  // Two low-level calls at once throw inside Z3: one after the other.
  port.on('message', (request: ScriptRequest) => {
    tail = tail.then(() => answer(request))
  })
  port.postMessage({ ready: true, compiled } satisfies WorkerMessage)
}

serve().catch(error =>
  parentPort!.postMessage({ ready: false, error: messageOf(error) } satisfies WorkerMessage),
)
