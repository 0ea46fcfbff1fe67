/** @file `gradus search`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { anyNumber, count } from '../option-values.ts'
import type { BuildOptions, QueryOptions } from './build.ts'

const BUILD_HELP = `
Files are read by the end of their names: JSON Lines (.jsonl, .ndjson; - is standard input), Markdown (.md, .markdown; a
passage belongs to its heading), anything else as plain text. Of folders, files of these kinds are taken, with what lies below.
A row without an id is cited by its file and line, a text by its path.

Example:
  $ gradus search build notes/ papers.jsonl --out papers.index --text-key abstract`

const QUERY_HELP = `
Prints the passages that match best, by BM25; with --json one object: {"query", "hits": [{"id", "document", "title",
"snippet", "text", "score"}]}.

Example:
  $ gradus search query papers.index "heat transfer at a flat plate" --top 3`

/** Adds `gradus search` to the program. `done` receives the exit code. */
export const addSearchCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const search = program
    .command('search')
    .summary('build and ask a local search index')
    .description('A local search index over JSON Lines, Markdown and plain text.')
  search
    .command('build')
    .description('Builds an index: one file.')
    .argument('<files...>', 'files and folders')
    .requiredOption('--out <index>', 'the file to write')
    .option('--id-key <key>', 'key of a row that holds its id', 'id')
    .option('--title-key <key>', 'key of a row that holds its title', 'title')
    .option('--text-key <key>', 'key of a row that holds its text', 'text')
    .option('--max-chars <n>', 'most characters of a passage (default: 1500)', count)
    .option('--k1 <number>', 'of BM25: how soon a repeated word adds nothing (default: 1.2)', anyNumber)
    .option('--b <number>', 'of BM25: how much length counts (default: 0.75)', anyNumber)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', BUILD_HELP)
    .action(async (files: string[], options: BuildOptions) => {
      const { searchBuild } = await import('./build.ts')
      done(await searchBuild(files, options, io))
    })
  search
    .command('query')
    .description('Asks an index.')
    .argument('<index>', 'a file that `gradus search build` made')
    .argument('<words...>', 'what to look for')
    .option('--top <n>', 'most passages', count, 10)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', QUERY_HELP)
    .action(async (index: string, words: string[], options: QueryOptions) => {
      const { searchQuery } = await import('./build.ts')
      done(searchQuery(index, words.join(' '), options, io))
    })
}
