/** @file What computes a graph. */

/** The processor, or a GPU by WebGPU (on Linux by Vulkan, which a driver has to offer). */
export const PROVIDERS = ['cpu', 'webgpu'] as const
export type Provider = (typeof PROVIDERS)[number]
