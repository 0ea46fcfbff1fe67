import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evalItem, evalRow } from '../eval-row.fixture.ts'
import type { EvalRow, RolloutRow } from '../rows.ts'
import { RunFolder } from '../run-folder.ts'
import { groupBlocks } from './answers.ts'
import { chartPlace, movingMean, smoothingWindow } from './chart-spec.ts'
import { chartSections } from './charts.ts'
import { chooseRollouts, loadReportData, type ReportData, rubricProfile, stageShares } from './data.ts'
import { buildFakeRun } from './fake-run.fixture.ts'
import { jsonForScript, part } from './page.ts'
import { Blocks } from './parts/blocks.tsx'
import { PageBody } from './parts/page.tsx'
import { renderReport, writeReport } from './report.ts'
import { rewardSection } from './reward.ts'
import { runPage } from './run-page.ts'
import { setPanels } from './tables.ts'

let root: string
let page: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-report-'))
  page = readFileSync(writeReport(buildFakeRun(join(root, 'fake'), { steps: 60 })), 'utf8')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const bareRun = (name: string, fill: (run: RunFolder) => void = () => {}) => {
  const run = RunFolder.create(join(root, name), { config: {} })
  fill(run)
  run.close()
  return loadReportData(join(root, name))
}

const chartIds = (name: string, fill: (run: RunFolder) => void) =>
  chartSections(bareRun(name, fill)).flatMap(section => section.charts.map(chart => chart.id))

const cardsOf = (data: ReportData) => part(PageBody, { page: runPage(data) })
const tablesOf = (data: ReportData) => setPanels(data).map(panel => part(Blocks, { blocks: [panel] }))

describe('a report', () => {
  it('is one file that fetches nothing', () => {
    expect(page).toContain('default-src &#39;none&#39;')
    expect(page).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)=/)
    expect(page).not.toMatch(/@import|url\(/)
    expect(page).toContain('uPlot')
  })

  it('has places of charts that a reader of HTML leaves as they are, whatever criteria are called', () => {
    const odd = join(root, 'odd')
    const run = RunFolder.create(odd, { config: {} })
    const id = 'a\u0000b\r\n<c> "d"'
    for (const step of [1, 2]) run.appendMetrics({ step, reward: 1, criteria: { [id]: 0.5, 'a.b-c': 1 } })
    run.close()
    const html = readFileSync(writeReport(odd), 'utf8')
    const places = [...html.matchAll(/<figure [^>]*id="([^"]*)"/g)].map(([, place]) => place)
    expect(places).toContain(chartPlace(`criterion-${id}`))
    expect(places).toContain('chart-criterion-a.b-c')
    for (const place of places) expect(place).toMatch(/^[\w.-]+$/)
  })

  it('has the headline, every curve, the profile, tables with baselines, rollouts and settings', () => {
    for (const text of ['Correct and proved', 'Answers right', 'Greedy: correct and proved', 'steps/s']) {
      expect(page).toContain(text)
    }
    const ids = ['reward', 'score-correctAndProved', 'score-accuracy', 'score-correctAndValid']
    ids.push(
      'criterion-C1',
      'criterion-C5',
      'entropy',
      'kl',
      'responseTokens',
      'logprob-gap',
      'gradNorm',
      'clipFraction',
      'truncationRate',
      'zeroVarianceGroups',
    )
    for (const id of [...ids, 'stages', 'throughput', 'metric-exploits'])
      expect(page).toContain(`id="chart-${id}"`)
    expect(page).toContain('class="radar"')
    for (const text of ['shortcut-free', 'majority label', 'chip entailed']) {
      expect(page).toContain(text)
    }
    expect(page).toContain('group.problems')
    expect(page).toContain(process.version)
  })

  it('has a section for metrics that belong together: stages, memory, reflections, phases', () => {
    const data = bareRun('families', run => {
      for (const step of [1, 2, 3, 4])
        run.appendMetrics({
          step,
          stageScores: { plan: 0.5, answer: 0.2 * step },
          bankSize: 16 * step,
          retrieved: { within: step > 2 ? 1 : 0, cross: step > 2 ? 0 : 2 },
          // Repeated batches are not reflected on.
          ...(step < 3 && { reflectionReward: 0.3, reflectionsAccepted: 0.75 }),
          gradientCosines: { 'reflection/task': step === 1 ? null : 0.1 },
          somethingElse: 1,
        })
    })
    const sections = chartSections(data).map(({ title, charts }) => [title, charts.map(({ id }) => id)])
    expect(sections).toEqual([
      ['Stages', ['metric-stageScores']],
      ['Memory', ['metric-bankSize', 'metric-retrieved']],
      ['Reflections', ['metric-reflectionReward', 'metric-reflectionsAccepted']],
      ['Phases of an update', ['metric-gradientCosines']],
      ['Other metrics', ['metric-somethingElse']],
    ])
    const [bank, shown] = chartSections(data)[1].charts
    expect(bank.series).toEqual([
      { label: 'Lessons in the bank', color: 'c1', kind: 'line', values: [16, 32, 48, 64] },
    ])
    expect(shown.series.map(({ label }) => label)).toEqual(['within', 'cross'])
    expect(renderReport(data)).toContain('Angle between gradients')
  })

  it('shows lessons of a memory in the section about it', () => {
    const data = bareRun('lessons', run => {
      for (const step of [1, 2]) run.appendMetrics({ step, reward: 1, bankSize: step })
      const lessons = [{ how: 'within' as const, question: 'Who?', text: 'Ask the guide first.' }]
      run.appendRollouts([{ step: 2, problemId: 'p', prompt: 'Who?', response: 'x', reward: 1, lessons }])
    })
    const text = renderReport(data)
    const memory = text.slice(text.indexOf('<h2>Memory</h2>'))
    const section = memory.slice(0, memory.indexOf('</section>'))
    expect(section).toContain('Lessons that attempts were shown')
    expect(section).toContain('Ask the guide first.')
  })

  it('draws the interval of a score below zero where the bar is', () => {
    const data = bareRun('below-zero', run =>
      run.appendEvals([
        evalRow(-0.05, { n: 9, scores: { accuracy: { value: -0.05, interval: [-0.12, 0.01] } } }),
      ]),
    )
    const text = renderReport(data)
    expect(text).toContain('title="95%: −12.0 to 1.0%"')
    expect(text).toContain('<b style="left:0.00%;width:1.00%;"></b>')
  })

  it('sets the strongest baselines beside the model and folds the weaker ones away', () => {
    const set = page.slice(page.indexOf('<h3>shortcut-free</h3>'))
    const [main, folded] = set.split('<summary>2 weaker baselines</summary>')
    const inOrder = (text: string, names: string[]) => {
      const places = names.map(name => text.indexOf(name))
      expect(places[0]).toBeGreaterThan(0)
      expect(places).toEqual(places.toSorted((a, b) => a - b))
    }
    inOrder(main, ['first mention', 'last mention', 'query negation'])
    const weaker = ['majority label', 'word overlap']
    inOrder(folded.slice(0, folded.indexOf('</details>')), weaker)
    for (const name of weaker) expect(main).not.toContain(name)
  })

  it('names the optimisation tax where a criterion that training could not see has fallen', () => {
    const profile = page.slice(
      page.indexOf('class="stack profile"'),
      page.indexOf('<h2>', page.indexOf('class="stack profile"')),
    )
    expect(profile.match(/optimisation tax<\/span>/g)).toHaveLength(1)
    const [, c4] = profile.split('C4 premise use')
    expect(c4.slice(0, c4.indexOf('</tr>'))).toContain('optimisation tax')
    expect(profile).toContain('C4 premise use fell: the optimisation tax.')
  })

  it('folds out the balance over labels', () => {
    expect(page).toContain('Answered True')
    expect(page).toContain('True-bias, points')
  })

  it('says where the time went in shares that add up, grading beside sampling left out', () => {
    const times = [
      { sample: 1, grade: 0, gradeBusy: 0.9, update: 1, total: 2.1 },
      { sample: 1, grade: 0.1, gradeBusy: 0.8, update: 1, total: 2.2 },
    ]
    const data = bareRun('times', run => {
      for (const [i, time] of times.entries()) run.appendMetrics({ step: i + 1, time })
    })
    const shares = stageShares(data.metrics)
    expect(shares).toEqual({ sample: 46.5, grade: 2.3, update: 46.5, rest: 4.7 })
    const sum = Object.values(shares).reduce((a, b) => a + b, 0)
    expect(sum).toBeCloseTo(100, 9)
    const found = renderReport(data)
    expect(found).toContain('sampling 46.5%, grading 2.3%, update 46.5%, rest 4.7%')
    expect(found).not.toContain('gradeBusy')
  })

  it('escapes whatever a model wrote, in the page and in its data', () => {
    const attack = '</script><script>alert(1)</script><img src=x onerror=alert(2)>'
    const row: RolloutRow = { step: 1, problemId: attack, prompt: attack, response: attack, reward: 1 }
    const found = {
      ...row,
      answer: attack,
      gold: attack,
      steps: [{ text: attack, status: attack, flags: [attack] }],
    }
    const data = bareRun('attack', run => {
      run.appendMetrics({ step: 1, reward: 1, [attack]: 3, group: { [attack]: 1 } })
      run.appendRollouts([row, found])
      run.appendEvent({ level: 'warning', message: attack })
    })
    data.info.model = attack
    const result = renderReport(data)
    expect(result).not.toContain('<script>alert')
    expect(result).not.toContain('<img')
    expect(result.match(/<script/g)).toHaveLength(2)
    expect(result.match(/<\/script>/g)).toHaveLength(2)
  })

  it('can be made of a run that has only begun, or whose last line is torn', () => {
    expect(renderReport(bareRun('empty'))).toContain('No step has been recorded yet')
    const data = bareRun('begun', run => run.appendMetrics({ step: 1, reward: null }))
    expect(renderReport(data)).toContain('stopped')
    appendFileSync(join(root, 'begun', 'metrics.jsonl'), '{"step":2,')
    expect(() => writeReport(join(root, 'begun'))).not.toThrow()
  })

  it('says when there is no run', () => {
    expect(() => writeReport(join(root, 'nowhere'))).toThrow(/no run here/)
  })
})

describe('the status', () => {
  const statusOf = async (name: string, fill: (run: RunFolder) => unknown, close = true) => {
    const run = RunFolder.create(join(root, name), { config: {}, steps: 2 })
    await fill(run)
    const open = loadReportData(run.dir).status
    run.close()
    return close ? loadReportData(run.dir).status : open
  }
  const steps = (run: RunFolder, last: number) => {
    for (let step = 1; step <= last; step++) run.appendMetrics({ step, reward: 1 })
  }
  const save = (run: RunFolder, step: number, finished: boolean) =>
    run.writeCheckpoint({ step, configHash: 'hash', rng: {}, recipe: { finished } }, () => {})

  it('is what the last checkpoint says: finished before the planned end when time was up', async () => {
    const outOfTime = async (run: RunFolder) => {
      steps(run, 1)
      await save(run, 1, true)
    }
    expect(await statusOf('out-of-time', outOfTime)).toBe('finished')
  })

  it('is running while the last evaluation is, and stopped when that was cut off', async () => {
    const evaluating = async (run: RunFolder) => {
      steps(run, 1)
      await save(run, 1, false)
      run.appendMetrics({ step: 2, reward: 1 })
    }
    expect(await statusOf('evaluating', evaluating, false)).toBe('running')
    expect(await statusOf('cut-off', evaluating)).toBe('stopped')
    expect(await statusOf('never-saved', run => steps(run, 2))).toBe('stopped')
  })

  it('is finished for a run without steps that was evaluated, which saves no checkpoint', () => {
    const run = RunFolder.create(join(root, 'no-steps'), { config: {}, steps: 0 })
    expect(loadReportData(run.dir).status).toBe('running')
    run.appendEvals([evalRow(0.5, { n: 2 })])
    run.close()
    expect(loadReportData(run.dir).status).toBe('finished')
  })

  it('does not fall over a broken checkpoint', async () => {
    const broken = async (run: RunFolder) => {
      const checkpoint = await save(run, 2, true)
      writeFileSync(join(checkpoint, 'run-state.json'), '{')
    }
    expect(await statusOf('broken', broken)).toBe('stopped')
  })
})

describe('a set that had fewer problems at the start', () => {
  /** Half of the first four are right at the start; at the end these all are, and four more are wrong. */
  const rowOf = (step: number, rights: number[]): EvalRow => {
    const value = rights.reduce((a, b) => a + b) / rights.length
    return evalRow(value, {
      step,
      n: rights.length,
      scores: { accuracy: { value }, 'greedy.accuracy': { value: rights[0] } },
      criteria: { C1: value },
      items: rights.map((accuracy, i) =>
        evalItem(`p${i}`, accuracy, {
          scores: { accuracy, 'greedy.accuracy': accuracy },
          criteria: { C1: accuracy },
        }),
      ),
    })
  }
  const start = rowOf(0, [0, 0, 1, 1])
  const end = rowOf(9, [1, 1, 1, 1, 0, 0, 0, 0])
  const dataOf = (name: string, ...rows: EvalRow[]) => bareRun(name, run => run.appendEvals(rows))

  it('is compared over the problems of both evaluations, and says so', () => {
    const cards = cardsOf(dataOf('grown', start, end))
    const [sampled, greedy] = cards.split('Greedy: answers right')
    expect(sampled).toContain('<span class="from">50.0%</span><span class="arrow">→</span>100.0%')
    expect(sampled).toContain('real, 4 problems')
    expect(sampled).toContain('50.0% after on all 8 problems')
    expect(greedy).toContain('<span class="from">50.0%</span><span class="arrow">→</span>100.0%')
    expect(greedy).toContain('4 problems')
    const [table] = tablesOf(dataOf('grown-table', start, end))
    expect(table).toMatch(/answers right 50\.0% → 100\.0%, \+50\.0 points \(95%: [^;]*; 4 problems\)/)
    expect(rubricProfile(dataOf('grown-profile', start, end))).toMatchObject({
      before: { C1: 0.5 },
      after: { C1: 1 },
      source: 'real, 4 problems',
    })
  })

  it('tells both numbers where the evaluations cannot be paired', () => {
    const [first, last] = [start, end].map(({ items: _items, ...row }) => row)
    expect(cardsOf(dataOf('unpaired', first, last))).toContain('real, 4 and 8 problems')
  })

  it('has for each criterion the problems that its change is over', () => {
    const change = (n: number) => ({
      n,
      before: 0.25,
      after: 0.75,
      change: 0.5,
      interval: [0.4, 0.6] as const,
    })
    const criteria = { C1: 0.5, C4: 0.5 }
    const last = { ...end, criteria, tax: { C1: change(4), C4: change(3) } }
    expect(rubricProfile(dataOf('taxed', { ...start, criteria }, last))).toMatchObject({
      before: { C1: 0.25, C4: 0.25 },
      after: { C1: 0.75, C4: 0.75 },
      source: 'real, up to 4 problems',
    })
  })

  it('has the problems of each source apart, where there are several', () => {
    const bySource = {
      harbour: {
        n: 7,
        scores: { accuracy: { value: 0.25 } },
        criteria: { C2: 0.125 },
        byLabel: { True: { n: 3, scores: { accuracy: 0.5 } } },
      },
      meadow: { n: 2, scores: { accuracy: { value: 1 } } },
    }
    const [table] = tablesOf(dataOf('by-source', { ...start, bySource }))
    expect(table).toContain('By source')
    for (const cell of [
      'harbour',
      'meadow',
      '25.0%',
      '12.5%',
      '50.0%',
      'Answers to True',
      'title="3 problems"',
    ])
      expect(table).toContain(cell)
    expect(String(tablesOf(dataOf('one-source', start)))).not.toContain('By source')
  })

  it('counts by label in problems', () => {
    const label = { n: 2, scores: { accuracy: 1 } }
    expect(
      String(tablesOf(dataOf('by-problem', { ...start, samples: 2, byLabel: { True: label } }))),
    ).toContain('title="2 problems"')
  })
})

describe('curves', () => {
  it('are drawn for what there is, whatever the recipe calls it', () => {
    const ids = chartIds('other', run => {
      run.appendMetrics({
        step: 1,
        reward: 1,
        criteria: { clarity: 0.5 },
        bankSize: 4,
        roles: { a: 1, b: 2 },
      })
    })
    expect(ids).toEqual(['reward', 'criterion-clarity', 'metric-bankSize', 'metric-roles'])
  })

  it('are smoothed by a centred mean that does not invent missing values', () => {
    expect(movingMean([1, 2, 6, null, 8], 3)).toEqual([1.5, 3, 4, null, 8])
    expect([5, 60, 500].map(smoothingWindow)).toEqual([1, 3, 21])
  })

  it('are headed by the primary score, whatever it is called', () => {
    const scores = { style: { value: 0.2 }, accuracy: { value: 0.4 }, grammar: { value: 0.6 } }
    const data = bareRun('primary', run => {
      run.appendEvals([evalRow(0.4, { scores, primary: 'grammar', scoreNames: { grammar: 'good grammar' } })])
      run.appendMetrics({ step: 1, accuracy: 0.5, grammar: 0.5, style: 0.5 })
    })
    const titles = chartSections(data).map(({ title, charts }) => [title, charts.map(chart => chart.title)])
    expect(titles).toEqual([
      ['Learning', ['Good grammar', 'Accuracy']],
      ['Other metrics', ['Style']],
    ])
    expect(cardsOf(data)).toMatch(/Good grammar.*60\.0%.*Accuracy.*40\.0%/s)
    const [table] = tablesOf(data)
    expect(table).toMatch(
      /<th scope="col" class="wide">Good grammar<\/th><th scope="col" class="wide">Accuracy<\/th>/,
    )
    expect(table.split('Further scores')[1]).toContain('Style')
  })

  it('call what a recipe records by its name for people', () => {
    const data = bareRun('named', run => {
      run.appendMetrics({ step: 1, constantZ: 0.5, validBySign: { reward: 0.3, penalty: 0.1 }, own: 1 })
    })
    const [{ charts }] = chartSections(data)
    expect(charts.map(({ title, about, unit }) => [title, about, unit])).toEqual([
      ['Questions that tell nothing', 'all right, or none', 'share'],
      ['Valid by sign', undefined, 'share'],
      ['Own', undefined, 'number'],
    ])
  })

  it('leave out what was zero all along, and say so; more series than colours are charts of their own', () => {
    const kinds = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`kind${i}`, i]))
    const data = bareRun('zeros', run => {
      for (const step of [1, 2])
        run.appendMetrics({ step, entropy: step, kl: 0, ownMetric: step, byKind: kinds, few: { a: 1, b: 2 } })
    })
    const sections = chartSections(data)
    const health = sections.find(({ title }) => title === 'Health of the policy')!
    expect(health.charts.map(({ id }) => id)).toEqual(['entropy'])
    expect(health.about).toBe('Zero all along: kl to the reference.')
    const others = sections.find(({ title }) => title === 'Other metrics')!
    expect(others.charts.map(({ title }) => title)).toEqual([
      'Own metric',
      ...[1, 2, 3, 4, 5, 6].map(i => `By kind: Kind${i}`),
      'Few',
    ])
    expect(others.about).toBe('Zero all along: by kind: kind0.')
  })

  it('has a table of contents, and says how the reward is made where the run knows', () => {
    const plain = bareRun('contents', run => {
      run.appendMetrics({ step: 1, reward: 1, entropy: 1, time: { total: 1, sample: 1 } })
    })
    const info = {
      ...plain.info,
      rewardFormula: 'The reward is 3 × (1 C1).',
      criterionAbout: { C1: 'The answer is <right>.', C2: 'Steps follow.' },
      criterionWeights: { C1: 1 },
    }
    const text = renderReport({ ...plain, info })
    for (const [id, title] of [
      ['learning', 'Learning'],
      ['what-is-rewarded', 'What is rewarded'],
      ['where-the-time-went', 'Where the time went'],
    ]) {
      expect(text).toContain(`<a href="#${id}">${title}</a>`)
      expect(text).toContain(`<span class="place" id="${id}"></span>`)
    }
    expect(text).toContain('The answer is &lt;right>.')
    expect(text).toContain('not rewarded')
    expect(text).toContain('weight 1<')
    expect(renderReport(plain)).not.toContain('What is rewarded')
  })

  it('put training and evaluations on one axis', () => {
    const data = bareRun('axis', run => {
      run.appendEvals([evalRow(0.4, { n: 9, scores: { accuracy: { value: 0.4, interval: [0.3, 0.5] } } })])
      run.appendMetrics({ step: 1, accuracy: 0.5 })
    })
    const chart = chartSections(data)[0].charts[0]
    expect(chart.x).toEqual([0, 1])
    expect(chart.series.map(series => series.values)).toEqual([
      [null, 0.5],
      [0.4, null],
    ])
  })
})

describe('choices', () => {
  it('takes best and worst from the end of the run, one a problem', () => {
    const row = (step: number, problemId: string, reward: number): RolloutRow => ({
      step,
      problemId,
      reward,
      prompt: '',
      response: '',
    })
    const data = bareRun('chosen', run =>
      run.appendRollouts([
        row(1, 'a', 9),
        row(90, 'b', 3),
        row(95, 'b', 2),
        row(99, 'c', 1),
        row(100, 'd', 2),
      ]),
    )
    const rewards = Object.fromEntries(
      chooseRollouts(data).map(({ title, rows }) => [title, rows.map(r => r.reward)]),
    )
    expect(rewards).toEqual({ Best: [3, 2], Worst: [1, 2], Latest: [2, 1], Earliest: [9, 3] })
  })

  it('shows a rollout of which nothing is known as that, neither best nor worst', () => {
    const row = (sample: number, reward: number | null): RolloutRow => ({
      step: 1,
      problemId: `p${sample}`,
      prompt: '',
      response: '',
      reward,
      parts: { C1: 1, C2: reward },
    })
    const data = bareRun('unknown', run => run.appendRollouts([row(1, 0.5), row(2, -1), row(0, null)]))
    const rewards = Object.fromEntries(
      chooseRollouts(data, 3).map(({ title, rows }) => [title, rows.map(r => r.reward)]),
    )
    expect(rewards).toMatchObject({ Best: [0.5, -1], Worst: [-1, 0.5], Latest: [null, -1, 0.5] })
    const page = renderReport(data)
    expect(page).toContain('<span class="reward"><small>reward</small> –</span>')
    expect(page).toContain('<b>C2</b> –')
    const none = bareRun('nothing-known', run => run.appendRollouts([row(0, null)]))
    expect(chooseRollouts(none).map(({ title }) => title)).toEqual(['Latest'])
  })

  it('shows who wrote what in a rollout of several turns, and in which role', () => {
    const turns = [
      { by: 'policy' as const, text: 'add(2, 3)' },
      { by: 'environment' as const, text: 'five, says the tool' },
    ]
    const data = bareRun('turns', run =>
      run.appendRollouts([
        { step: 1, problemId: 'p', role: 'proposer', prompt: '', response: 'all of it', turns, reward: 1 },
      ]),
    )
    const page = renderReport(data)
    expect(page).toContain('step 1 · p · proposer')
    expect(page).toMatch(
      /class="turn environment"><span class="quiet">Environment<\/span><pre class="piece text">five, says/,
    )
  })

  it('takes the profile from evaluations, else from training', () => {
    const data = bareRun('profile', run => {
      for (let step = 1; step <= 20; step++) run.appendMetrics({ step, criteria: { C1: step / 32 } })
    })
    expect(rubricProfile(data)).toMatchObject({ before: { C1: 1.5 / 32 }, after: { C1: 19.5 / 32 } })
    data.evals.push(evalRow(0, { step: 0, criteria: { C1: 0.2 } }))
    data.evals.push(evalRow(0, { step: 9, criteria: { C1: 0.4 } }))
    expect(rubricProfile(data)).toMatchObject({ before: { C1: 0.2 }, after: { C1: 0.4 } })
  })
})

describe('events', () => {
  it('are shown where none is serious, the first of them', () => {
    const data = bareRun('quiet events', run => {
      for (let i = 0; i < 5; i++) run.appendEvent({ level: 'info', message: `told ${i}` })
    })
    const page = renderReport(data)
    const [shown, more] = page.slice(page.indexOf('panel events')).split('<details>')
    expect(shown).toContain('told 2')
    expect(shown).not.toContain('told 3')
    expect(more).toMatch(/2 more.*told 4/s)
  })
})

describe('held-out answers', () => {
  const says = (step: number, id: string, score: number) =>
    evalItem(id, score, { sample: { prompt: 'q', response: `${id} at step ${step}`, reward: score } })
  const evaluationAt = (step: number, scores: Record<string, number>) =>
    evalRow(0.5, { step, n: 4, items: Object.entries(scores).map(([id, score]) => says(step, id, score)) })
  const shown = (name: string, rows: readonly EvalRow[]) => {
    const page = renderReport(bareRun(name, run => run.appendEvals(rows)))
    return [...new Set([...page.matchAll(/(\w+) at step 0/g)].map(([, id]) => id))]
  }

  it('are all there are, by how much they gained', () => {
    const before = evaluationAt(0, { same: 1, up: 0, down: 1, half: 0.5 })
    const after = evaluationAt(9, { same: 1, up: 1, down: 0, half: 0.5 })
    expect(shown('answers', [before, after])).toEqual(['up', 'same', 'half', 'down'])
    expect(shown('answers-once', [before])).toEqual([])
  })

  it('are twenty of more, evenly from the one that gained most to the one that lost most', () => {
    const scores = (of: (i: number) => number) =>
      Object.fromEntries(Array.from({ length: 39 }, (_, i) => [`n${i}`, of(i)]))
    const rows = [
      evaluationAt(
        0,
        scores(i => i / 40),
      ),
      evaluationAt(
        9,
        scores(() => 0.5),
      ),
    ]
    expect(shown('answers-many', rows)).toEqual(Array.from({ length: 20 }, (_, i) => `n${2 * i}`))
  })
})

describe('what is rewarded', () => {
  it('says of each criterion of the rows what it asks for, what it is worth and what decides it', () => {
    const { info } = bareRun('rewarded')
    const criteria = [
      { id: 'short', text: 'Is <b>short</b>.', points: 2, check: 'rule length (max: 15)' },
      { id: 'right', text: null, points: -1, check: null, rows: 4 },
      { id: 'kind', text: 'Is kind.', points: null, check: null },
    ]
    const section = rewardSection({ ...info, rubric: { criteria, ofRows: 7, sha256: '' } })!
    const text = part(Blocks, { blocks: section.blocks })
    const found = [...text.matchAll(/<dd>([^<]*)<span class="quiet"> ([^<]*)</g)]
    expect(found.map(([, about, worth]) => [about, worth])).toEqual([
      ['Is &lt;b>short&lt;/b>.', '+2 points · rule length (max: 15)'],
      ['Each row says it in words of its own.', '−1 point · a judge decides · in 4 rows'],
      ['Is kind.', 'points differ by row · a judge decides'],
    ])
    expect(text).toContain('And 7 criteria that single rows have')
    expect(rewardSection(info)).toBeNull()
  })
})

describe('a rubricator’s rollout', () => {
  it('says which of its criteria are valid, where others are met or not', () => {
    const verdicts = [true, false].map((met, i) => ({ criterionId: `c${i}`, met, explanation: 'why' }))
    const card = (role?: string) =>
      part(Blocks, {
        blocks: groupBlocks(
          [
            {
              ...{ title: '', about: '' },
              rows: [{ step: 1, prompt: 'q', response: 'r', reward: 1, role, verdicts } as RolloutRow],
            },
          ],
          {},
        ),
      })
    expect(card('rubricator')).toMatch(/c0<.*>valid<.*c1<.*>not valid</s)
    expect(card()).toMatch(/c0<.*>met<.*c1<.*>not met</s)
  })
})

it('data in a page closes no element', () => {
  expect(jsonForScript({ a: '</script><!--' })).toBe('{"a":"\\u003c/script>\\u003c!--"}')
})
