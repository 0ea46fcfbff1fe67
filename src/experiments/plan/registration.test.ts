import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'
import { METRICS } from '../metrics/index.ts'
import { armTraining } from './jobs.ts'
import { parseRegistration, readRegistration } from './read.ts'
import { apartOf } from './registration.ts'

const registration = fakeRegistration()

describe('a registration', () => {
  it('has a hash of its content, not of its layout', () => {
    const reversed = Object.fromEntries(Object.entries(fakeContent()).toReversed())
    expect(parseRegistration(reversed, 'other.yaml').hash).toBe(registration.hash)
    expect(fakeRegistration({ steps: 61 }).hash).not.toBe(registration.hash)
    expect(registration.hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('may say afterwards what its results are worth, under the same hash', () => {
    const [{ id }] = registration.claims
    const why = 'whatever is trained, it would have come out so'
    const apart = [{ claims: [id], is: 'by construction', why }]
    const armDefaults = { better: { noise: { rate: 2 } } }
    const found = fakeRegistration({ afterwards: { apart, defaults: { noise: { rate: 1 } }, armDefaults } })
    expect(found.hash).toBe(registration.hash)
    expect(apartOf(found, id)).toEqual({ is: 'by construction', why })
    expect(apartOf(registration, id)).toBe(null)
    // Defaults stand below all that was registered.
    expect(armTraining(found, 'better', 1).settings.slice(0, 3)).toEqual([
      { policy: { threads: 1 } },
      { noise: { rate: 1 } },
      armDefaults.better,
    ])
    expect(() => fakeRegistration({ afterwards: { armDefaults: { none: {} } } })).toThrow(
      'afterwards.armDefaults: expected one of',
    )
    expect(() => fakeRegistration({ afterwards: { apart: [{ ...apart[0], claims: ['NONE'] }] } })).toThrow(
      'afterwards.apart[0].claims: expected claims of this file, got "NONE"',
    )
    expect(() => fakeRegistration({ afterwards: { apart: [...apart, ...apart] } })).toThrow('got')
    expect(() => fakeRegistration({ afterwards: { apart: [{ ...apart[0], why: 'so' }] } })).toThrow(
      'a reason of at least 20 characters',
    )
  })

  it('is refused without its negative controls, unless each that lacks is explained', () => {
    const { controls } = fakeContent() as { controls: Record<string, unknown> }
    const { 'random-reward': _random, ...rest } = controls
    expect(() => fakeRegistration({ controls: rest })).toThrow('controls.random-reward: expected the arm of')
    expect(() => fakeRegistration({ controls: undefined })).toThrow('controls: expected negative controls')
    expect(() => fakeRegistration({ controls: { ...controls, 'random-reward': { absent: 'no' } } })).toThrow(
      'controls.random-reward.absent: expected a reason of at least 20 characters, got "no"; say why',
    )
    expect(() => fakeRegistration({ controls: { ...controls, 'random-reward': { arm: 'ranom' } } })).toThrow(
      'did you mean random?',
    )
  })

  it('is refused for arms, metrics and tests that do not exist or do not fit', () => {
    const claim = (changes: object) => {
      const [first] = fakeContent().claims as object[]
      return () => fakeRegistration({ claims: [{ ...first, ...changes }] })
    }
    expect(claim({ arms: { a: 'better', b: 'plane' } })).toThrow('did you mean plain?')
    expect(claim({ metric: 'scor' })).toThrow('did you mean score?')
    expect(claim({ metric: { name: 'score', sett: 'x' } })).toThrow('claims[0].metric (score): sett')
    expect(claim({ test: 'share' })).toThrow('a single arm, atLeast')
    expect(claim({ test: 'mcnemar', metric: 'tokens' })).toThrow('right or wrong item by item')
    expect(claim({ equal: 'tokens', metric: 'tokens' })).toThrow(
      'only a score of two arms that is evaluated along the run',
    )
    // What has not generated a token can be read at no tokens only, and so would the other.
    expect(claim({ equal: 'both', arms: { a: 'better', b: 'start' } })).toThrow('only a score of two arms')
    const { arms } = fakeContent() as { arms: Record<string, object> }
    const [, atTokens] = fakeContent().claims as object[]
    const still = { ...arms, plain: { ...arms.plain, steps: 0 } }
    expect(() => fakeRegistration({ arms: still, claims: [atTokens] })).toThrow(
      'claims[0].equal: expected steps with the arm plain, got tokens; it has no steps',
    )
    expect(claim({ direction: 'equal', smallestEffect: 0 })).toThrow('it is the margin')
    expect(claim({ arms: ['better', 'plain'], test: 'trend' })).toThrow('a list of at least three arms')
    expect(claim({ arms: ['better', 'plain', 'start'], test: 'trend' })).toThrow('at least three arms')
    expect(claim({ test: 'trend', direction: 'equal' })).toThrow('a direction of greater or less')
    expect(claim({ test: 'trend' })).not.toThrow()
    const matched = (among: string[]) => ({
      name: 'curve',
      key: 'entropy',
      matched: { key: 'reward', among },
    })
    expect(claim({ metric: matched(['better', 'plain']) })).toThrow('expected every arm of the claim')
    expect(claim({ metric: matched(['better', 'plain', 'worse', 'plane']) })).toThrow('did you mean plain?')
    expect(claim({ metric: matched(['better', 'plain', 'worse']) })).not.toThrow()
    const bad = {
      name: 'all-of',
      of: [
        { metric: { name: 'scor' }, above: 0 },
        { metric: { name: 'tokens' }, below: 1 },
      ],
    }
    expect(claim({ metric: bad })).toThrow('did you mean score?')
    expect(claim({ id: 'Controls' })).toThrow(
      'claims[0].id: expected another id than controls, diagnosis, summary',
    )
    expect(() => fakeRegistration({ seeds: [1, 1] })).toThrow('got "1" twice')
    const start = { recipe: 'checklist-cold-start', seed: 1 }
    const twins = ['a', 'b'].map(name => ({ name, ...start }))
    expect(() => fakeRegistration({ starts: twins })).toThrow('another cold start than a')
    expect(() => fakeRegistration({ starts: [twins[0], { ...twins[1], seed: 2 }] })).not.toThrow()
  })
})

describe('the page on experiments, and the registrations of this project', () => {
  const root = new URL('../../../', import.meta.url)
  const page = readFileSync(new URL('docs/experiments.md', root), 'utf8')

  it('show registrations that can be used', () => {
    const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text)
    const [example] = blocks
    const probes = blocks.find(text => text.startsWith('probes:'))
    expect(parseRegistration(parse(`${example}${probes}`), 'docs/experiments.md').claims[0].id).toBe('MY-1')
    const folder = fileURLToPath(new URL('experiments', root))
    const files = readdirSync(folder).filter(file => file.endsWith('.yaml'))
    const papers = files.map(file => readRegistration(join(folder, file)).paper)
    expect(papers).toEqual(expect.arrayContaining(['ruscarl', 'rubric-as-reward']))
  })

  it('show metrics that claims take', () => {
    const shown = [...page.matchAll(/```yaml\n(metric:[\s\S]*?)```/g)].map(
      ([, text]) => parse(text) as object,
    )
    expect(shown.length).toBeGreaterThan(0)
    const { arms } = fakeContent() as { arms: object }
    for (const claim of shown) {
      const one = { id: 'X', statement: 'x', arms: { a: 'rit' }, smallestEffect: 0, ...claim }
      const content = { arms: { ...arms, rit: {}, orm: {} }, claims: [one] }
      expect(() => fakeRegistration(content)).not.toThrow()
    }
  })

  it('name every metric', () => {
    for (const name of Object.keys(METRICS)) expect(page).toContain(`\`${name}\``)
  })
})
