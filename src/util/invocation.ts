/** @file How this command was called, so that a command that is printed works where it is pasted. */

import { existsSync } from 'node:fs'
import { basename, delimiter, join, relative, resolve } from 'node:path'

/** What a process knows of how it was started; another one's in tests. */
export interface Invocation {
  argv: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  platform: NodeJS.Platform
}

const ours = (): Invocation => ({
  argv: process.argv,
  env: process.env,
  cwd: process.cwd(),
  platform: process.platform,
})

const isOnPath = ({ env, platform }: Invocation): boolean => {
  const path = env.PATH ?? env.Path ?? ''
  const names = platform === 'win32' ? ['gradus.cmd', 'gradus.ps1'] : ['gradus']
  return path.split(delimiter).some(dir => dir !== '' && names.some(name => existsSync(join(dir, name))))
}

/**
 * `gradus` as a shell finds it here: by that name where it is on the PATH, `npx gradus` under npm, which puts it there for a
 * moment only, and else `node` with the script that was started.
 */
export const commandName = (invocation: Invocation = ours()): string => {
  const { argv, env, cwd } = invocation
  const script = argv[1] ?? ''
  if (env.npm_command !== undefined || env.npm_lifecycle_event !== undefined) return 'npx gradus'
  if (!['gradus', 'gradus.js'].includes(basename(script)) || isOnPath(invocation)) return 'gradus'
  const path = relative(cwd, script)
  return `node ${shellWord(path.startsWith('..') ? script : path, invocation.platform)}`
}

/** A word of a command line as a shell reads it: a POSIX shell, or PowerShell on Windows. */
export const shellWord = (text: string, platform: NodeJS.Platform = process.platform): string => {
  const isPlain = platform === 'win32' ? /^[\w./:=\\%+-]+$/ : /^[\w./:=@%+,-]+$/
  if (isPlain.test(text)) return text
  return platform === 'win32' ? `'${text.replaceAll("'", "''")}'` : `'${text.replaceAll("'", "'\\''")}'`
}

/** A command line to paste: the command by `commandName`, and its words quoted. */
export const commandLineOf = (words: readonly string[], invocation: Invocation = ours()): string =>
  [commandName(invocation), ...words.map(word => shellWord(word, invocation.platform))].join(' ')

/** Into a folder, and there a command line: both to paste where this process was started. */
export const commandLineIn = (
  folder: string,
  words: readonly string[],
  invocation: Invocation = ours(),
): string => {
  const cwd = resolve(invocation.cwd, folder)
  const line = commandLineOf(words, { ...invocation, cwd })
  return cwd === invocation.cwd ? line : `cd ${shellWord(folder, invocation.platform)} && ${line}`
}
