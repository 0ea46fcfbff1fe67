import { expect, it } from 'vitest'
import { Futures } from './futures.ts'

const HOLD_MS = 1_000

it('results end that nobody comes for: a while after they were fetched, with their session, or without one after a while', async () => {
  let nowMs = 0
  const futures = new Futures({ mostPending: 10, keptMs: 10, unfetchedMs: 100, nowMs: () => nowMs })
  const done = (owner: string | null) => futures.create(owner, Promise.resolve({ kind: 'json', body: {} }))
  let finish = () => {}
  const late = futures.create(
    'ended',
    new Promise(resolve => {
      finish = () => resolve({ kind: 'json', body: {} })
    }),
  )
  const [fetched, kept, nobodys, dropped] = [done('a'), done('a'), done(null), done('ended')]
  const isThere = (id: string) =>
    futures.outcome(id, 0).then(
      () => true,
      () => false,
    )
  await futures.outcome(fetched, HOLD_MS)
  futures.drop('ended')
  expect(await isThere(dropped)).toBe(false)
  finish()
  await futures.settled()
  nowMs = 11
  futures.sweep()
  expect(await isThere(fetched)).toBe(false)
  nowMs = 101
  futures.sweep()
  // Results of a session stay as long as that does.
  expect(await Promise.all([kept, nobodys, late].map(isThere))).toEqual([true, false, false])
})
