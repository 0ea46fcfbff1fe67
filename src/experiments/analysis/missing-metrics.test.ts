import { expect, it } from 'vitest'
import { fakeContent, fakeRegistration, fakeRuns } from '../fake-paper.fixture.ts'
import { missingMetrics } from './missing-metrics.ts'

const registration = fakeRegistration()
const runs = fakeRuns(registration)
const runOf = (arm: string) => runs.find(run => run.arm === arm)!
const [claim] = fakeContent().claims as object[]

it('says nothing of a registration whose values the runs have', () => {
  for (const arm of ['better', 'plain', 'worse', 'random'])
    expect(missingMetrics(registration, runOf(arm))).toEqual([])
})

it('names a test set and a curve that no run has, with what was meant', () => {
  const wrong = fakeRegistration({
    claims: [
      { ...claim, metric: { name: 'score', set: 'unsene' } },
      { ...claim, id: 'FAKE-2', metric: { name: 'curve', key: 'entropie', statistic: 'last' } },
    ],
    charts: [{ title: 'Reward', curve: 'nothing.like.it', arms: ['plain'] }],
  })
  expect(missingMetrics(wrong, runOf('plain'))).toEqual([
    'claims[0].metric: no score on unsene in a finished run of plain; did you mean unseen?',
    'claims[1].metric: no curve (key entropie, statistic last) in a finished run of plain; did you mean entropy?',
    'charts[0] (Reward): nothing to draw of a finished run of plain; its metrics.jsonl has the names',
  ])
})

it('asks an arm only for what is claimed of it', () => {
  const wrong = fakeRegistration({ claims: [{ ...claim, metric: { name: 'score', set: 'elsewhere' } }] })
  expect(missingMetrics(wrong, runOf('random'))).toEqual([])
  expect(missingMetrics(wrong, runOf('worse'))).toEqual([
    'claims[0].metric: no score on elsewhere in a finished run of worse; its test sets are unseen',
  ])
})

it('tells of an arm that generates nothing and is compared at equal tokens', () => {
  const run = runOf('plain')
  const silent = { ...run, metrics: run.metrics.map(({ tokens: _tokens, ...row }) => row) }
  expect(missingMetrics(registration, silent)).toEqual([
    'claims[1].equal: no generated tokens in a finished run of plain; compare it at equal steps, or in equal time',
  ])
})
