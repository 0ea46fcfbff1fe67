import { describe, expect, it } from 'vitest'
import { wilsonInterval } from '../util/intervals.ts'
import { CreditTable, compareProfiles, isClear, type Observation, profileOf } from './profile.ts'
import { profileHtml, profileSvg } from './profile-picture.ts'

const observe = (criterion: string, credits: readonly (number | null)[], points?: number): Observation[] =>
  credits.map((credit, index) => ({
    item: `i${index}`,
    criterion,
    credit,
    ...(points !== undefined && { points }),
  }))

describe('a profile', () => {
  it('averages samples of an item first, then items', () => {
    const table = new CreditTable([
      { item: 'a', criterion: 'c', credit: 1 },
      { item: 'a', criterion: 'c', credit: 0 },
      { item: 'a', criterion: 'c', credit: 0 },
      { item: 'b', criterion: 'c', credit: 1 },
      { item: 'b', criterion: 'c', credit: null },
      { item: 'd', criterion: 'c', credit: null },
    ])
    const [profile] = profileOf(table)
    expect(profile).toMatchObject({ criterion: 'c', points: null, items: 2, observations: 4, nulls: 2 })
    // Item means 1/3 and 1.
    expect(profile.satisfaction?.estimate).toBeCloseTo(2 / 3, 12)
  })

  it('has intervals that agree with the normal approximation', () => {
    const half = Array.from({ length: 400 }, (_, index) => index % 2)
    const [{ satisfaction }] = profileOf(new CreditTable(observe('c', half)))
    // 1.96 sqrt(.25 / 400) = .049
    expect(satisfaction!.low).toBeCloseTo(0.451, 2)
    expect(satisfaction!.high).toBeCloseTo(0.549, 2)
  })

  it('has an interval with room where all items are alike', () => {
    const [{ satisfaction }] = profileOf(new CreditTable(observe('c', Array(20).fill(0))))
    expect(satisfaction).toEqual(wilsonInterval(0, 20))
  })

  it('keeps criteria without any verdict, and the order', () => {
    const table = new CreditTable([...observe('z', [null, null], -3), ...observe('a', [1], 2)])
    const profiles = profileOf(table)
    expect(profiles.map(({ criterion, points }) => [criterion, points])).toEqual([
      ['z', -3],
      ['a', 2],
    ])
    expect(profiles[0]).toMatchObject({ items: 0, nulls: 2, satisfaction: null })
  })

  it('refuses credits that are none', () => {
    expect(() => new CreditTable(observe('c', [Number.NaN]))).toThrow(
      /c of i0: expected a credit in \[0, 1\], got NaN/,
    )
    expect(() => new CreditTable(observe('c', [1.5]))).toThrow(/1\.5/)
  })
})

describe('a comparison', () => {
  const hard = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? 0.1 : 0.8))
  const better = hard.map(credit => credit + 0.05)

  it('is paired by item: a steady gain is clear where the separate intervals overlap', () => {
    const [row] = compareProfiles(new CreditTable(observe('c', better)), new CreditTable(observe('c', hard)))
    expect(row.difference!.estimate).toBeCloseTo(0.05, 10)
    expect(row.difference!.high - row.difference!.low).toBeLessThan(1e-9)
    expect(isClear(row.difference!)).toBe(true)
    expect(row.against!.satisfaction!.high).toBeGreaterThan(row.satisfaction!.low)
  })

  it('uses the items that both have, and only those', () => {
    const table = new CreditTable([...observe('c', [1, 1, 0]), { item: 'own', criterion: 'c', credit: 1 }])
    const other = new CreditTable(observe('c', [0, null, 0, 1]))
    const [row] = compareProfiles(table, other)
    expect([row.items, row.against?.items, row.sharedItems]).toEqual([4, 3, 2])
    expect(row.difference!.estimate).toBe(0.5)
    const [alone] = compareProfiles(table, new CreditTable(observe('d', [1])))
    expect(alone).toMatchObject({ against: null, sharedItems: 0, difference: null })
  })

  it('is clear only where chance would not bring it: six equal differences, not five', () => {
    const isClearOf = (items: number) => {
      const [a, b] = [Array(items).fill(1), Array(items).fill(0)].map(
        own => new CreditTable(observe('c', own)),
      )
      return isClear(compareProfiles(a, b)[0].difference!)
    }
    expect([2, 5, 6].map(isClearOf)).toEqual([false, false, true])
  })

  it('has no difference for one shared item, which would always look clear', () => {
    const [row] = compareProfiles(new CreditTable(observe('c', [1])), new CreditTable(observe('c', [0, 1])))
    expect(row).toMatchObject({ sharedItems: 1, difference: null })
  })
})

describe('the picture', () => {
  const table = new CreditTable([
    ...observe('<b>&"quoted"</b> and a name much too long for the column', [1, 0, 1], 2),
    ...observe('rude', [0, 0, 1], -2),
    ...observe('unknown', [null]),
  ])

  it('needs nothing from outside, escapes names, has both colour schemes', () => {
    const svg = profileSvg(profileOf(table), { title: 'T & <U>', name: 'run\u0001' })
    expect(svg).toContain('prefers-color-scheme: dark')
    expect(svg).toContain('T &amp; &lt;U&gt;')
    expect(svg).toContain('&lt;b&gt;&amp;&quot;quoted&quot;')
    expect(svg).not.toMatch(/<b>|href|src=|url\(|<script/)
    expect(svg).not.toContain('\u0001')
    expect(svg).toContain('66.7%')
    expect(svg).toContain('no verdicts')
    expect(svg).toContain('penalty')
    // One dot for each criterion with verdicts, one in the key.
    expect(svg.match(/<circle/g)).toHaveLength(3)
  })

  it('puts two models on one line each, with the difference in points', () => {
    const rude = (credits: number[]) => observe('rude', credits, -2)
    const less = new CreditTable([
      ...observe('kind', [1]),
      ...rude([0, 0, 1, 0, 0, 1, 0, 0, 1]),
      ...observe('late', [null]),
    ])
    const rows = compareProfiles(less, new CreditTable(rude(Array(9).fill(1))))
    const html = profileHtml(rows, { title: 'T', name: 'a', against: 'b' })
    expect(html.startsWith('<!doctype html>')).toBe(true)
    // Two of three were rude and are no more: less of a flaw is shown as a gain.
    expect(html).toMatch(/class="up"[^>]*>−66\.7/)
    expect(html.match(/<circle/g)).toHaveLength(2 + 1 + 2)
  })
})
