import { afterAll, describe, expect, it } from 'vitest'
import { ShapeError } from '../util/errors.ts'
import { assertWebGpu, Device } from './device.ts'
import { Executable } from './executable.ts'
import { add, mul } from './ops/elementwise.ts'
import { WITHOUT_DEVICE } from './provider.fixture.ts'
import { input } from './tensor.ts'

const vector = (...values: number[]) => ({ data: Float32Array.from(values), dims: [values.length] })

describe.skipIf(WITHOUT_DEVICE)('values on the device (GRADUS_TEST_PROVIDER=webgpu)', () => {
  const traffic = { upBytes: 0, downBytes: 0 }
  const device = new Device({ traffic })
  afterAll(() => device.release())

  it('are what was put there, also read with another shape', async () => {
    const value = await device.upload({ data: Float32Array.of(1, 2, 3, 4, 5, 6), dims: [2, 3] })
    expect(value.dims).toEqual([2, 3])
    expect([...(await device.download(value))]).toEqual([1, 2, 3, 4, 5, 6])
    expect(() => value.reshaped([4, 2])).toThrow(ShapeError)
    const into = new Float32Array(8)
    await device.download(value.reshaped([3, 2]), into.subarray(1, 7))
    expect([...into]).toEqual([0, 1, 2, 3, 4, 5, 6, 0])
    value.release()
    await expect(device.download(value)).rejects.toThrow(/disposed/)
    expect(traffic).toEqual({ upBytes: 24, downBytes: 48 })
  })

  it('go from run to run and from graph to graph without coming back', async () => {
    const [a, b] = [input('a', ['N']), input('b', ['N'])]
    const step = await Executable.compile(
      { next: add(a, b), total: mul(a, 2) },
      { provider: 'webgpu', keep: ['next'] },
    )
    const one = await device.upload(vector(1, 10))
    let value = one
    for (let i = 0; i < 3; i++) {
      const { kept, values } = await step.execute({ a: value, b: one })
      expect([...values.total.data]).toEqual([2 * (i + 1), 20 * (i + 1)])
      expect(values.next).toBeUndefined()
      if (value !== one) value.release()
      value = kept.next
    }
    expect([...(await device.download(value))]).toEqual([4, 40])
    await expect(step.run({ a: value, b: vector(1, 2, 3) })).rejects.toThrow(ShapeError)
    for (const each of [value, one]) each.release()
    await step.release()
  })
})

it('WebGPU starts, or says what it lacks', async () => {
  const outcome = assertWebGpu().then(
    () => 'it starts',
    (error: Error) => error.message,
  )
  expect(await outcome).toMatch(/^it starts$|^WebGPU does not start here: .*provider cpu$/s)
})
