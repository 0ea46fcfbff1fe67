/**
 * @file Criteria for attempts at questions of two steps over paragraphs, each executed on what a reader of the attempt sees; none of them
 * knows a right answer. Of each there is a lesson, for reflections.
 * `research-judge.js` judges by them; in `research-demonstrations.js` a teacher looks back by them.
 */

import {
  about,
  bare,
  foundText,
  has,
  isNew,
  leads,
  levelOf,
  namesFact,
  namesIn,
  plain,
  settled,
  shareOf,
  shown,
  when,
  years,
} from './research-reading.js'

const ofPair = ({ subjects }) => subjects !== null
const ofX = ({ subjects }) => subjects === null
const criterion = (stage, sign, weight, title, description, level, lesson, applies = () => true) => ({
  stage,
  sign,
  weight,
  title,
  description,
  level,
  lesson,
  applies,
})

/** Levels from 0 to 2: of a merit how much of it is there, of a flaw how much it shows. */
export const CRITERIA = [
  criterion(
    1,
    'positive',
    2,
    'every name',
    'Takes up every person, work or place that the question names',
    a => levelOf(shareOf(a.subjects ?? namesIn(a.question.replace(a.asked, '')), name => has(a.plan, name))),
    'Write down every name of the question before searching.',
  ),
  criterion(
    1,
    'positive',
    3,
    'deciding fact',
    'Says which fact decides the question, such as a birth year, a director or a place',
    a => when(namesFact(a.plan, a.fact)),
    'Say first which fact decides the question.',
  ),
  criterion(
    1,
    'positive',
    2,
    'both looked up',
    'Means to look up each of the two that are compared',
    a => levelOf(shareOf(a.subjects, name => has(/<research_plan>([\s\S]*)/.exec(a.plan)?.[1] ?? '', name))),
    'Plan one search for each of the two.',
    ofPair,
  ),
  criterion(
    1,
    'positive',
    2,
    'X before the fact',
    'Means to find out who or what X is before the fact about it',
    a => {
      const steps = /<research_plan>([\s\S]*)/.exec(a.plan)?.[1] ?? ''
      return when(/\bX\b/.test(steps) && namesFact(steps, a.fact), /\bX\b/.test(steps))
    },
    'Find out who X is before you look for the fact.',
    ofX,
  ),
  criterion(
    2,
    'positive',
    3,
    'new searches',
    'Searches more than once, and each time for something that was not asked before',
    a =>
      when(
        a.queries.length > 1 && a.queries.every((query, i) => isNew(query, a.queries.slice(0, i))),
        a.queries.length === 1,
      ),
    'Do not ask the same thing twice; search for what is still open.',
  ),
  criterion(
    2,
    'positive',
    3,
    'both searched',
    'Searches for each of the two that are compared by its name',
    a => levelOf(shareOf(a.subjects, name => a.queries.some(query => has(query, name)))),
    'Search each of the two by its full name.',
    ofPair,
  ),
  criterion(
    2,
    'positive',
    3,
    'follows a lead',
    'Searches for what an earlier result brought up, by its name',
    a => when(a.queries.slice(1).some(query => leads(a).some(name => has(query, name)))),
    'Search for the name that the first result gives.',
    ofX,
  ),
  criterion(
    2,
    'positive',
    2,
    'passages found',
    'Brings up a passage about each of the two',
    a => levelOf(shareOf(a.subjects, name => about(a, name).length > 0)),
    'If a passage is not about the subject, search again with other words.',
    ofPair,
  ),
  criterion(
    2,
    'negative',
    2,
    'unfounded notes',
    'Notes a year or a passage that no result shows',
    a =>
      when(
        !shown(a, years(a.notes)),
        (a.notes.match(/\bp\d+\b/g) ?? []).some(id => a.found.every(own => own.id !== id)),
      ),
    'Note only years that stand in a result.',
  ),
  criterion(
    3,
    'positive',
    3,
    'years of both',
    'Sets the years of both against each other, as results have them',
    a =>
      levelOf(
        shareOf(
          settled(a).known,
          ({ name, year }) => Boolean(year) && has(a.review, name) && has(a.review, year),
        ),
      ),
    'Put the years of both side by side before choosing.',
    ofPair,
  ),
  criterion(
    3,
    'positive',
    3,
    'who X is',
    'Says who or what X is, by a name that a result shows',
    a => when(leads(a).some(name => has(a.review, name))),
    'Say in the review who X turned out to be.',
    ofX,
  ),
  criterion(
    3,
    'positive',
    2,
    'where it stands',
    'Says of what was found in which passage it stands',
    a => {
      const ids = a.review.match(/\bp\d+\b/g) ?? []
      return when(
        ids.length > 1 && ids.every(id => a.found.some(own => own.id === id)),
        ids.some(id => a.found.some(own => own.id === id)),
      )
    },
    'Keep the passage beside each fact.',
  ),
  criterion(
    3,
    'negative',
    3,
    'unfounded claims',
    'Claims a year that no result shows',
    a => when(!shown(a, years(a.review))),
    'Check every year against the results.',
  ),
  criterion(
    4,
    'positive',
    2,
    'found value',
    'Gives what stands in a passage that was found',
    a => when(has(foundText(a), a.answer)),
    'Answer only with what a passage says.',
  ),
  criterion(
    4,
    'positive',
    2,
    'cited passage',
    'Cites a passage that was found and that has what is claimed',
    a =>
      when(
        a.found.some(({ id, all }) => a.cited.includes(id) && has(all, a.answer)),
        a.found.some(({ id }) => a.cited.includes(id)),
      ),
    'Cite the passage that has the answer.',
  ),
  criterion(
    4,
    'positive',
    1,
    'right kind',
    'Gives the kind of thing that is asked for, and nothing beside it',
    a =>
      a.isYear
        ? when(/^\d{4}$/.test(a.answer), years(a.answer).length > 0)
        : a.isChoice
          ? when(
              a.subjects.some(name => plain(name) === plain(a.answer)),
              a.subjects.some(name => has(a.answer, name)),
            )
          : when(/^\p{Lu}/u.test(a.answer) && years(a.answer).length === 0 && a.answer.split(' ').length < 7),
    'Give just the kind of thing that is asked for.',
  ),
  criterion(
    4,
    'positive',
    3,
    'follows from the years',
    'Is what the years of both in the results come to',
    a => {
      const { known, wanted } = settled(a)
      return wanted
        ? when(plain(wanted) === plain(a.answer))
        : when(
            false,
            known.some(({ name, year }) => year && plain(a.isChoice ? name : year) === plain(a.answer)),
          )
    },
    'Choose by comparing the two years, not by the first one found.',
    ofPair,
  ),
  criterion(
    4,
    'positive',
    3,
    'from the passage about X',
    'Is taken from a passage about what X turned out to be',
    a =>
      when(
        a.found.some(
          ({ title, text }) =>
            has(text, a.answer) && leads(a).includes(bare(title)) && has(a.review + a.notes, bare(title)),
        ),
      ),
    'Take the answer from the passage about X itself.',
    ofX,
  ),
]
