/** @file Runs the fenced examples of a how-to page, in order, in a folder of their own (convention: CONTRIBUTING.md, Docs). */

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A fenced block: its language, its marks (`run`, `file=reward.yaml`, ...) and its text. */
export interface Fence {
  line: number
  language: string
  marks: Readonly<Record<string, string>>
  text: string
}

/** Languages whose blocks must say what is to be done with them. */
const MUST_BE_MARKED = new Set(['sh', 'bash', 'js', 'ts', 'python', 'yaml', 'json', 'jsonl'])
const MARKS = new Set(['run', 'background', 'ready', 'file', 'expect', 'exit', 'needs', 'norun'])

const parseMarks = (info: string): Record<string, string> =>
  Object.fromEntries(
    info
      .split(/\s+/)
      .filter(word => word !== '')
      .map(word => {
        const at = word.indexOf('=')
        return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
      }),
  )

/** All fenced blocks of a page. @throws Error for a block that is never closed. */
export const readFences = (markdown: string): Fence[] => {
  const fences: Fence[] = []
  const lines = markdown.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const [, indent, ticks, info] = /^(\s*)(`{3,})(.*)$/.exec(lines[i]) ?? []
    if (ticks === undefined) continue
    const end = lines.findIndex((line, at) => at > i && line.trim() === ticks)
    if (end < 0) throw new Error(`line ${i + 1}: the block that begins here is never closed`)
    const [language = '', ...words] = info.trim().split(/\s+/)
    const text = lines.slice(i + 1, end).map(line => line.slice(indent.length))
    fences.push({ line: i + 1, language, marks: parseMarks(words.join(' ')), text: `${text.join('\n')}\n` })
    i = end
  }
  return fences
}

/** What is wrong with the marks of a block; null for nothing. */
export const markProblem = ({ language, marks }: Fence): string | null => {
  const unknown = Object.keys(marks).find(mark => !MARKS.has(mark))
  if (unknown !== undefined) return `unknown mark ${unknown}; known are ${[...MARKS].join(', ')}`
  const says = ['run', 'background', 'file', 'expect', 'norun'].some(mark => mark in marks)
  if (says || !MUST_BE_MARKED.has(language)) return null
  return `expected a mark (run, background, file=NAME, expect or norun) after ${language}; examples are run by the tests`
}

const isPort = /\b87\d\d\b/g

const isFree = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Below those that a system gives to whoever asks for any: one of these would be another test's before the example listens. */
const freePort = async (): Promise<number> => {
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  return (await isFree(port)) ? port : freePort()
}

const onPath = (tool: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some(folder => existsSync(join(folder, tool)))

/** Tools that a block needs and this machine lacks. */
export const missingTools = ({ language, marks }: Fence): string[] => {
  const needs = (marks.needs ?? '').split(',').filter(tool => tool !== '')
  if (language === 'python' && 'run' in marks) needs.push('python3')
  return needs.filter(tool => !onPath(tool))
}

const compileTypes = (name: string): [string, string[]] => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = '--module nodenext --target es2023 --types node --strict --skipLibCheck'
  return ['sh', ['-ec', `node ${tsc} ${options} ${name}.ts && node ${name}.js`]]
}

/**
 * A process that carries out command lines (command-host.js), and the `gradus` that asks it. A process of its own is the first of each
 * command, what serves, and what reads standard input.
 */
export class CommandHost {
  private readonly folder = mkdtempSync(join(tmpdir(), 'gradus-host-'))
  private readonly child = fork(join(root, 'test/command-host.js'), [this.socket])

  private get socket(): string {
    return join(this.folder, 'socket')
  }

  static async start(): Promise<CommandHost> {
    const host = new CommandHost()
    const [ready] = await Promise.race([once(host.child, 'message'), once(host.child, 'exit')])
    if (ready !== 'ready') throw new Error('the process for command lines ended before it was ready')
    return host
  }

  /** A shell script. */
  get command(): string {
    const node = `exec "${process.execPath}"`
    const apart = `${node} "${join(root, 'dist/cli/main.js')}" "$@"`
    return [
      '#!/bin/sh',
      `case " $* " in " serve "* | *" - "*) ${apart} ;; esac`,
      `if mkdir "${this.folder}/$1" 2>/dev/null; then ${apart}; fi`,
      `${node} "${join(root, 'test/command-client.js')}" "${this.socket}" "$@"\n`,
    ].join('\n')
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit')
    this.child.disconnect()
    await ended
    rmSync(this.folder, { recursive: true })
  }
}

/** Runs a page's blocks one after the other; `close` ends what runs in the background and removes the folder. */
export class PageRunner {
  readonly folder = mkdtempSync(join(tmpdir(), 'gradus-howto-'))
  private readonly background: ChildProcess[] = []
  private readonly ports = new Map<string, string>()
  private stdout = ''
  private scripts = 0

  constructor(host: CommandHost) {
    mkdirSync(join(this.folder, 'node_modules/.bin'), { recursive: true })
    mkdirSync(join(this.folder, 'node_modules/@types'))
    symlinkSync(root, join(this.folder, 'node_modules/gradus'))
    symlinkSync(join(root, 'node_modules/@types/node'), join(this.folder, 'node_modules/@types/node'))
    writeFileSync(join(this.folder, 'package.json'), '{"type": "module", "private": true}\n')
    const command = join(this.folder, 'node_modules/.bin/gradus')
    writeFileSync(command, host.command)
    chmodSync(command, 0o755)
  }

  /** Output of the block that ran last. */
  get output(): string {
    return this.stdout
  }

  /** @throws Error when the block does not do what the page says. */
  async step(fence: Fence): Promise<void> {
    const { marks } = fence
    if ('norun' in marks) return
    const text = await this.withFreePorts(fence.text)
    if ('file' in marks) this.write(marks.file, text)
    else if ('run' in marks) await this.run(fence, text)
    else if ('background' in marks) await this.start(text, await this.withFreePorts(marks.ready ?? ''))
  }

  /** Ports 8700 to 8799 of a page stand for free ones, so that pages can be tested side by side. */
  private async withFreePorts(text: string): Promise<string> {
    for (const [port] of text.matchAll(isPort))
      if (!this.ports.has(port)) this.ports.set(port, String(await freePort()))
    return text.replace(isPort, port => this.ports.get(port) ?? port)
  }

  private write(name: string, text: string): void {
    const path = join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  private spawn(command: string, args: readonly string[]): ChildProcess {
    const bin = join(this.folder, 'node_modules/.bin')
    return spawn(command, args, {
      cwd: this.folder,
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, GRADUS: root },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  private async run({ language, marks }: Fence, text: string): Promise<void> {
    const [command, args] = this.commandFor(language, text)
    const { code, out, err } = await collect(this.spawn(command, args))
    this.stdout = out
    const expected = Number(marks.exit ?? 0)
    if (code !== expected) throw new Error(`exit code ${code}, expected ${expected}\n${out}\n${err}`)
  }

  private commandFor(language: string, text: string): [string, string[]] {
    if (language === 'sh' || language === 'bash') return ['sh', ['-ec', text]]
    this.scripts += 1
    const name = `example-${this.scripts}`
    const suffix = language === 'python' ? 'py' : language
    this.write(`${name}.${suffix}`, text)
    if (language === 'ts') return compileTypes(name)
    return [language === 'python' ? 'python3' : process.execPath, [`${name}.${suffix}`]]
  }

  /** Starts a server and waits until `readyUrl` answers 200. */
  private async start(text: string, readyUrl: string): Promise<void> {
    const child = this.spawn('sh', ['-ec', `exec ${text.trim()}`])
    this.background.push(child)
    let ended: string | null = null
    void collect(child).then(({ code, err }) => {
      ended = `exit code ${code}\n${err}`
    })
    const deadlineMs = Date.now() + 30_000
    while (readyUrl !== '') {
      if (ended !== null) throw new Error(`the server ended before it was ready: ${ended}`)
      if (await answers(readyUrl)) return
      if (Date.now() > deadlineMs) throw new Error(`${readyUrl} did not answer 200 within 30 s`)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }

  async close(): Promise<void> {
    for (const child of this.background) {
      const ended = new Promise(resolve => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGTERM')) await ended
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

const collect = (child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> =>
  new Promise((resolve, reject) => {
    let out = ''
    let err = ''
    child.stdout?.on('data', chunk => {
      out += chunk
    })
    child.stderr?.on('data', chunk => {
      err += chunk
    })
    child.once('error', reject)
    child.once('close', code => resolve({ code, out, err }))
  })
