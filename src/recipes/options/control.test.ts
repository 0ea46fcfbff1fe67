import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { controlledOrder, controlledValue } from './control.ts'
import { checkOptions, optionLines } from './options.ts'

describe('a control', () => {
  it('inverts a value, draws one in its place, or leaves it', () => {
    const rng = () => new Rng('key')
    expect(controlledValue('flipped', 0.25, rng())).toBe(0.75)
    expect(controlledValue('random', 0.25, rng())).toBe(rng().next())
    for (const other of ['shuffled', 'others', null, undefined] as const)
      expect(controlledValue(other, 0.25, rng())).toBe(0.25)
    for (const control of ['random', 'shuffled', 'others', 'flipped'] as const)
      for (const unknown of [null, 'none'] as const)
        expect(controlledValue(control, unknown, rng())).toBe(unknown)
  })

  it('gives a response the values of another one by an order of the group', () => {
    const orderOf = (control: Parameters<typeof controlledOrder>[0]) =>
      controlledOrder(control, 5, new Rng('key'))
    expect(orderOf('shuffled')).toEqual(new Rng('key').shuffle([0, 1, 2, 3, 4]))
    expect(orderOf('others').every((place, i) => place !== i)).toBe(true)
    expect([orderOf('random'), orderOf('flipped')]).toEqual([
      [0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4],
    ])
  })

  it('draws an order under every control, so that numbers after it are the same', () => {
    const [random, shuffled] = [new Rng('key'), new Rng('key')]
    controlledOrder('random', 4, random)
    controlledOrder('shuffled', 4, shuffled)
    expect(random.next()).toBe(shuffled.next())
  })

  it('is refused where nothing that is paid hangs on it, and with dropout where it draws scores', () => {
    const facts = { control: { of: 'scores', ignored: 'reward "response"' } } as const
    expect(() => checkOptions({ control: 'flipped' }, facts)).toThrow(
      'control: expected nothing with reward "response", got "flipped"',
    )
    expect(() => checkOptions({ control: null }, facts)).not.toThrow()
    const rubricDropout = { rate: 0.5, keepAtLeast: 1, protect: [], per: 'step', ask: 'all' }
    const drawn = { control: 'random', rubricDropout }
    expect(() => checkOptions(drawn, { control: { of: 'scores' } })).toThrow(
      'rubricDropout: expected nothing with control "random", which no criterion can change',
    )
    expect(() => checkOptions(drawn, { control: { of: 'verdicts' } })).not.toThrow()
  })

  it('is in the plan', () => {
    expect(optionLines({ control: 'others' })).toEqual(['control      others'])
    expect(optionLines({ control: null })).toEqual([])
  })
})
