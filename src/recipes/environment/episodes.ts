import type { GradeItem, Grader } from '../../grade/grader.ts'
import type { Item, Task } from '../../tasks/task.ts'

type Episode<Problem> = Item<Problem> & Required<Pick<Item<Problem>, 'rollout'>>

/** Has a grader read of each episode what a task makes of it. */
export const byEpisode =
  <Problem>(grader: Grader, read: (episode: Episode<Problem>) => GradeItem): Task<Problem>['grade'] =>
  items =>
    Promise.all(
      items.map(async item => ({
        verdicts: await grader.grade(read(item as Episode<Problem>), item.criteria),
        wellFormed: true,
      })),
    )
