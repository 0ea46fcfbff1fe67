// Takes the pictures of docs/howto/dashboard.md from real runs and results: `node scripts/dashboard-shots.js RUNS RESULTS RUN OTHER EXPERIMENT`.
// RUN is a run of RUNS with a judge, OTHER one to compare it with. Needs dist/ (`npm run build`) and a Chromium (CHROMIUM, else
// /usr/bin/chromium).
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const [runs, results, run, other, experiment] = process.argv.slice(2)
if (!experiment) throw new Error('usage: node scripts/dashboard-shots.js RUNS RESULTS RUN OTHER EXPERIMENT')
const at = path => fileURLToPath(new URL(path, import.meta.url))
const PORT = 8719

/** Name of the picture, and address. */
const PAGES = [
  ['runs', '/'],
  ['run', `/run/${run}`],
  ['rubric', `/run/${run}/rubric`],
  ['rollout', `/run/${run}/rollouts/1`],
  ['evaluation', `/run/${run}/evaluation`],
  ['judges', `/run/${run}/judges`],
  ['compare', `/compare?run=${run}&run=${other}`],
  ['experiment', `/experiment/${experiment}`],
]

const server = spawn(
  process.execPath,
  [at('../bin/gradus.js'), 'dashboard', runs, results, '--port', String(PORT), '--no-control'],
  { stdio: ['ignore', 'inherit', 'inherit'] },
)
const answers = async () => {
  for (let tries = 0; tries < 100; tries++) {
    try {
      await fetch(`http://127.0.0.1:${PORT}/api/runs`)
      return
    } catch {
      await new Promise(resolve => setTimeout(resolve, 200))
    }
  }
  throw new Error('the dashboard does not answer')
}

try {
  await answers()
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  const page = await browser.newPage({ viewport: { width: 1200, height: 860 } })
  const shoot = async (name, address) => {
    await page.goto(`http://127.0.0.1:${PORT}${address}`)
    await page.waitForTimeout(1500)
    await page.screenshot({ path: at(`../docs/images/dashboard-${name}.png`) })
    process.stderr.write(`docs/images/dashboard-${name}.png\n`)
  }
  for (const [name, address] of PAGES) await shoot(name, address)
  // The first problem whose answers were kept, before and after.
  await page.goto(`http://127.0.0.1:${PORT}/run/${run}/evaluation`)
  await page.waitForTimeout(1500)
  await shoot('answers', await page.locator('tbody th a').first().getAttribute('href'))
  await browser.close()
} finally {
  server.kill()
}
