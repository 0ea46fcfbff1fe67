import type { RunPlan } from '../common/recipe.ts'
import { planRuscarl } from '../ruscarl/plan.ts'
import { asRuscarl, type DistillConfig } from './config.ts'
export const planDistill = (config: DistillConfig): RunPlan => planRuscarl(asRuscarl(config))
