import { defineConfig } from 'vitest/config'

/**
 * Tests that leave nothing behind in their process: a worker loads what they import once, which saves a third of their time. Not
 * among them: those that replace modules (row-files), and whole commands and servers.
 */
const SHARED =
  'src/{bench,chat,grade,model,plan,policy,recipes,rl,runs,search,tasks,tensor,train,util}/**/!(row-files).test.ts'

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two workers: each engine test starts its own solver or runtime threads.
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'shared', include: [SHARED], isolate: false } },
      { extends: true, test: { name: 'apart', include: ['{src,test}/**/*.test.ts'], exclude: [SHARED] } },
    ],
  },
})
