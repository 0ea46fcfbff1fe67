/** @file Which rollouts of a step a run keeps to be read. */

/**
 * The best, the worst, and one more, which changes from step to step; each once.
 * @param rewards_P_G null for rollouts that nothing is known of, which are neither best nor worst
 */
export const keptRollouts = (
  step: number,
  rewards_P_G: readonly (readonly (number | null)[])[],
): { p: number; g: number }[] => {
  const all = rewards_P_G.flatMap((own, p) => own.map((reward, g) => ({ p, g, reward })))
  const byReward = all.filter(({ reward }) => reward !== null).sort((a, b) => b.reward! - a.reward!)
  const kept = new Set([...byReward.slice(0, 1), ...byReward.slice(-1), all[step % all.length]])
  return [...kept].map(({ p, g }) => ({ p, g }))
}
