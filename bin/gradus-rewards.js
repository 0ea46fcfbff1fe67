#!/usr/bin/env node
// The command of the package that is the reward server alone.
import { requireNode } from './node-version.js'

requireNode('gradus-rewards', '@gradus/serve')
await import('../dist/cli/serve/main.js')
