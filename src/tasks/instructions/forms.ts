/** @file Forms of requests: what is asked for, with the fewest and the most words of an answer. */

export interface RequestForm {
  text: string
  words: number
  most: number
}

/** Of lines such as `20-80 Write a short note about {}.` */
const formsOf = (lines: string): RequestForm[] =>
  lines
    .trim()
    .split('\n')
    .map(line => {
      const [, words, most, text] = /^(\d+)-(\d+) (.+)$/.exec(line)!
      return { text, words: Number(words), most: Number(most) }
    })

/** About a topic; what is asked for is short. */
export const SHORT_FORMS: readonly RequestForm[] = formsOf(`
25-120 Write a short note about {}.
20-250 Tell me something about {}.
35-200 Write a short email to a friend about {}.
25-200 Describe {} to {reader}.
30-300 Can you give me some advice about {}?
40-200 Write a tiny story about {}.
20-100 Write a social media post about {}.
30-300 What should I know about {}?
25-200 Write a poem about {}.
30-250 Explain why people care about {}.
18-100 Write a few sentences about {}.
40-200 I need a text about {} for a brochure.
35-250 Write a dialogue between two friends about {}.
12-60 Write a tweet about {}.
12-100 Tell me a joke about {}.
12-100 Invent a riddle about {} and give its answer.
30-200 Write a song about {}.
25-150 Write a {tone} paragraph about {}.
20-120 Give me three facts about {}.
25-250 List some tips about {}.
12-80 Suggest a slogan for a campaign about {}.
30-250 My child asks about {}. What can I say?
25-200 what is interesting about {}?
25-250 How would you explain {} to {reader}?
40-300 Make a case for {}.
30-200 Write a letter to the newspaper about {}.
25-150 Write a voice message to {name} about {}.
30-200 Write a {tone} poem about {}.
20-120 Complete this sentence and go on a little: "The best thing about {} is ..."
30-250 Write a scene for the stage about {}.
30-200 Draft a newsletter item on {}.
20-150 Give a definition of {}, and an example.
25-150 What do people get wrong about {}?
30-250 Compose an entry for my diary about {}.
25-200 Share a memory of {} that you could have.
30-200 Write a radio advertisement about {}.
25-250 Ask me five questions about {}.
25-200 Sum up {} for {reader}.
20-100 Write a caption for a photo of {}.
40-250 Introduce a podcast about {}.
25-200 Is {} a good subject for a school talk? Say why.
30-200 Tell {name} what you think of {}.
40-250 Write a product description for something that has to do with {}.
30-250 Describe {} in a {tone} way.
25-150 Write a toast for {name} who loves {}.
30-250 What would a {job} say about {}?
`)

/** About a topic, at length. */
export const LONG_FORMS: readonly RequestForm[] = formsOf(`
120-700 Write an essay about {}.
120-700 Write a long story about {}.
120-700 Write a detailed article about {} for {reader}.
120-700 Explain {} in detail.
120-700 Write a blog post about {} with many examples.
110-400 Write about {} in roughly 200 words.
140-450 Write a text of some 250 words about {}.
170-500 I need about 300 words on {}.
120-700 Write a full page about {}.
120-700 Give me a thorough introduction to {}.
120-700 Write a long letter to {name} about {}.
120-700 Write a speech of several minutes about {}.
120-700 Tell me everything that {reader} should know about {}.
120-700 Write a guide to {}, step by step.
120-700 Write an interview with a {job} about {}.
120-700 What are the good and the bad sides of {}? Please go into detail.
120-700 Write a chapter of a novel about {}.
120-700 Compare two opinions on {} at length.
120-700 Write a report on {} with an introduction and a conclusion.
120-700 Prepare a lesson about {} for a school class.
120-700 Write a {tone} story about {}, and take your time.
120-700 Write a long dialogue between {name} and {other} about {}.
`)

/** About a text. */
export const PASSAGE_FORMS: readonly RequestForm[] = formsOf(`
8-80 Rewrite this so that it sounds {tone}: "{}"
8-80 Say the following in other words: {}
30-200 Make this longer and add details: "{}"
30-250 Turn this into a short story: {}
20-200 "{}" What could happen next?
15-150 "{}" Why might that be? Give a reason or two.
12-120 Write a headline and a first sentence for this news: {}
20-150 Answer this message: "{}"
15-150 Ask three questions about this text: "{}"
20-200 Explain to {reader} what this means: {}
15-120 What is the mood of this text, and what makes it so? {}
`)

/** Messages; all that stands in their gaps has to be said. */
export const MESSAGES: readonly RequestForm[] = formsOf(`
18-120 Write a message to {name}: the {event} is moved to {day} at {hour}.
20-150 Invite {name} to a {event} at {place} next {day}.
25-150 Write an advertisement for {colour} {thing} that costs {price} dollars.
30-200 My {thing} from {name}'s shop broke on {day}. Write a complaint for me.
25-200 {name} could not come to the {event}. Write an apology from {name} to {other}.
20-150 Thank {name} for the {thing} that I got on {day}.
20-150 Ask {name} by email whether the {event} at {place} takes place.
15-120 Write a notice: on {day} {place} is closed because of a {event}.
30-250 Write a short resume for {name}, who is a {job} and likes to help at a {event}.
25-200 Recommend {name}, a {job}, for a new position.
15-120 I lost {colour} {thing} near {place}. Write a poster.
20-150 Remind {name} and {other} that the {event} begins at {hour}.
20-150 {name} sells a {thing} for {price} dollars. Write a {tone} offer.
25-200 Write a dialogue in which {name} asks {other} for a {thing}.
20-150 Congratulate {name} on becoming a {job}.
`)
