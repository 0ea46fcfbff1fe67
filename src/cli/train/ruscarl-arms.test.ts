import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { RECIPES } from '../../recipes/index.ts'
import { checkRuscarlSettings } from '../../recipes/ruscarl/check.ts'
import type { RuscarlConfig } from '../../recipes/ruscarl/config.ts'
import { resolveAmong } from './settings.ts'

const page = readFileSync(fileURLToPath(new URL('../../../docs/recipes/ruscarl.md', import.meta.url)), 'utf8')
const arms = page.slice(page.indexOf('## Arms'), page.indexOf('Nested values'))

/** Rows of the page's table of arms: the arm, and its settings as `--set` takes them; one list for each alternative. */
const rows = [...arms.matchAll(/^\| (.+?) \| (.*) \|$/gm)].flatMap(([, arm, cell]): [string, string[]][] => {
  const set = [...cell.matchAll(/`([\w.]+): (.+?)`/g)].map(([, key, value]) => `${key}=${value}`)
  return set.length > 0 ? [[arm, set]] : []
})

const resolve = (set: string[]) => resolveAmong(RECIPES, { target: 'ruscarl', set }).config as RuscarlConfig

describe('the arms of docs/recipes/ruscarl.md', () => {
  it('are all there', () => expect(rows.length).toBeGreaterThanOrEqual(15))

  it.each(rows)('%s', (_arm, set) => {
    // Alternatives of a row change the same key: each is tried by itself, too.
    for (const settings of [set, ...set.map(one => [one])])
      expect(() => checkRuscarlSettings(resolve(settings))).not.toThrow()
  })

  it('say what they change', () => {
    const [, prorl] = rows.find(([arm]) => arm === 'ProRL')!
    expect(resolve(prorl)).toMatchObject({
      steps: 1000,
      rollout: { temperature: 1.2 },
      loss: { policy: { clipLow: 0.2, clipHigh: 0.28 }, kl: { coef: 0 } },
      exploration: { dynamicSampling: { rounds: 3 } },
      scaffold: { group: { kind: 'none' } },
    })
  })
})
