/** @file Verdicts that outlast a run. */

export { type CacheKey, cacheKey, digestOf, type VerdictParts } from './cache-key.ts'
export { VerdictCache, type VerdictCacheOptions, type VerdictCacheStats } from './verdict-cache.ts'
