/** @file Ways to ask for each kind of instruction, in this project's own words: what to do, what should be so, and how. */

/**
 * Of each kind, in lines that begin with a mark: `!` what to do, `=` what should be so, `+` how; `|` between ways, `\n` a new line.
 * `wording.ts` makes sentences of them, and fits those of `+` into requests.
 */
const TEXT = String.raw`
punctuation:no_comma
! use no commas | do not put a comma anywhere | leave every comma out | do without commas | write around the comma, which is off limits | keep commas out of it | never type a comma
= commas are forbidden | there must be no comma in it | I do not want to see any comma | not one comma may turn up | what you write has to get by without commas
+ without a single comma | with no commas in it | comma-free | using no commas whatsoever

change_case:english_lowercase
! use small letters only | write all of it in lower case | do not capitalise anything, not even names | keep every letter small | stick to English in lowercase | never press the shift key: no capitals
= capitals are not welcome, not even at the start of a sentence | every letter has to be a small one | the text must be in lowercase English | all letters should be lower case | there should be no uppercase letter in it
+ in lower case | all in lowercase, in English | in small letters only | without any capital letters | with every word in lowercase, even names

change_case:english_capital
! write in capitals from beginning to end | use uppercase letters only | put every word in capital letters | turn caps lock on and leave it on | keep small letters out of it | capitalise each and every letter, in English
= every letter has to be a capital | it must be all caps | the text should be in uppercase English | lowercase letters are not allowed | all of it belongs in capital letters
+ in all caps | in capital letters throughout | IN CAPITALS LIKE THESE | entirely in uppercase, in English | without a single small letter

change_case:capital_word_frequency
! write {limit} words in capitals | capitalise every letter of {limit} words | use {limit} words in all caps, like THIS one | let {limit} words be written in uppercase | have {limit} words in full capitals
= {limit} words should be in capital letters | the number of words in all caps has to be {limit} | words in CAPITALS: {limit} | it should contain {limit} fully uppercase words
+ with {limit} words in all caps | with {limit} words written in CAPITALS | containing {limit} uppercase words

startend:quotation
! put quotation marks (") around the text | open with " and close with " | set everything in double quotes | enclose all that you write in "..." | quote yourself: one " at the start, one " at the end | surround the complete text by double quotation marks
= the first and the last character have to be " | all of it belongs between double quotation marks | double quotes must surround the text | nothing should stand outside the two double quotes
+ inside double quotation marks | in double quotes from start to end | between an opening " and a closing " | with double quotes around all of it

detectable_format:title
! put a heading on it, <<like this>> | start with a title in double angle brackets | give the text a name between << and >> | think of a title and write it as <<Title>> | head it with <<a short title>> | add a title; mark it by << before and >> after
= a title in << >> is needed | the title goes into double angle brackets: <<Title Here>> | it should carry a title such as <<A Quiet Day>> | I expect a heading set in << and >>
+ with a title in << >> | under a heading in double angle brackets, like <<Heading>> | with <<a fitting title>> on top | headed by a title between << and >>

keywords:existence
! use {words} | mention {words} | work in {words} | bring {words} in somewhere | let {words} occur | do not forget to say {words} | find a place for {words}
= I want to read {words} in it | {words} must occur | it has to contain {words} | required words: {words} | the following should come up: {words} | {words} should be part of it
+ using {words} | with {words} in it | mentioning {words} | with {words} somewhere in it

keywords:frequency
! use {word} {limit} times | write {word} {limit} times | say {word} {limit} times in all | mention {word} {limit} times | let {word} come up {limit} times | bring in {word} {limit} times
= {word} should be found {limit} times | I want {word} in there {limit} times | the number of times that {word} is used must be {limit} | {word} has to turn up {limit} times | count of {word}: {limit}
+ using {word} {limit} times | with {word} in it {limit} times | with {word} occurring {limit} times

keywords:forbidden_words
! do not say {words} | never use {words} | leave out {words} | stay away from these words: {words} | find other words for {words} | get by without {words} | do not write {words} at any point
= {words} must not occur | forbidden words: {words} | I do not want to read {words} | the following are taboo: {words} | it may not contain {words} | no use should be made of {words}
+ without using {words} | without the words {words} | without ever saying {words} | never mentioning {words} | with none of these in it: {words}

keywords:letter_frequency
! use the letter {letter} {limit} times | write {limit} {letter}'s | let the letter {letter} occur {limit} times | choose words so that there are {limit} {letter}'s among their letters | have {limit} of the letter {letter}
= the letter {letter} should be there {limit} times | I want to count {limit} {letter}'s | {letter} as a letter: {limit} times | among all letters there have to be {limit} {letter}'s | the letter {letter} must be seen {limit} times
+ with {limit} {letter}'s in it | with the letter {letter} found {limit} times | using the letter {letter} {limit} times

detectable_format:number_bullet_lists
! make it a list of {n} bullet points, each with "* " in front | write {n} bullets, no more and no fewer; a bullet begins with an asterisk | list {n} items like this:\n* one item\n* another item
! use {n} bullet points and mark each by an asterisk | give me {n} points, one a line, each line starting with "* " | split it into {n} bullet points (* at the start of the line)
= I need {n} bullet points, each begun with * | it should be {n} bullets, not one more, such as:\n* an idea | the form is a markdown list of {n} points with asterisks | {n} lines should begin with "* ", one for each point
+ in {n} bullet points that start with * | as {n} markdown bullets (* ...) | as a list of {n} items, an asterisk before each

detectable_format:number_highlighted_sections
! put {limit} phrases between asterisks, *like these words* | mark {limit} passages with asterisks: *passage* | stress {limit} parts by *asterisks* | emphasise {limit} passages in markdown (*so*) | set {limit} phrases in markdown italics, for example *a few words* | pick {limit} phrases and write each *between asterisks*
= {limit} passages have to be highlighted, *in this way* | there should be {limit} phrases in *asterisks* | I would like {limit} parts *marked* with asterisks | important phrases, {limit} of them, belong in *asterisks*
+ with {limit} phrases *in asterisks* | with {limit} *highlighted* passages | highlighting {limit} parts with markdown, *as here*

detectable_format:multiple_sections
! write it in {n} parts, with {splitter} 1, {splitter} 2 and so on above them | split it into {n} pieces, headed {splitter} 1 to {splitter} {n} | number its {n} parts: {splitter} 1, {splitter} 2, ...
! structure it like this, with {n} parts in total:\n{splitter} 1\n(text)\n{splitter} 2\n(text) | head each of {n} parts by the word {splitter} and a number, from {splitter} 1 on
= there should be {n} parts; each has {splitter} and its number as a heading | it has to be made of {n} parts, called {splitter} 1 and so on | the headings must be {splitter} 1 to {splitter} {n}
+ in {n} parts, marked {splitter} 1 to {splitter} {n} | divided into {n} parts (headings: {splitter} 1, {splitter} 2, ...) | with {n} parts under the headings {splitter} 1, {splitter} 2 and so on

detectable_content:number_placeholders
! leave {limit} blanks in square brackets, such as [date] | put in {limit} gaps that I can fill, written like [name] | use {limit} stand-ins in brackets, [city] for instance | keep {limit} details open, in square brackets: [detail] | write {limit} details as [something in brackets] that I replace later
= {limit} placeholders such as [phone number] are needed | it should have {limit} bracketed gaps, like [your name] | what I fill in later goes in square brackets, {limit} of them | I want {limit} slots in it: [slot]
+ with {limit} blanks like [name] | with {limit} gaps in square brackets, such as [time] | as a form with {limit} fields in square brackets, like [field]

detectable_content:postscript
! add a postscript that starts with {marker} | put {marker} and an afterthought below it | close with a line that begins with {marker} | finish with {marker} and one more thought | write {marker} at the bottom and something after it | let an afterthought follow, after {marker}
= it needs a {marker} at the end | below the text there should be a {marker} | a postscript ({marker}) has to come last | the end should be an afterthought, marked {marker}
+ with a {marker} at the end | followed by a postscript marked {marker} | with an afterthought under it that begins with {marker}

length_constraints:number_sentences
! use {limit} sentences | write {limit} sentences | say it in {limit} sentences | keep it to {limit} sentences | form {limit} sentences | make it {limit} sentences long
= it should have {limit} sentences | the length should be {limit} sentences | I want {limit} sentences | number of sentences: {limit} | {limit} sentences is what I need | the text has to consist of {limit} sentences
+ in {limit} sentences | with {limit} sentences | using {limit} sentences

length_constraints:number_words
! use {limit} words | write {limit} words | say it in {limit} words | make it {limit} words long | take {limit} words for it | keep the word count at {limit} words
= it should be {limit} words long | the length has to be {limit} words | I need {limit} words | word count: {limit} | {limit} words are expected | a length of {limit} words is required
+ in {limit} words | with {limit} words | using {limit} words | in {limit} words altogether

length_constraints:number_paragraphs
! write {n} paragraphs and put *** between one and the next | split it into {n} paragraphs by lines of *** | make {n} paragraphs, with three asterisks (***) between neighbours | part its {n} paragraphs by *** | use *** to divide it into {n} paragraphs
= it should have {n} paragraphs with *** in between | I want {n} paragraphs, each parted from the next by *** | between its {n} paragraphs there must be *** | the number of paragraphs is {n}; a line of *** parts them
+ in {n} paragraphs with *** between them | as {n} paragraphs, parted by *** | with {n} paragraphs that are divided by ***

length_constraints:nth_paragraph_first_word
! write {n} paragraphs with a blank line after each, and begin paragraph {nth} with the word {word} | make {n} paragraphs (empty line in between); number {nth} starts with {word}
! use {n} paragraphs with an empty line between two of them, and let {word} open paragraph number {nth} | break it into {n} paragraphs by blank lines; paragraph {nth} has to open with {word}
= there should be {n} paragraphs, a blank line between them, and {word} is how paragraph {nth} begins | paragraph {nth} of {n} must start with {word}, and only blank lines come between paragraphs
= I need {n} paragraphs parted by empty lines; {word} goes first in paragraph {nth} | the first word of paragraph {nth} is to be {word}, out of {n} paragraphs with blank lines between
+ in {n} paragraphs (blank lines between), of which number {nth} starts with {word} | with {n} paragraphs, parted by blank lines, and {word} at the start of paragraph {nth}

detectable_format:json_format
! answer in JSON and nothing else | write JSON that a program can read | return one JSON object | put everything into a JSON object | produce valid JSON only | use JSON for all of it, with keys of your choice
= it has to be valid JSON | only JSON is accepted | a parser for JSON must be able to read all of it | I can use JSON only | the output format is JSON | there should be JSON and no text around it
+ as JSON | in the form of a JSON object | as valid JSON with nothing around it

startend:end_checker
! close with these words: {phrase} | stop right after saying {phrase} | let {phrase} be the end | write {phrase} as the last thing | put {phrase} at the very end and stop there | conclude with {phrase}
= the last words have to be {phrase} | it should end like this: {phrase} | nothing comes after {phrase}, which is how it ends | the closing line must read {phrase} | the end is always the same: {phrase}
+ ending with {phrase} | with {phrase} as its last words | closing with {phrase}

combination:two_responses
! write two versions and put ****** between them | give me a choice of two, with ****** in the middle | do it twice, in different ways, with six asterisks (******) in between | offer two alternatives, parted by ****** | write it once, then ******, then write it in another way
= I need two versions that are not the same; ****** goes between them | there should be a first version, a line of six asterisks (******), and a second one | two alternatives are wanted, with nothing but ****** between the two | ****** should part the two versions that you write
+ in two versions with ****** between them | twice, in different words, with ****** in the middle | as two alternatives parted by six asterisks, ******

combination:repeat_prompt
! copy what is asked {where} into the first line, then answer | begin with my words {where}, unchanged, and go on with the answer | write out the task {where} once more before you do it, with nothing in front of it | restate the request {where} letter by letter and answer below it
! quote my request {where} back to me in full, without quotation marks, and then carry it out | start by typing what I ask {where} again exactly as I typed it; your answer comes next
= the first thing you write is the text {where}, unchanged; only then comes the answer | an exact copy of the request {where} has to come first, and your answer after it | what I ask {where} should stand at the top, in my words, and the answer under it | I want to see the words {where} again, all of them, before the answer begins
`

export interface Phrasings {
  /** What to do: `use no commas`. */
  doing: readonly string[]
  /** What should be so: `commas are forbidden`. */
  being: readonly string[]
  /** How: `without a single comma`. */
  how: readonly string[]
}

const ways = (lines: readonly string[], mark: string): string[] =>
  lines
    .filter(line => line.startsWith(mark))
    .flatMap(line => line.slice(2).split(' | '))
    .map(way => way.replaceAll('\\n', '\n'))

/** By public id. */
export const PHRASINGS: ReadonlyMap<string, Phrasings> = new Map(
  TEXT.trim()
    .split('\n\n')
    .map(block => {
      const [id, ...lines] = block.split('\n')
      return [id, { doing: ways(lines, '!'), being: ways(lines, '='), how: ways(lines, '+') }]
    }),
)
