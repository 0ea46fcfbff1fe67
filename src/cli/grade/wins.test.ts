import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Io } from '../io.ts'
import { addJudgeCommand } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-wins-'))
/** Prefers thinking that checks; `first` takes whatever stands first, `mute` says nothing of use. */
const server = createServer((request, response) => {
  let body = ''
  request.on('data', part => {
    body += part
  })
  request.on('end', () => {
    const { messages, model } = JSON.parse(body)
    const asked: string = messages.at(-1).content
    const texts = [...asked.matchAll(/<text-(\w+)>\n([\s\S]*?)\n<\/text-\1>/g)].map(match => match[2])
    const best = model === 'first' ? 1 : 1 + texts.findIndex(text => text.includes('check'))
    const content = model === 'mute' ? 'hm' : JSON.stringify({ reason: 'r', best_text: best })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }))
  })
})
let url = ''
beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

const write = (name: string, thinking: (i: number) => string, questions = 8): string => {
  const rows = Array.from({ length: questions }, (_, i) => ({
    ...{ id: i, prompt: `What is ${i} + ${i}?`, response: `<think>${thinking(i)}</think>check` },
  }))
  const path = join(folder, name)
  writeFileSync(path, rows.map(row => JSON.stringify(row)).join('\n'))
  return path
}

const wins = async (...args: string[]) => {
  const printed = { out: '', err: '', code: -1 }
  const io: Io = {
    out: { write: text => (printed.out += text) },
    err: { write: text => (printed.err += text) },
    onInterrupt: () => () => {},
  }
  const program = new Command().exitOverride()
  addJudgeCommand(program, io, code => {
    printed.code = code
  })
  await program.parseAsync(['judge', 'wins', ...args], { from: 'user' })
  return printed
}

describe('gradus judge wins', () => {
  const base = write('base.jsonl', () => 'I add the two numbers and say it')
  // On the first two questions both say nothing of checking: a tie.
  const trained = write('trained.jsonl', i => (i < 2 ? 'I add the two' : 'I add, then I check that'), 9)

  it('shows every order to every judge, and tells shares of wins with intervals', async () => {
    const { out, code } = await wins(base, trained, '--judge', `${url}#sound`, `${url}#first`, '--json')
    expect(code).toBe(0)
    const { questions, judges } = JSON.parse(out)
    expect(questions).toEqual({ common: 8, compared: 8 })
    const [sound, first] = judges
    expect(sound.wins.map((own: { estimate: number }) => own.estimate)).toEqual([0.125, 0.875])
    expect(sound.wins[1].low).toBeLessThan(0.875)
    expect(sound).toMatchObject({ tieRate: 0.25, placeShares: [0.5, 0.5], questions: 8, failed: 0 })
    // Who goes by the place alone favours nobody.
    expect(first.wins.map((own: { estimate: number }) => own.estimate)).toEqual([0.5, 0.5])
    expect(first.placeShares).toEqual([1, 0])
  })

  it('prints a table, and fails below the share that was asked for', async () => {
    const { out, code } = await wins(base, trained, '--judge', `${url}#sound`, '--min-wins', '0.9')
    expect(code).toBe(100)
    expect(out).toMatch(/8 of 8 common questions compared\n.*: 8 questions\n.*base\.jsonl +12\.5% \[/)
  })

  it('compares thinking of like length alone where that is asked for', async () => {
    const { out } = await wins(base, trained, '--judge', `${url}#sound`, '--match-lengths', '0.34', '--json')
    // Eight words against six; against four on the first two.
    expect(JSON.parse(out).questions).toEqual({ common: 8, compared: 6 })
    await expect(wins(base, trained, '--judge', `${url}#sound`, '--match-lengths', '0')).rejects.toThrow(
      '--match-lengths: expected questions with thinking of like length, got none of 8',
    )
  })

  it('says which judge gave nothing of use', async () => {
    const mute = await wins(base, trained, '--judge', `${url}#mute`, '--json')
    expect(mute.code).toBe(1)
    expect(JSON.parse(mute.out).judges[0]).toMatchObject({ wins: null, failed: 16, questions: 0 })
    const gone = await wins(base, trained, '--judge', 'http://127.0.0.1:9/v1#x', '--retries', '0')
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('no usable answer; check --judge')])
  }, 60_000)

  it('refuses what it cannot compare', async () => {
    await expect(wins(base, '--judge', `${url}#sound`)).rejects.toThrow('expected two files')
    const other = join(folder, 'other.jsonl')
    writeFileSync(other, '{"id": "z", "prompt": "q", "response": "r"}')
    await expect(wins(base, other, '--judge', `${url}#sound`)).rejects.toThrow('same id or prompt, got none')
    writeFileSync(other, '{"id": 1, "response": "r"}')
    await expect(wins(base, other, '--judge', `${url}#sound`)).rejects.toThrow(
      'prompt: expected the question',
    )
  })
})
