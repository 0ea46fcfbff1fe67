import { Command } from 'commander'
import { expect, it } from 'vitest'
import { commandTree } from '../cli.fixture.ts'
import type { Io } from '../io.ts'
import { count } from '../option-values.ts'
import { firstLook, runBenchmark } from './run.ts'

const BRIEF = ['fleet', 'memory']

const written = () => {
  const text = { out: '', err: '' }
  const to = (stream: 'out' | 'err') => ({
    write: (more: string) => {
      text[stream] += more
    },
  })
  const io: Io = { out: to('out'), err: to('err'), onInterrupt: () => () => {} }
  return { io, text }
}

it('says how long it takes before anything is measured, also beside JSON', async () => {
  const { io, text } = written()
  const measure = async (tell: (line: string) => void) => {
    expect(text.err).toBe('[0 s] takes about ten minutes on two idle cores\n')
    tell('round 1 of 6')
    return { steps: 3 }
  }
  await runBenchmark(io, { json: true, takes: 'about ten minutes' }, measure, () => 'in words')
  expect(text.err).toContain('] round 1 of 6\n')
  expect(JSON.parse(text.out)).toEqual({ steps: 3 })

  const quick = written()
  await runBenchmark(quick.io, { quick: true, takes: 'an hour' }, one, () => 'in words')
  expect(quick.text).toEqual({
    out: 'in words\n',
    err: '[0 s] a first look: less than a minute, longer with a model of your own\n',
  })
})

const one = async () => 1

it('takes a first look at all that takes longer than a minute', () => {
  const bench = commandTree().commands.find(command => command.name() === 'bench')!
  const without = bench.commands.filter(({ options }) => !options.some(({ long }) => long === '--quick'))
  expect(without.map(command => command.name()).toSorted()).toEqual(BRIEF)
})

it('takes a first look with the settings that the command line names', async () => {
  const looked = async (...args: string[]) => {
    let found: object | null = null
    await new Command('overlap')
      .option('--steps <n>', '', count, 2)
      .option('--rounds <n>', '', count)
      .option('--quick')
      .action((options: { quick?: boolean; steps: number; rounds?: number }, command: Command) => {
        found = firstLook(command, options, { steps: 1, rounds: 1 })
      })
      .parseAsync(args, { from: 'user' })
    return found
  }
  expect(await looked()).toEqual({ steps: 2 })
  expect(await looked('--quick')).toEqual({ steps: 1, rounds: 1 })
  expect(await looked('--quick', '--steps', '3')).toEqual({ steps: 3, rounds: 1 })
})
