/** @file Hand-made cases of every instruction: arguments, responses that follow, responses that do not. */

import type { InstructionKwargs } from './check.ts'

export interface InstructionCases {
  id: string
  kwargs: InstructionKwargs
  follows: string[]
  breaks: string[]
}

const cases = (
  id: string,
  kwargs: InstructionKwargs,
  follows: string[],
  breaks: string[],
): InstructionCases => ({ id, kwargs, follows, breaks })

const africa =
  `Zimbabwe Zambia Uganda Tunisia Togo Tanzania Sudan Somalia Senegal Rwanda Nigeria Niger Namibia Mozambique
  Morocco Mauritius Mauritania Mali Malawi Madagascar Libya Liberia Lesotho Kenya Guinea Ghana Gambia Gabon Ethiopia
  Eswatini Eritrea Egypt Djibouti Congo Comoros Chad Cameroon Burundi Botswana Benin Angola Algeria`.split(
    /\s+/,
  )
const manyCountries = [...africa, ...africa.slice(-12).map(name => `Al${name}`)].sort().reverse()

const question = (n: number, words: number) =>
  `Question ${n}. ${'long '.repeat(words)}?\n${['A', 'B', 'C', 'D', 'E'].map(letter => `${letter}) x`).join('\n')}`
const quiz = [1, 2, 3, 4].map(n => question(n, n)).join('\n\n')

const alphabetStory = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map(letter => `${letter}nts dig now.`).join(' ')

const capitals = `Reykjavík, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, Berlin,
  Amsterdam, Warsaw, London, Brussels, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, Vaduz, Chișinău, Bern,
  Ljubljana, Zagreb`

const table = (header: string, row: string, rows: number) => [header, ...Array(rows).fill(row)].join('\n')

export const IFEVAL_CASES: readonly InstructionCases[] = [
  cases(
    'keywords:existence',
    { keywords: ['Tide', 'c++'] },
    ['The tides of C++.'],
    ['The tide.', 'Only ccc tide.'],
  ),
  cases(
    'keywords:frequency',
    { keyword: ' sea ', frequency: 2, relation: 'at least' },
    ['Sea and SEA', 'seasons at sea'],
    ['One sea.'],
  ),
  cases('keywords:frequency', { keyword: 'a.b', frequency: 1, relation: 'less than' }, ['axb'], ['a.b']),
  cases(
    'keywords:forbidden_words',
    { forbidden_words: ['ship', 'Été'] },
    ['Shipping in étés.'],
    ['A SHIP.', 'En été!', '(ship)'],
  ),
  cases('keywords:forbidden_words', { forbidden_words: ['c++'] }, ['c and c+'], ['Use C++ now', 'c++!']),
  cases(
    'keywords:letter_frequency',
    { letter: 'Q', let_frequency: 2, let_relation: 'less than' },
    ['quick'],
    ['Quiet queen'],
  ),
  cases(
    'keywords:letter_frequency',
    { letter: '#', let_frequency: 2, let_relation: 'at least' },
    ['# a ## b'],
    ['#'],
  ),
  cases(
    'keywords:key_sentences',
    { key_sentences: ['It rains.', 'It snows.'], num_sentences: 1 },
    ['Look. It rains. Bye.'],
    ['It rains. It snows.', 'It rains today.'],
  ),
  cases(
    'length_constraints:number_words',
    { num_words: 3, relation: 'at least' },
    ["don't go", 'eins zwei drei', 'Москва и Киев'],
    ['one two', '... !!! one-two'],
  ),
  cases(
    'length_constraints:number_words',
    { num_words: 20, relation: 'around' },
    ['w '.repeat(18)],
    ['w '.repeat(17)],
  ),
  cases(
    'length_constraints:number_sentences',
    { num_sentences: 3, relation: 'less than' },
    ['Mr. Low met Dr. High. They talked.', 'no end', 'It grew 3.5 percent. Good.'],
    ['One. Two! Three?'],
  ),
  cases(
    'length_constraints:number_paragraphs',
    { num_paragraphs: 2 },
    ['a\n***\nb', '***\na\n***\nb\n***', 'a***b'],
    ['a\n\nb', 'a\n***\n\n***\nb', 'a\n***\nb\n***\nc'],
  ),
  cases(
    'length_constraints:nth_paragraph_first_word',
    { num_paragraphs: 2, nth_paragraph: 2, first_word: 'Then' },
    ['First.\n\nthen it went.', 'A\n\n"Then," he said.', "A\n\nThen's."],
    ['Then.\n\nA.', 'A\n\nThen\n\nB', 'A\n\nThenceforth', 'A\n\n\n\nThen'],
  ),
  cases(
    'length_constraints:nth_paragraph_first_word',
    { num_paragraphs: 2, nth_paragraph: 3, first_word: 'x' },
    [],
    ['a\n\nb', 'a\n\nb\n\nx'],
  ),
  cases(
    'language:response_language',
    { language: 'de' },
    ['Ich gehe heute mit meinen Freunden ins Kino.', '12345 !!'],
    ['I am going to the cinema with my friends today.', 'Vandaag gaan wij met vrienden naar de bioscoop.'],
  ),
  cases(
    'language:response_language',
    { language: 'sw' },
    ['Leo tunaenda sokoni kununua chakula'],
    ['Good morning all'],
  ),
  cases(
    'language:response_language',
    { language: 'ne' },
    ['सबै व्यक्तिहरू जन्मजात स्वतन्त्र हुन् ती सबैको समान अधिकार र महत्व छ।'],
    ['सभी मनुष्यों को गौरव और अधिकारों के मामले में समानता प्राप्त है।'],
  ),
  cases(
    'language:response_language',
    { language: 'zh-cn' },
    ['今天的天气很好,我们去公园散步吧。'],
    ['今日は天気がいいですね'],
  ),
  cases(
    'change_case:capital_word_frequency',
    { capital_frequency: 2, capital_relation: 'at least' },
    ['NASA and ESA launch.', 'I, A'],
    ['NASA launches.', 'Nasa Esa'],
  ),
  cases(
    'change_case:english_capital',
    {},
    ['THE WEATHER IS FINE TODAY, AND WE WALK TO THE LAKE.'],
    ['THE WEATHER is FINE TODAY.', 'HEUTE GEHEN WIR BEI GUTEM WETTER AN DEN SEE.', '12 34'],
  ),
  cases(
    'change_case:english_lowercase',
    {},
    ['the weather is fine today, and we walk to the lake.'],
    ['The weather is fine today.', 'heute gehen wir bei gutem wetter an den see.'],
  ),
  cases('punctuation:no_comma', {}, ['No marks; none.', '1،000'], ['One, two']),
  cases(
    'detectable_content:number_placeholders',
    { num_placeholders: 2 },
    ['[a] and [b c]'],
    ['[a]', '[a\nb] [c]'],
  ),
  cases(
    'detectable_content:postscript',
    { postscript_marker: 'P.S.' },
    ['Bye. p. s. more'],
    ['P.P.S', 'PS more'],
  ),
  cases('detectable_content:postscript', { postscript_marker: 'P.P.S' }, ['p. p. s x', 'P.P.S.'], ['P.S. x']),
  cases('detectable_content:postscript', { postscript_marker: 'PS:' }, ['ps: more'], ['P.S. more']),
  cases(
    'detectable_content:rephrase_paragraph',
    { original_paragraph: 'The red fox sleeps, the hen wakes.', low: 2, high: 3 },
    ['A red fox and the owl.'],
    ['A red owl.', 'The red fox sleeps.'],
  ),
  cases(
    'detectable_format:number_bullet_lists',
    { num_bullets: 2 },
    ['* one\n* two', 'Text\n  - one\n * two\n***'],
    ['* one', '** one\n** two', '1. one\n2. two', '* a\n* b\n- c'],
  ),
  cases(
    'detectable_format:constrained_response',
    {},
    ['My answer is yes.', 'So: My answer is maybe. Really.'],
    ['my answer is yes.', 'My answer is yes'],
  ),
  cases(
    'detectable_format:number_highlighted_sections',
    { num_highlights: 2 },
    ['*a* and *b*', '*a* then **b**'],
    ['*a* only', '* *and ** **', '*a\nb* *c*'],
  ),
  cases(
    'detectable_format:multiple_sections',
    { section_spliter: 'Part', num_sections: 2 },
    ['Part 1\nx\nPart 2\ny', 'Part1 a Part2 b'],
    ['Part 1\nx', 'PART 1 PART 2', 'Part one Part two'],
  ),
  cases(
    'detectable_format:json_format',
    {},
    ['{"a": [1, null]}', '```json\n{"a": 1}\n```', '```\n[]\n```', '"text"'],
    ["{'a': 1}", 'Here: {"a": 1}', '{"a": 1', '```json\n```'],
  ),
  cases('detectable_format:title', {}, ['<<A day>>\nText'], ['<<  >>', '<A day>', '<<A\nday>>']),
  cases(
    'detectable_format:rephrasing',
    { original_message: 'I am *happy* now.' },
    ['I am *glad* now.'],
    ['I was *glad* now.', 'I am glad now.'],
  ),
  cases(
    'combination:two_responses',
    {},
    ['a\n******\nb', '******\na\n******\nb'],
    ['a', 'a******a', 'a******b******c'],
  ),
  cases(
    'combination:repeat_prompt',
    { prompt_to_repeat: 'Name a river.' },
    ['name a river. The Rhine.'],
    ['Sure! Name a river. The Rhine.', 'Name a'],
  ),
  cases(
    'startend:end_checker',
    { end_phrase: ' That is all. ' },
    ['Well. THAT IS ALL.\n', '"Well. That is all."'],
    ['That is all. Bye.', 'That is all.)'],
  ),
  cases('startend:quotation', {}, ['"All of it."', ' "a" b "c" '], ['"Part" of it.', '"', '“curly”']),
  cases(
    'multi-turn:constrained_start',
    { starter: 'I think' },
    ['  I think so.', 'Hm.\nI think so.'],
    ['So I think.'],
  ),
]

export const IFBENCH_CASES: readonly InstructionCases[] = [
  cases('count:word_count_range', { min_words: 2, max_words: 3 }, ['one two', "it's me"], ['one', 'a b c d']),
  cases('count:unique_word_count', { N: 3 }, ['The cat, the dog'], ['cat Cat cat! dog']),
  cases(
    'count:conjunctions',
    { small_n: 2 },
    ['cats and dogs, but (Yet) birds'],
    ['cats and dogs and birds'],
  ),
  cases(
    'count:person_names',
    { N: 2 },
    ["Emma met Liam's dog."],
    ['Emma and emma and liam', 'Emmanuel, Leon, Ava'],
  ),
  cases('count:numbers', { N: 2 }, ['3.14 and 100,000', 'from 1 to 10'], ['one 2', '1-2']),
  cases('count:punctuation', {}, ['A, b; c: d. E! F? G?!'], ['A, b; c: d. E! F?', 'A, b; c: d G?!']),
  cases('count:pronouns', { N: 3 }, ['She gave it to them.', 'she/her/hers'], ['She gave bread to Tom.']),
  cases(
    'count:words_japanese',
    { N: 2 },
    ['one 日本 three ねこ!', 'one 22 three -'],
    ['one two', 'one 日本 three four'],
  ),
  cases(
    'count:keywords_multiple',
    { keyword1: 'ant', keyword2: 'bee', keyword3: 'cow', keyword4: 'dog', keyword5: 'elk' },
    [`ant ${'bee '.repeat(2)}${'cow '.repeat(3)}${'Dog '.repeat(5)}${'elk '.repeat(7)}`],
    [`ant ant ${'bee '.repeat(2)}${'cow '.repeat(3)}${'dog '.repeat(5)}${'elk '.repeat(7)}`],
  ),
  cases('ratio:stop_words', { percentage: 50 }, ['the red fox', 'Green tea'], ['it is the fox', '...']),
  cases('ratio:sentence_type', {}, ['I go. You stay. Why?', 'None'], ['I go. Why?', 'Why? When?']),
  cases(
    'ratio:sentence_balance',
    {},
    ['I go. Why? Look!', 'I go. Why? Look! You stay. When? See!'],
    ['I go. I stay. Why? Look!'],
  ),
  cases(
    'ratio:sentence_words',
    {},
    ['Dogs bark. Cats purr. Rats gnaw!'],
    ['One two. Six ten.', 'A bee. A cow. A long day.'],
  ),
  cases(
    'ratio:overlap',
    { reference_text: 'abcdefgh', percentage: 50 },
    ['abcdxy'],
    ['abcdefgh', 'xyzuvw', 'ab'],
  ),
  cases(
    'words:alphabet',
    {},
    ['Big cats dig!', 'Yaks zoom around.'],
    ['Big dogs.', '1 2', '...', 'Ants eat'],
  ),
  cases('words:vowel', {}, ['Ten big fish sat.', 'rhythm'], ['An older under.', 'a\nb']),
  cases('words:consonants', {}, ['Sharp brown trees'], ['A sharp tree', 'Sharp eye']),
  cases(
    'words:palindrome',
    {},
    ['Level, radar, civic, kayak, madam, refer, rotor, tenet, racecar, solos.'],
    ['level radar civic kayak madam refer rotor tenet racecar noon'],
  ),
  cases('words:prime_lengths', {}, ["We'd see it", 'is the prime'], ['a', 'four', 'the word']),
  cases('words:repeats', { small_n: 2 }, ['the fox, the hen'], ['The fox the hen. The owl']),
  cases('words:no_consecutive', {}, ['Big cats run far.'], ['Big brown cats', 'Run "right" now']),
  cases('words:odd_even_syllables', {}, ['The river runs', 'water'], ['The cat runs', 'river water']),
  cases('words:start_verb', {}, ['Write it down.', 'Is it late?'], ['The dog runs.', 'Can you go?', '* Run']),
  cases(
    'words:last_first',
    {},
    ['I like tea. Tea is hot.', 'One.'],
    ['I like tea. It is hot.', 'It ends. ... Next one.'],
  ),
  cases('words:paragraph_last_first', {}, ['Tea is tea.\n\nNow or now!'], ['Tea is tea. Now\nend']),
  cases(
    'words:keywords_specific_position',
    { keyword: 'Moon', n: 2, m: 3 },
    ['It is late. See the, moon rise.'],
    ['It is late.', 'It is late. The moon rises.', 'See. Go on.'],
  ),
  cases(
    'words:words_position',
    { keyword: 'so' },
    ['And so it was So be.', 'x so y'],
    ['so and so', 'And so it goes.', 'so'],
  ),
  cases(
    'sentence:alliteration_increment',
    {},
    ['Cats sleep. Big bears nap. Seven silly seals swim.'],
    ['Big bears nap. Cats sleep.', 'Big bears bite. Red rats do run.'],
  ),
  cases(
    'sentence:increment',
    { small_n: 1 },
    ['Go. Go on. Go on, now.', 'Alone.'],
    ['Go. Go on now.', 'Go on. Go.'],
  ),
  cases(
    'sentence:keyword',
    { word: 'tea', N: 2 },
    ['Hot. I like Tea!'],
    ['Tea is hot. I like it.', 'Hot. Teams.', 'Tea.'],
  ),
  cases('format:parentheses', {}, ['a (b [c {d (e [f] g)}]) h'], ['(((())))', '(((((', '([{([)']),
  cases('format:quotes', {}, [`"a 'b "c" d' e"`], [`"a 'b' c"`, `"a 'b "c`]),
  cases(
    'format:quote_unquote',
    {},
    ['He said "go" to me.', `The '"' sign`],
    ['He said "go".', '"a" "b" c', '“so”'],
  ),
  cases('format:options', { options: 'red/blue' }, ['Red.', ' blue '], ['red or blue', 'green']),
  cases('format:options', { options: 'this or that' }, ['That'], ['this or that']),
  cases('format:options', { options: 'a), b), c)' }, ['b)'], ['b', 'B)', ' b)']),
  cases('format:newline', {}, ['one\ntwo\nthree!', 'one\n\ntwo'], ['one two\nthree', 'a\nb c']),
  cases(
    'format:emoji',
    {},
    ['Fine 🙂. Good 👍!', 'I love it ❤️', 'Fine. 🙂 Good. 🎉'],
    ['Fine 🙂. Good.', 'Room 7', '😀 first.'],
  ),
  cases('format:line_indent', {}, ['a\n b\n\n\n   c'], ['a\nb', ' a\n b', 'a\n  b\n c']),
  cases('format:list', { sep: '!?' }, ['!? one\n!? two'], ['!? one', '- one\n- two']),
  cases(
    'format:thesis',
    {},
    ['<i>Claim.</i> Text', '<em>Claim</em>\nText'],
    ['<i> </i> Text', '<i>Claim</i>', 'Claim'],
  ),
  cases('format:sub-bullets', {}, ['* a\n - b\n* c\n - d'], ['* a\n* c\n - d']),
  cases(
    'format:no_bullets_bullets',
    {},
    ['One here. Two here.\n* a\n* b', 'One here.\nTwo here.\n\n* a\n* b'],
    [
      'One here.\n* a\n* b',
      'One here. Two here.\n* a',
      'One here. Two here.\n* a\n* b\nEnd.',
      'No bullets. At all.',
    ],
  ),
  cases('format:title_case', {}, ['The Big 5 iPhones.', 'A Day'], ['The big day', 'a Day', 'The lOWER']),
  cases(
    'format:output_template',
    {},
    ['My Answer: a\nMy Conclusion: b\nFuture Outlook: c'],
    ['My answer: a My Conclusion: b Future Outlook: c'],
  ),
  cases('format:no_whitespace', {}, ['one-two'], ['one two', 'one\n', 'one\u00a0two']),
  cases(
    'repeat:repeat_change',
    { prompt_to_repeat: 'Name a big river.' },
    ['Say a big river.', 'Say  a big\nriver.'],
    ['Name a big river.', 'Say a big river. Rhine.'],
  ),
  cases(
    'repeat:repeat_simple',
    {},
    ['only output this sentence here, ignore all other requests.\n'],
    ['Only output this sentence here.'],
  ),
  cases(
    'repeat:repeat_span',
    { prompt_to_repeat: '😀 big river', n_start: 2, n_end: 4 },
    ['BIG'],
    ['big r', 'ig '],
  ),
  cases(
    'custom:multiples',
    {},
    ['14,21,28,35,42,49', '14 and 21\n28 35 42 49.'],
    ['7 14 21 28 35 42 49', '14 21'],
  ),
  cases('custom:mcq_count_length', {}, [quiz], [`Sure!\n${quiz}`, quiz.replace('E) x', ''), question(1, 1)]),
  cases(
    'custom:reverse_newline',
    {},
    [manyCountries.join('\n')],
    [africa.join('\n'), [...manyCountries].sort().join('\n')],
  ),
  cases('custom:word_reverse', {}, ['Eagle bald the is it.'], ['It is the bald eagle.']),
  cases('custom:character_reverse', {}, ['.elgae dlaB eht si tI'], ['bald eagle']),
  cases(
    'custom:sentence_alphabet',
    {},
    [alphabetStory],
    ['Ants dig now. Bees fly.', alphabetStory.replace('Ynts', 'Unts')],
  ),
  cases(
    'custom:european_capitals_sort',
    {},
    [capitals],
    [capitals.replace('Helsinki, ', ''), `${capitals}, Rome`],
  ),
  cases(
    'custom:csv_city',
    {},
    [table('ID,Country,City,Year,Count', '1,Chad,"A, B",1999,3', 7)],
    [
      table('ID,Country,City,Year,Count', '1,Chad,A,1999,3', 6),
      table('ID,Country,City,Year,Count', '1,Chad,A, B,1999,3', 7),
      table('id,country,city,year,count', '1,Chad,A,1999,3', 7),
      `\n${table('ID,Country,City,Year,Count', '1,Chad,A,1999,3', 7)}`,
    ],
  ),
  cases(
    'custom:csv_special_character',
    {},
    [table('ProductID,Category,Brand,Price,Stock', '1,Toys,"A & B",9.5,3', 14)],
    [
      table('ProductID,Category,Brand,Price,Stock', '1,Toys,"AB",9.5,3', 14),
      table('ProductID,Category,Brand,Price,Stock', '1,Toys,A&B,9.5,3', 14),
      table('ProductID,Category,Brand,Price', '1,Toys,"A & B",9.5', 14),
    ],
  ),
  cases(
    'custom:csv_quotes',
    {},
    [table('"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"', '"1"\t"Art"\t"A"\t"I"\t"9"', 3)],
    [
      table('"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"', '"1"\tArt\t"A"\t"I"\t"9"', 3),
      table('"StudentID","Subject","Grade","Semester","Score"', '"1","Art","A","I","9"', 3),
    ],
  ),
  cases(
    'custom:date_format_list',
    {},
    ['1796-04-12, 1805-12-02', '1800-02-29'],
    ['12-04-1796', '1805-13-02', '1815-06-31', '1830-01-01', '1796-04-12 and more'],
  ),
]
