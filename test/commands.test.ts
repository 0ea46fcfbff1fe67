/** Commands that README and the pages of recipes show: each is one that there is, with options and settings that there are. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { commandTree } from '../src/cli/cli.fixture.ts'
import { resolveSettings } from '../src/cli/train/settings.ts'
import { readFences } from './howto.fixture.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/experiments.md',
  'docs/papers.md',
  'docs/scaling.md',
  'docs/engine.md',
  'examples/train/README.md',
  ...readdirSync(join(root, 'docs/recipes')).map(name => `docs/recipes/${name}`),
]

/** Words of a command line as a shell has them; comments go. */
const words = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)]
    .map(([word]) => word)
    .reduce<{ kept: string[]; done: boolean }>(
      ({ kept, done }, word) =>
        done || word.startsWith('#') ? { kept, done: true } : { kept: [...kept, word], done },
      { kept: [], done: false },
    )
    .kept.map(word => word.replace(/^['"]|['"]$/g, ''))

const commandsOf = (text: string): string[][] =>
  text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map(line => /^(?:npx )?gradus (.*)$/.exec(line.trim())?.[1])
    .filter(line => line !== undefined)
    .map(line => words(line.replace(/\s(?:>|\||&&|&).*$/, '')))

/** The command that the words name, and the words behind it. */
const found = (program: Command, [first, ...rest]: readonly string[]): [Command, string[]] => {
  const own = program.commands.find(command => command.name() === first)
  if (own === undefined) return [program, [first, ...rest].filter(word => word !== undefined)]
  return own.commands.length > 0 ? found(own, rest) : [own, rest]
}

/** Commands within a sentence or a table: `npx gradus ...` between backticks. */
const inlineOf = (source: string) =>
  source
    .split('\n')
    .flatMap((text, at) =>
      [...text.matchAll(/`(npx gradus [^`]+)`/g)].map(([, command]) => ({ text: command, line: at + 1 })),
    )

for (const page of pages) {
  const source = readFileSync(join(root, page), 'utf8')
  describe(page, () => {
    const shown = [
      ...readFences(source).filter(({ language }) => language === 'sh'),
      ...inlineOf(source),
    ].flatMap(({ text, line }) => commandsOf(text).map(command => ({ line, command })))
    it.each(
      shown.map(({ line, command }) => [`line ${line}: gradus ${command.join(' ')}`, command] as const),
    )('%s', async (_, command) => {
      const [own, rest] = found(commandTree(), command)
      expect(own.parent, 'a command that there is').not.toBeNull()
      const { operands, unknown } = own.parseOptions([...rest])
      expect(unknown).toEqual([])
      const { set, preset } = own.opts<{ set?: string[]; preset?: string }>()
      const [target] = operands
      const trains = own.name() === 'train' && own.parent?.parent === null
      if (trains && target !== undefined && !/\.ya?ml$/.test(target))
        await resolveSettings({ target, preset, set })
    })
  })
}
