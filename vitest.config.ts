import { defineConfig } from 'vitest/config'

/**
 * Tests beside the code leave nothing behind in their process: a worker loads what they import once, which saves a quarter of all
 * processor time. Not among them: what replaces modules, and what counts a fake clock's ticks.
 */
const SHARED = 'src/**/*.test.ts'
const APART = ['src/runs/row-files.test.ts', 'src/tools/openenv/client.test.ts', 'test/**/*.test.ts']

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On two cores a third one works while others wait; engine tests start solver and runtime threads of their own.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'shared', include: [SHARED], exclude: APART, isolate: false } },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
})
