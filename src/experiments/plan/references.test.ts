import { describe, expect, it } from 'vitest'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'

describe('McNemar’s test in a registration', () => {
  const read =
    (changes: object, test: object = { problems: 2048 }) =>
    () =>
      fakeRegistration({
        test,
        claims: [
          {
            ...(fakeContent().claims as object[])[0],
            arms: { a: 'better', b: 'plain' },
            test: 'mcnemar',
            ...changes,
          },
        ],
      })

  it('is taken where both arms have items that are right or wrong', () => {
    expect(read({})).not.toThrow()
    expect(read({ metric: { name: 'score', score: 'correctAndValid' } })).not.toThrow()
  })

  it('is refused where there are none', () => {
    expect(read({ arms: { a: 'better', b: 'start' } })).toThrow(
      'claims[0].test: expected sign-flip for metric score, got mcnemar; of what an arm started from no items are kept',
    )
    expect(read({}, { problems: 2048, samples: 4 })).toThrow('test.samples is 4, and the mean of several')
    expect(read({ equal: 'tokens' })).toThrow('items are those after equal steps, got equal: tokens')
    expect(read({ equal: ['steps', 'minutes'] })).toThrow('got equal: [steps, minutes]')
    expect(read({ equal: 'both' })).toThrow('got equal: both')
    expect(read({ metric: { name: 'score', score: 'wellFormed' } })).toThrow('right or wrong item by item')
    expect(read({ metric: { name: 'criterion', id: 'one' } })).toThrow('right or wrong item by item')
    expect(read({ direction: 'equal' })).toThrow('right or wrong item by item')
  })
})
