/** @file Which provider the checks of operations and of the engine compute with. */

import type { Provider } from './providers.ts'

const named = process.env.GRADUS_TEST_PROVIDER ?? 'cpu'
if (named !== 'cpu' && named !== 'webgpu')
  throw new Error(`GRADUS_TEST_PROVIDER: expected cpu or webgpu, got ${named}`)

/** `GRADUS_TEST_PROVIDER=webgpu` has them all run on a GPU, or on a software driver of Vulkan. */
export const TEST_PROVIDER: Provider = named

/** For checks that are about a device; the name of their `describe` says how they are had. */
export const WITHOUT_DEVICE = TEST_PROVIDER !== 'webgpu'
