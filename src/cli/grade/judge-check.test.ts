import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caseTag, ruleTag, ScriptedServer, scriptedTruth } from '../../grade/judge/scripted/index.ts'
import { chanceOf } from '../../grade/judge/scripted/truth.ts'
import type { Io } from '../io.ts'
import { addJudgeCommand } from './judge-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-judge-'))
const server = new ScriptedServer()
let url = ''
beforeAll(async () => {
  url = await server.listen()
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

/** Labels as the script holds them for true, but for every fifth of the merits. */
const labels = Array.from({ length: 60 }, (_, i) => {
  const [response, rule] = [Math.floor(i / 2), i % 2]
  const truth = scriptedTruth(response, rule)
  const wrong = rule === 0 && response % 5 === 0
  return {
    prompt: 'q',
    response: `about ${caseTag(response)}`,
    criterion: { text: `follows ${ruleTag(rule)}`, points: rule === 0 ? 2 : -1 },
    label: wrong ? !truth : truth,
  }
})

const check = async (rows: unknown[], ...options: string[]) => {
  const file = join(folder, 'labels.jsonl')
  writeFileSync(file, rows.map(row => JSON.stringify(row)).join('\n'))
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
  const args = ['judge', 'check', '--labels', file, '--judge', url, '--model', 'scripted', ...options]
  await program.parseAsync(args, { from: 'user' })
  return printed
}

describe('gradus judge check', () => {
  it('measures a judge by sign of points', async () => {
    const { out, err, code } = await check(labels, '--json')
    const quality = JSON.parse(out)
    expect(code).toBe(0)
    // 30 merits with 6 wrong labels, 30 flaws with none.
    expect(quality.positive).toMatchObject({ rows: 30, judged: 30 })
    expect(quality.positive.agreement.estimate).toBeCloseTo(24 / 30, 12)
    expect(quality.negative.agreement.estimate).toBe(1)
    expect(quality.all.agreement.estimate).toBeCloseTo(54 / 60, 12)
    expect(quality.nullsAcceptable).toBe(true)
    expect(err).toContain('60 verdicts')
  })

  it('prints a table, and fails below the agreement that was asked for', async () => {
    const { out, code } = await check(labels, '--min-agreement', '0.95')
    expect(code).toBe(100)
    expect(out).toMatch(/merits +30\/30 +80\.0%/)
    expect(out).toMatch(/flaws +30\/30 +100\.0%/)
    expect((await check(labels, '--min-agreement', '0.9')).code).toBe(0)
  })

  it('names the row that it cannot use', async () => {
    await expect(check([labels[0], { ...labels[1], label: 1 }])).rejects.toThrow(
      /labels\.jsonl:2: label: expected a boolean, got 1/,
    )
    await expect(check([])).rejects.toThrow('expected at least one label, got none')
  })
})

describe('gradus judge check --levels likelihood', () => {
  /** A judge that leans to yes by three nats and has five between true and false, a little of it by chance. */
  const leaning = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => (body += chunk))
    request.on('end', () => {
      const { messages, max_tokens, top_logprobs } = JSON.parse(body)
      const [asked, one] = [
        messages.map(({ content }: { content: string }) => content).join(),
        max_tokens === 1,
      ]
      const [, response_, rule] = /case-(\d+)[\s\S]*rule-(\d+)/.exec(asked)!
      const truth = scriptedTruth(Number(response_), Number(rule))
      const odds = 3 + (truth ? 2.5 : -2.5) + 2 * (chanceOf(`${response_}/${rule}/noise`) - 0.5)
      const top = [
        { token: ' Yes', logprob: -Math.log1p(Math.exp(-odds)) },
        { token: 'no', logprob: -Math.log1p(Math.exp(odds)) },
      ]
      const content = one && top_logprobs === 20 ? [{ ...top[0], top_logprobs: top }] : []
      const choices = [
        { message: { role: 'assistant', content: 'Yes' }, finish_reason: 'length', logprobs: { content } },
      ]
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ model: 'm', choices, usage: { prompt_tokens: 1, completion_tokens: 1 } }))
    })
  })
  let place = ''
  beforeAll(async () => {
    await new Promise<void>(resolve => leaning.listen(0, '127.0.0.1', resolve))
    place = `http://127.0.0.1:${(leaning.address() as AddressInfo).port}/v1`
  })
  afterAll(() => new Promise(resolve => leaning.close(resolve)))

  const asIs = labels.map((row, i) => ({ ...row, label: scriptedTruth(Math.floor(i / 2), i % 2) }))

  it('says what calibration on other responses makes of a judge that says yes to all', async () => {
    const result = await check(
      asIs,
      '--judge',
      place,
      '--levels',
      'likelihood',
      '--json',
      '--min-agreement',
      '0.9',
    )
    const { all, likelihood } = JSON.parse(result.out)
    expect(all.agreement.estimate).toBeLessThan(0.7)
    expect(likelihood).toMatchObject({
      verdicts: 60,
      areaUnderCurve: 1,
      calibrated: { agreement: { estimate: 1 } },
    })
    expect(likelihood.calibration.bias).toBeLessThan(-1)
    expect(likelihood.calibrated.brier).toBeLessThan(likelihood.raw.brier / 3)
    expect(result.code).toBe(0)
  })

  it('prints settings also where the labels of other responses are too few, and says why verdicts are missing', async () => {
    const few = await check(asIs.slice(0, 2), '--judge', place, '--levels', 'likelihood')
    const both = new Set(asIs.slice(0, 2).map(({ label }) => label)).size === 2
    expect(few.out).toContain(
      both ? 'not checked on other responses' : 'no calibration: labels of both kinds',
    )
    const silent = await check(asIs, '--levels', 'likelihood')
    expect(silent.out).toMatch(/no verdict 60 x: .*log-probs/)
  })

  it('prints the table and the settings, and fails below the agreement that was asked for', async () => {
    const wrong = asIs.map((row, i) => ({ ...row, label: i % 3 === 0 ? !row.label : row.label }))
    const result = await check(wrong, '--judge', place, '--levels', 'likelihood', '--min-agreement', '0.9')
    expect(result.out).toMatch(/likelihoods of 60 verdicts: area under the ROC curve 0\.\d+/)
    expect(result.out).toMatch(
      /ask: \{ levels: likelihood, calibration: \{ temperature: \d+(\.\d+)?, bias: -\d+\.\d+ \} \}/,
    )
    expect(result.code).toBe(100)
  })
})
