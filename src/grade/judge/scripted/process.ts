/** @file Entry of a process that is a scripted judge: options in argv, questions over the channel to its parent. */

import { openSync } from 'node:fs'
import { ScriptedServer, type ScriptedServerOptions } from './server.ts'

const { logFile, ...options } = JSON.parse(process.argv[2] ?? '{}') as ScriptedServerOptions & {
  logFile?: string
}
const server = new ScriptedServer(options, logFile === undefined ? null : openSync(logFile, 'a'))

process.on('message', () => process.send?.({ stats: server.stats() }))
// Without its parent it has no purpose.
process.on('disconnect', () => process.exit(0))

process.send?.({ url: await server.listen() })
