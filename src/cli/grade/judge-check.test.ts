import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caseTag, ruleTag, scriptedTruth } from '../../grade/judge/scripted/index.ts'
import { ScriptedServer } from '../../grade/judge/scripted/server.ts'
import { chanceOf } from '../../grade/judge/scripted/truth.ts'
import { saveCheckpoint } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { initWeights } from '../../model/weights.ts'
import { verifierTokenizer } from '../../recipes/learned-verifier/reading.ts'
import { openJudgeModel } from '../eval/judges.ts'
import type { Io } from '../io.ts'
import { addGradeCommand, addJudgeCommand } from './command.ts'

/** Of a verifier of one word. */
const CONFIG: ModelConfig = {
  ...{ family: 'llama', vocabSize: 9, hiddenSize: 32, intermediateSize: 32, layers: 1, heads: 2, kvHeads: 2 },
  ...{ headDim: 16, maxPositions: 32, rmsNormEps: 1e-5, ropeTheta: 10_000, ropeScaling: null },
  ...{ tieEmbeddings: false, attentionBias: false, qkNorm: false, initializerRange: 0.08 },
  ...{ bosTokenId: 1, eosTokenIds: [2] },
}

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

const check = (rows: unknown[], ...options: string[]) => {
  const file = join(folder, 'labels.jsonl')
  writeFileSync(file, rows.map(row => JSON.stringify(row)).join('\n'))
  return checkOf(['--labels', file, ...options])
}

const checkOf = (options: string[]) =>
  run(addJudgeCommand, ['judge', 'check', '--judge', url, '--model', 'scripted', ...options])

const run = async (add: typeof addJudgeCommand, args: string[]) => {
  const printed = { out: '', err: '', code: -1 }
  const io: Io = {
    out: { write: text => (printed.out += text) },
    err: { write: text => (printed.err += text) },
    onInterrupt: () => () => {},
  }
  const program = new Command().exitOverride()
  add(program, io, code => {
    printed.code = code
  })
  await program.parseAsync(args, { from: 'user' })
  return { ...printed, io }
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
    expect(quality.seconds * quality.verdictsPerSecond).toBeCloseTo(60, 9)
    expect(err).toContain('60 verdicts')
  })

  it('prints a table, and fails below the agreement that was asked for', async () => {
    const { out, code } = await check(labels, '--min-agreement', '0.95')
    expect(code).toBe(100)
    expect(out).toMatch(/merits +30\/30 +80\.0%/)
    expect(out).toMatch(/flaws +30\/30 +100\.0%/)
    expect(out).toMatch(/^[\d.]+ s, [\d.,]+ verdicts a second$/m)
    expect((await check(labels, '--min-agreement', '0.9')).code).toBe(0)
  })

  it('names the row that it cannot use', async () => {
    await expect(check([labels[0], { ...labels[1], label: 1 }])).rejects.toThrow(
      /labels\.jsonl:2: label: expected a boolean, got 1/,
    )
    await expect(check([])).rejects.toThrow('expected at least one label, got none')
  })
})

describe('gradus judge check --preferences', () => {
  const points = [3, -1]
  const rubric = join(folder, 'rubric.json')
  const criteria = points.map((worth, rule) => ({
    id: `r${rule}`,
    text: `follows ${ruleTag(rule)}`,
    points: worth,
  }))
  writeFileSync(rubric, JSON.stringify({ criteria }))
  const worth = (response: number) =>
    points.reduce((sum, own, rule) => sum + own * Number(scriptedTruth(response, rule)), 0)
  /** Pairs of neighbours; of every fifth pair people choose the worse. */
  const chosen = Array.from({ length: 60 }, (_, i) => {
    const side = (response: number) => ({ step: 1, response: `about ${caseTag(response)}`, credits: {} })
    const margin = worth(i) - worth(i + 1)
    const choice = margin === 0 ? 'alike' : margin > 0 === i % 5 > 0 ? 'a' : 'b'
    const common = {
      id: `${i}`,
      at: '',
      who: 'ann',
      pair: `${i}`,
      problemId: `${i}`,
      prompt: 'q',
      points: {},
    }
    return { ...common, a: side(i), b: side(i + 1), choice }
  })
  const decided = chosen.filter(({ choice }) => choice !== 'alike')
  const wrong = decided.filter(({ id }) => Number(id) % 5 === 0)
  const file = join(folder, 'preferences.jsonl')
  const checked = (...options: string[]) => checkOf(['--preferences', file, '--rubric', rubric, ...options])

  it('orders pairs by what the judge says, beside what people chose', async () => {
    writeFileSync(file, chosen.map(row => `${JSON.stringify(row)}\n`).join(''))
    expect(wrong.length).toBeGreaterThan(3)
    const { out, err, code } = await checked('--json')
    const quality = JSON.parse(out)
    expect(code).toBe(0)
    expect(quality).toMatchObject({ pairs: 60, decided: decided.length, nullRate: 0 })
    expect(quality.agreement.estimate).toBeCloseTo(1 - wrong.length / decided.length, 12)
    expect(quality.scale.pointsPerNat).toBeGreaterThan(0)
    expect(quality.calibrated.brier).toBeLessThan(0.25)
    // Each of 61 answers is judged once, by both criteria.
    expect(err).toContain('122 verdicts')
    const found = await checked('--min-agreement', '0.99')
    expect(found.code).toBe(100)
    expect(found.out).toMatch(/ordered as people do: \d\d\.\d% \[/)
  })

  it('needs a rubric, choices, and one of the two kinds of labels', async () => {
    await expect(checkOf(['--preferences', file])).rejects.toThrow(/expected --rubric FILE/)
    await expect(checkOf([])).rejects.toThrow(/either --labels FILE or --preferences RUN/)
    await expect(checkOf(['--preferences', file, '--labels', file])).rejects.toThrow(/either --labels/)
    await expect(checkOf(['--preferences', join(folder, 'none'), '--rubric', rubric])).rejects.toThrow(
      /found none/,
    )
  })
})

describe('gradus judge demonstrations', () => {
  it('prints a row a label, and names the line of one that it cannot use', async () => {
    const file = join(folder, 'demonstrated.jsonl')
    writeFileSync(file, labels.map(row => JSON.stringify(row)).join('\n'))
    const { out, code } = await run(addJudgeCommand, ['judge', 'demonstrations', file])
    const rows = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).messages)
    expect(code).toBe(0)
    expect(rows.map(messages => messages.at(-1).content)).toEqual(
      labels.map(row => (row.label ? 'Yes' : 'No')),
    )
    expect(rows[3][1].content).toContain(labels[3].response)
    writeFileSync(file, '{"response": "r"}')
    await expect(run(addJudgeCommand, ['judge', 'demonstrations', file])).rejects.toThrow(/:1.*criterion/s)
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

  it('judges by a calibration, in every command that has a judge', async () => {
    const checked = await check(asIs, '--judge', place, '--calibration', '1,-3', '--json')
    expect(JSON.parse(checked.out)).toMatchObject({ all: { agreement: { estimate: 1 } }, likelihood: {} })
    await expect(check(asIs, '--judge', place, '--calibration', '0,1')).rejects.toThrow(
      /a temperature above 0/,
    )
    const [rubric, responses] = [join(folder, 'rules.json'), join(folder, 'responses.jsonl')]
    writeFileSync(
      rubric,
      JSON.stringify({ criteria: [{ id: 'r', text: `follows ${ruleTag(0)}`, points: 1 }] }),
    )
    const cases = [...Array(20).keys()]
    writeFileSync(responses, cases.map(i => JSON.stringify({ response: `about ${caseTag(i)}` })).join('\n'))
    const options = ['--rubric', rubric, '--responses', responses, '--judge', `${place}#m`]
    const graded = await run(addGradeCommand, ['grade', ...options, '--calibration', '1,-3', '--json'])
    const scores = graded.out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).score)
    expect(scores).toEqual(cases.map(i => Number(scriptedTruth(i, 0))))
    const ways = { levels: 'likelihood', calibration: { temperature: 1, bias: -9 } } as const
    const judge = await openJudgeModel({ judge: `${place}#m`, threads: 1, ...ways }, '--judge', graded.io)
    const item = { prompt: [], response: `about ${caseTag(1)}` }
    const [verdict] = await judge!.grader.grade(item, [{ id: 'r', text: `follows ${ruleTag(0)}`, points: 1 }])
    expect(verdict.met).toBe(false)
    await judge!.close()
  })

  it('says before it asks that a picture cannot be written, and after it that there is nothing to draw', async () => {
    const asked = (svg: string) => ['--levels', 'likelihood', '--svg', join(folder, svg)]
    await expect(check(asIs, '--judge', place, ...asked('none/a.svg'))).rejects.toThrow(/cannot be written/)
    // This judge gives no log-probs.
    const silent = await check(labels.slice(0, 4), ...asked('b.svg'))
    expect([silent.code, silent.err]).toEqual([
      1,
      expect.stringMatching(/no verdict has a likelihood; .*b\.svg/),
    ])
    expect(existsSync(join(folder, 'b.svg'))).toBe(false)
  })

  it('is refused of a learned verifier, which would pass over the scale', async () => {
    const verifier = mkdtempSync(join(folder, 'verifier-'))
    const files = { ...verifierTokenizer(['good'], 16), 'config.json': '{}', 'model.safetensors': '' }
    for (const [name, file] of Object.entries(files)) writeFileSync(join(verifier, name), file)
    const opened = (ways: object) =>
      openJudgeModel({ judge: verifier, threads: 1, ...ways }, '--judge', {} as Io)
    await expect(opened({ levels: 'likelihood' })).rejects.toThrow(/--levels: .* is a learned verifier/)
    await expect(opened({ way: { calibration: { temperature: 1, bias: 0 } } })).rejects.toThrow(
      /--calibration/,
    )
  })

  it('has a digest of how it is asked; a learned verifier has one of its weights', async () => {
    const digestOf = async (judge: string, ways: object = {}) => {
      const opened = await openJudgeModel({ judge, threads: 1, ...ways }, '--judge', {} as Io)
      await opened!.close()
      return opened!.digest
    }
    const levels = 'likelihood'
    const ways = [{}, { levels: 'levels' }, { levels }, { levels, calibration: { temperature: 1, bias: 2 } }]
    const digests = await Promise.all(ways.map(way => digestOf(`${place}#m`, way)))
    expect(new Set(digests).size).toBe(4)
    expect(await digestOf(`${place}#m`)).toBe(digests[0])
    const verifier = join(folder, 'trained')
    const files = new Map(Object.entries(verifierTokenizer(['good'], 32)))
    const trained = async (seed: number) => {
      saveCheckpoint(verifier, { config: CONFIG, weights: initWeights(CONFIG, seed), files })
      return digestOf(verifier)
    }
    const [first, retrained, again] = [await trained(1), await trained(2), await trained(1)]
    expect([retrained === first, again]).toEqual([false, first])
  })

  it('prints the table and the settings, and fails below the agreement that was asked for', async () => {
    const wrong = asIs.map((row, i) => ({ ...row, label: i % 3 === 0 ? !row.label : row.label }))
    const svg = join(folder, 'reliability.svg')
    const asked = ['--judge', place, '--levels', 'likelihood', '--min-agreement', '0.9', '--svg', svg]
    const result = await check(wrong, ...asked)
    const picture = readFileSync(svg, 'utf8')
    expect(picture).toMatch(/^<svg[\s\S]*as it is[\s\S]*<\/svg>\n$/)
    expect(picture.match(/<polyline/g)).toHaveLength(2)
    await expect(check(wrong, '--svg', svg)).rejects.toThrow(/--svg: expected .*--levels likelihood/)
    expect(result.out).toMatch(/likelihoods of 60 verdicts: area under the ROC curve 0\.\d+/)
    expect(result.out).toMatch(
      /ask: \{ levels: likelihood, calibration: \{ temperature: \d+(\.\d+)?, bias: -\d+\.\d+ \} \}/,
    )
    expect(result.code).toBe(100)
  })
})
