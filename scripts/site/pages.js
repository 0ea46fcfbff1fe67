/** @file What the documentation site holds, in the order of its sidebar. Every page of docs/ is in one section (test/site.test.ts). */

const at = (folder, names) => names.map(name => `${folder}/${name}.md`)

export const HOME = 'README.md'

export const SECTIONS = [
  {
    title: 'Begin',
    pages: ['docs/howto/train-on-your-own.md', 'docs/howto/small-chat-model.md', 'docs/glossary.md'],
  },
  {
    title: 'Train',
    pages: at('docs/howto', [
      'data',
      'write-a-good-rubric',
      'audit-a-rubric',
      'sweeps-and-forks',
      'monitors',
      'dashboard',
      'trackers',
      'use-what-you-trained',
      'push-to-the-hub',
      'rubric-dropout',
      'memory',
      'teacher-trajectories',
      'research-agents',
      'search-and-tools',
      'environments',
      'train-under-a-scheduler',
      'training-services',
      'serve-tinker',
      'gpu',
      'chaos',
    ]),
  },
  {
    title: 'Grade and judge',
    pages: at('docs/howto', [
      'grade-a-file',
      'measure-a-model',
      'reward-server',
      'judge-quality',
      'judge-without-a-service',
      'judge-thinking',
      'judge-a-group',
      'author-a-thinking-rubric',
      'evolving-rubrics',
      'anchors',
      'inference-engines',
      'verify-math',
      'verify-instructions',
      'verify-stages',
    ]),
  },
  {
    title: 'Recipes',
    pages: at('docs/recipes', [
      'grpo',
      'rubric-as-reward',
      'ruscarl',
      'distill',
      'rlcer',
      'rit',
      'rubricem',
      'environment',
    ]),
  },
  {
    title: 'Other trainers',
    pages: at('docs/integrations', ['trl', 'verl', 'verifiers', 'skyrl', 'openrlhf', 'slime', 'nemo-gym']),
  },
  {
    title: 'Settings',
    pages: at('docs/settings', [
      'grpo',
      'rubric-as-reward',
      'ruscarl',
      'distill',
      'rlcer',
      'rit',
      'rubricem',
      'environment',
      'sft',
      'learned-verifier',
      ...['run', 'model', 'policy', 'optimizer', 'updates', 'judge', 'rubric'].map(name => `shared/${name}`),
      ...['scaffold', 'evaluation', 'monitors'].map(name => `shared/${name}`),
      ...['conversations', 'questions', 'logic', 'logic-rubrics', 'arithmetic'].map(name => `tasks/${name}`),
      ...['packing', 'requests', 'records', 'research', 'tools', 'openenv'].map(name => `tasks/${name}`),
      'tasks/several',
    ]),
  },
  {
    title: 'The code',
    pages: [
      ...at('docs', ['ARCHITECTURE', 'engine', 'run-folder']),
      ...at('docs/decisions', [
        'tasks-and-methods',
        'onnx-runtime',
        'two-engines',
        'optimizer',
        'scatter-nd',
      ]),
      ...at('docs/decisions', ['plain-files', 'random-streams', 'judge-answers', 'verdict-cache', 'z3']),
      ...at('docs/decisions', [
        'work-pool',
        'search-index',
        'gguf-reader',
        'server-front',
        'dependencies',
        'libraries',
      ]),
    ],
  },
  {
    title: 'The project',
    pages: [
      ...at('docs', ['papers', 'experiments', 'scaling']),
      'CONTRIBUTING.md',
      'SECURITY.md',
      'CHANGELOG.md',
    ],
  },
]
