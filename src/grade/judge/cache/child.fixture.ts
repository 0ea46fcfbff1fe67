/** @file Processes of their own for the cache's tests; they run the built code, as Node 20 cannot run TypeScript. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { workerUrl } from '../../../util/worker-url.ts'

const MODULE = workerUrl(import.meta.url, './index.js').href

/** Value that the tests keep under a key, so that any reader can tell a right one from a wrong one. */
export const verdictOf = (name: string) => ({
  met: name.length % 2 === 0,
  explanation: `because "${name}"\n`,
})

const PRELUDE = `
import { VerdictCache, digestOf } from ${JSON.stringify(MODULE)}
const verdictOf = name => ({ met: name.length % 2 === 0, explanation: \`because "\${name}"\\n\` })
const say = line => process.stdout.write(line + '\\n')
`

/** Starts a module that may use VerdictCache, digestOf, verdictOf and say. @param shell wraps the command, for limits */
export const startChild = (script: string, shell?: string): ChildProcess => {
  const args = ['--input-type=module', '-e', PRELUDE + script]
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  if (shell === undefined) return spawn(process.execPath, args, { stdio })
  return spawn('sh', ['-c', `${shell}; exec "$0" "$@"`, process.execPath, ...args], { stdio })
}

/** Standard output of a child that must end by itself. */
export const outputOf = async (child: ChildProcess): Promise<string> => {
  let text = ''
  child.stdout!.on('data', (chunk: Buffer) => {
    text += chunk
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`child ended with ${code}: ${text}`)
  return text
}

/** Resolves when the child has said so many lines. */
export const linesFrom = (child: ChildProcess, count: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let lines = 0
    child.stdout!.on('data', (chunk: Buffer) => {
      lines += chunk.toString().split('\n').length - 1
      if (lines >= count) resolve()
    })
    child.once('close', () => reject(new Error(`child ended after ${lines} lines`)))
  })
