// Writes a folder of 200 runs, one of them with 20,000 steps and 200,000 rollouts, and measures how soon the dashboard answers and
// what memory it takes; with a Chromium (CHROMIUM, else /usr/bin/chromium) also how soon it paints. Needs dist/ (`npm run build`) and 700 MB of disk. `node scripts/dashboard-load.js [steps] [rollouts]`
import { spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [STEPS = 20_000, ROLLOUTS = 200_000] = process.argv.slice(2).map(Number)
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const root = mkdtempSync(join(tmpdir(), 'gradus-load-'))

const metrics = step => ({
  ...{
    step,
    reward: Math.sin(step / 900) / 2 + 0.5,
    entropy: 1000 / (step + 500),
    kl: step / 1e5,
    loss: 0.1,
  },
  ...{ gradNorm: 1, responseTokens: 100, zeroVarianceGroups: 0.2, tokens: 5000, rollouts: 64 },
  criteria: Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`criterion-${i}`, ((step * (i + 1)) % 97) / 97]),
  ),
  time: { sample: 1, grade: 0.5, update: 1, total: 2.6 },
})
const WORDS = 'a response that goes on for a while and says little '.repeat(24)
const rollout = nth => ({
  ...{ step: 1 + Math.floor((nth * STEPS) / ROLLOUTS), sample: nth % 8, problemId: `problem ${nth % 5000}` },
  ...{
    reward: (nth % 101) / 100,
    prompt: `Question ${nth % 5000}?`,
    response: `<think>${WORDS}</think> answer ${nth}`,
  },
  verdicts: Array.from({ length: 8 }, (_, i) => ({
    criterionId: `criterion-${i}`,
    met: (nth + i) % 3 > 0,
    explanation: 'as it says',
  })),
})

const writeRows = (path, count, row) => {
  const file = openSync(path, 'w')
  for (let at = 0; at < count; at += 500) {
    const rows = Array.from(
      { length: Math.min(500, count - at) },
      (_, i) => `${JSON.stringify(row(at + i))}\n`,
    )
    writeSync(file, rows.join(''))
  }
  closeSync(file)
}

const writeRun = (name, steps, rollouts) => {
  const dir = join(root, 'runs', name)
  mkdirSync(dir, { recursive: true })
  const config = { seed: 1, optimizer: { rate: name.length / 1000 } }
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify({
      id: name,
      recipe: 'load',
      steps,
      createdAt: new Date().toISOString(),
      config,
      environment: {},
    }),
  )
  writeRows(join(dir, 'metrics.jsonl'), steps, at => metrics(at + 1))
  writeRows(join(dir, 'rollouts.jsonl'), rollouts, rollout)
}

let child = null
/** Processor seconds of the dashboard so far: what counts where other work wants the same cores. */
const processor = () => {
  if (child?.pid === undefined) return 0
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

const timed = async (name, work) => {
  const startMs = performance.now()
  const before = processor()
  const value = await work()
  const seconds = ((performance.now() - startMs) / 1000).toFixed(2)
  console.log(`${name}: ${seconds} s, of the processor ${(processor() - before).toFixed(2)} s`)
  return value
}

/** What a person waits for: the first paint, and the line of every run in the table. */
const painted = async url => {
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  const page = await browser.newPage()
  const startMs = performance.now()
  await page.goto(url)
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length >= 200)
  const tableMs = performance.now() - startMs
  const paintMs = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  )
  console.log(
    `first paint: ${(paintMs / 1000).toFixed(2)} s; all lines of the table: ${(tableMs / 1000).toFixed(2)} s`,
  )
  await browser.close()
}

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
try {
  for (let n = 0; n < 199; n++) writeRun(`run-${n}`, 400, 0)
  writeRun('large', STEPS, ROLLOUTS)
  const env = { ...process.env, GRADUS_CACHE: join(root, 'cache') }
  child = spawn(process.execPath, [main, 'dashboard', join(root, 'runs'), '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const memory = () =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  const { url } = await timed(
    'started',
    () => new Promise(found => child.stdout.once('data', data => found(JSON.parse(String(data))))),
  )
  const get = async path => (await fetch(url + path)).json()
  await timed('page', () => fetch(url).then(response => response.text()))
  await timed('table of runs, first', () => get('/api/runs'))
  await timed('table of runs, again', () => get('/api/runs'))
  await timed('curves of the large run, first', () => get('/api/runs/large/curves?points=600'))
  await timed('curves of the large run, again', () => get('/api/runs/large/curves?points=600'))
  await timed('rollouts, first answer', () => get('/api/runs/large/rollouts'))
  await timed('index of rollouts made', async () => {
    while ((await get('/api/runs/large/rollouts')).progress < 1)
      await new Promise(resolve => setTimeout(resolve, 200))
  })
  await timed('rollouts by filter', () =>
    get('/api/runs/large/rollouts?criterion=criterion-3&verdict=unmet&order=best'),
  )
  await timed('one rollout', () => get('/api/runs/large/rollouts/123456'))
  console.log(`memory at most: ${memory().toFixed(0)} MB`)
  if (existsSync(CHROMIUM)) await painted(url)
  child.kill()
} finally {
  rmSync(root, { recursive: true, force: true })
}
